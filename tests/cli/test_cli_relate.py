"""`partita relate`: the numbers of Python from a folder of results, items by name, and what is refused."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from support import forks
from support.commands import one_sentence

NAMES = [f"p{i}" for i in range(60)]
CLASSES = np.repeat([0, 1], 30)


def called(code, *words):
    answer = CliRunner().invoke(app, [str(word) for word in words])
    assert answer.exit_code == code, answer.output
    return answer


def succeeds(*words):
    return called(0, *words).stdout


def fails(*words):
    return one_sentence(called(2, *words).stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of draws, and a table of outside variables in another order."""
    place = tmp_path_factory.mktemp("relate")
    rng = np.random.default_rng(1)
    draws = np.where(rng.random((80, 60)) < 0.1, 1 - CLASSES, CLASSES)
    np.savetxt(place / "draws.csv", draws, "%d", ",", header=",".join(NAMES), comments="")
    rows = {
        "income": 20 + 5 * CLASSES + rng.normal(size=60),
        "time": rng.exponential(1 + CLASSES),
        "event": np.arange(60) % 3 > 0,
        "region": rng.choice(["north", "south"], 60),
    }
    with (place / "outside.csv").open("w") as stream:
        stream.write(",".join(["item", *rows]) + "\n")
        for i in rng.permutation(60):
            cells = [str(int(v[i]) if v.dtype == bool else v[i]) for v in rows.values()]
            stream.write(",".join([NAMES[i], *cells]) + "\n")
    succeeds("estimate", place / "draws.csv", "--out", place / "run", "--seed", 1)
    return place, pt.estimate(pt.read_draws(place / "draws.csv"), rng=1), rows


def test_the_command_has_the_numbers_of_python(folder):
    place, best, rows = folder
    found = json.loads(succeeds("relate", place / "run", place / "outside.csv", "--outcome", "income", "--json"))
    expected = pt.relate(best, rows["income"])
    corrected = [row["estimate"] for row in found["coefficients"] if row["method"] == "corrected"]
    np.testing.assert_allclose(corrected, expected.corrected.estimate, rtol=1e-5)
    assert [row["term"] for row in found["coefficients"]][::3] == ["cluster 1", "cluster 2 - cluster 1"]
    assert found["n_items"] == 60
    text = succeeds("relate", place / "run", place / "outside.csv", "--outcome", "income", "--zero-based")
    assert "cluster 0 " in text
    assert "cluster 2" not in text
    assert "The clusters and income are related" in text


def test_survival_covariates_and_the_table_of_coefficients(folder):
    place, best, rows = folder
    out = place / "coefficients.csv"
    words = ("--outcome", "time", "--event", "event", "--family", "cox", "--covariates", "region", "--out", out)
    succeeds("relate", place / "run", place / "outside.csv", *words)
    with out.open() as stream:
        written = list(csv.DictReader(stream))
    outcome = np.column_stack([rows["time"], rows["event"]])
    expected = pt.relate(best, outcome, {"region": rows["region"]}, "cox")
    shown = [float(row["estimate"]) for row in written if row["method"] == "corrected"]
    np.testing.assert_allclose(shown, expected.corrected.estimate, rtol=1e-4)
    assert written[-1]["term"] == "region south"
    assert "exists already" in fails("relate", place / "run", place / "outside.csv", *words)
    clusters = succeeds("relate", place / "run", place / "outside.csv", "--covariates", "region")
    assert "The covariates and the clusters show no clear relation" in clusters


def test_what_is_refused(folder, tmp_path):
    place = folder[0]
    income = ("relate", place / "run", place / "outside.csv", "--outcome", "income")
    for words, said in (
        (("--force",), "--force is for the file that --out writes"),
        (("--covariates", "time,time"), "--covariates must be distinct names"),
        (("--covariates", "income"), "covariates: 'income' is the outcome"),
        (("--family", "normal"), "--family must be one of gaussian, binomial"),
    ):
        assert said in fails(*income, *words)
    assert "has no column 'wage'" in fails("relate", place / "run", place / "outside.csv", "--outcome", "wage")
    assert "--outcome, --covariates or both" in fails("relate", place / "run", place / "outside.csv")
    (tmp_path / "text.csv").write_text("item,mood\n" + "".join(f"{item},good\n" for item in NAMES))
    assert "has text ('good')" in fails("relate", place / "run", tmp_path / "text.csv", "--outcome", "mood")
    assert "go together" in fails(
        "relate", place / "run", place / "outside.csv", "--outcome", "time", "--event", "event"
    )
    assert "has no labels.csv" in fails("relate", place, place / "outside.csv", "--outcome", "income")
    assert "is not a folder" in fails("relate", place / "none", place / "outside.csv", "--outcome", "income")
    (tmp_path / "labels.csv").write_text("item,cluster\na,1\nb,2\n")
    assert "has no probabilities of clusters" in fails("relate", tmp_path, place / "outside.csv", "--outcome", "income")


def test_a_full_disk_leaves_nothing(folder, tmp_path):
    """Not half of the coefficients: the limit on the size of a file stands for the disk."""
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))\n" + forks.COMMAND
    words = (
        "relate",
        folder[0] / "run",
        folder[0] / "outside.csv",
        "--outcome",
        "income",
        "--out",
        tmp_path / "out.csv",
    )
    done = forks.run(limited, *words)
    assert done.returncode == 2
    assert "out.csv: File too large; nothing was written" in one_sentence(done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_a_column_of_the_model_is_refused_and_an_expected_number_of_clusters_is_its_prior(folder, tmp_path):
    place, _, rows = folder
    (tmp_path / "table.csv").write_text("income\n" + "\n".join(map(str, rows["income"])) + "\n")
    quick = ("--draws", 40, "--warmup", 20, "--seed", 1, "--runs", 1)
    printed = succeeds("cluster", tmp_path / "table.csv", "--out", tmp_path / "run", "--expect", "2-6", *quick)
    expected = pt.prior_clusters(60, (2, 6))
    assert f"Prior: {expected.in_words()} 2 to 6 clusters have probability {expected.between(2, 6):.0%}." in printed
    exactly = succeeds("cluster", tmp_path / "table.csv", "--out", tmp_path / "three", "--expect", "3", *quick)
    assert " 3 clusters have probability " in exactly
    plain = pt.models.MixtureDPM(alpha=expected.prior).sample({"income": rows["income"]}, draws=40, warmup=20, rng=1)
    assert np.array_equal(np.load(tmp_path / "run" / "draws.npy"), plain.labels)
    refused = fails("relate", tmp_path / "run", place / "outside.csv", "--outcome", "income")
    assert "'income' was a column of the model" in refused
    for words, told in ((("--expect", "3-x"), "as in 3-8, but it is 3-x"), (("--expect", "0-3"), "within 1 and 60"),
                        (("--expect", "3", "--alpha", "1"), "is set by --expect")):  # fmt: skip
        assert told in fails("cluster", tmp_path / "table.csv", "--out", tmp_path / "no", *words)
    sampled = ("--out", tmp_path / "dpm", "--expect", "2-6", "--draws", 10, "--warmup", 5, "--seed", 1)
    succeeds("sample", "dpm", tmp_path / "table.csv", *sampled)
    assert pt.resume(tmp_path / "dpm", 12).model.alpha == expected.prior
