"""`partita stability`, and `--noise` of the commands that read labels."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from typer.testing import CliRunner

from partita.cli import app

X, TRUTH = make_blobs(60, centers=3, cluster_std=0.6, random_state=3)
RUNS = np.array([[0] * 5 + [1] * 5 + [-1]] * 19 + [[0] * 5 + [1] * 5 + [0]])


def run(*words: str, code: int = 0) -> str:
    found = CliRunner().invoke(app, list(words))
    assert found.exit_code == code, found.output
    return found.output


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    return path


def written(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_tables_and_report(table, tmp_path):
    text = run(
        "stability",
        str(table),
        "--clusterer",
        "kmeans",
        "-k",
        "3",
        "--runs",
        "8",
        "--seed",
        "1",
        "--out",
        str(tmp_path / "s"),
    )
    assert "Of the 3 clusters, 3 are stable" in text
    assert "Stability is not truth" in text
    assert [row["verdict"] for row in written(tmp_path / "s" / "clusters.csv")] == ["stable"] * 3
    assert len(written(tmp_path / "s" / "runs.csv")) == 8
    items = written(tmp_path / "s" / "labels.csv")
    assert set(items[0]) == {"item", "cluster", "certainty", "noise"}
    assert "Stability of clusters" in (tmp_path / "s" / "report.html").read_text(encoding="utf-8")
    facts = json.loads((tmp_path / "s" / "summary.json").read_text())
    assert facts["n_runs"] == 8
    assert facts["null"] is None


def test_noise_and_null(table):
    facts = json.loads(
        run(
            "stability",
            str(table),
            "--clusterer",
            "hdbscan",
            "-k",
            "8",
            "--runs",
            "6",
            "--seed",
            "1",
            "--json",
            "--null",
            "gaussian",
        )
    )
    assert facts["kind"] == "stability"
    assert facts["n_noise"] == facts["labels"].count(-1)
    assert len(facts["null"]["values"]) == 20


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--clusterer", "kmean"], "did you mean 'kmeans'"),
        (["--clusterer", "kmeans"], "needs the number of clusters"),
        (["--clusterer", "kmeans", "-k", "3", "--resample", "much"], "--resample must be a share"),
        (["--clusterer", "kmeans", "-k", "3", "--resample", "2"], "--resample must be above 0 and at most 1"),
        (["--clusterer", "kmeans", "-k", "0"], "-k must be at least 1, but it is 0"),
        (["--clusterer", "kmeans", "-k", "3", "--null", "uniform"], "--null must be one of"),
        (["--clusterer", "kmeans", "--vary", "k"], "--vary must be a setting and its values, such as k=3,4,5"),
        (["--clusterer", "gmm", "-k", "3", "--vary", "size=1,2"], "Invalid parameter 'size'"),
    ],
)
def test_bad_input(table, words, problem):
    assert problem in " ".join(run("stability", str(table), *words, code=2).split())


def test_numbers_too_large_for_distances_are_refused(tmp_path):
    (tmp_path / "huge.csv").write_text("x,y\n1e308,1\n-1e308,2\n1e300,3\n0,4\n")
    told = run("stability", str(tmp_path / "huge.csv"), "--clusterer", "kmeans", "-k", "2", code=2)
    assert "x has numbers too large for a variance" in " ".join(told.split())


def test_without_scikit_learn_the_extra_is_named(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    told = run("stability", str(table), "--clusterer", "kmeans", "-k", "3", code=2)
    assert "--clusterer needs scikit-learn: pip install 'partita[ensembles]'" in " ".join(told.split())


def test_minus_one_must_be_missing_or_noise(tmp_path):
    base, draws = tmp_path / "base.csv", tmp_path / "draws.csv"
    np.savetxt(base, RUNS.T, fmt="%d", delimiter=",", header=",".join(f"r{r}" for r in range(20)), comments="")
    np.savetxt(draws, RUNS, fmt="%d", delimiter=",", header=",".join(f"i{i}" for i in range(11)), comments="")
    np.save(tmp_path / "base.npy", RUNS.T)
    for command in (["ensemble", str(base)], ["ensemble", str(tmp_path / "base.npy")], ["estimate", str(draws)]):
        asked = " ".join(run(*command, code=2).split())
        assert "--missing -1 if" in asked
        assert "--noise -1 if" in asked
        equal = ["--weights", "equal"] if command[0] == "ensemble" else []
        for option, label in (("--noise", -1), ("--missing", 0)):
            facts = json.loads(run(*command, option, "-1", *equal, "--json", "--seed", "1"))
            assert facts["labels"][-1] == label
            assert facts["n_clusters"] == 2


@pytest.mark.parametrize(("clusterer", "vary"), [("kmeans", "k=2,3"), ("gmm", "k=3,4"), ("leiden", "resolution=0.2,1")])
def test_settings_are_varied(table, tmp_path, clusterer, vary):
    if clusterer == "leiden":
        pytest.importorskip("leidenalg")
    out = tmp_path / "s"
    words = ["--clusterer", clusterer, "--vary", vary, "--runs", "6", "--seed", "1", "--out", str(out)]
    assert "Where clusters split" in run("stability", str(table), *words)
    assert [row["value"] for row in written(out / "settings.csv")] == vary.split("=")[1].split(",")
    assert {row["next_value"] for row in written(out / "splits.csv")} == {vary.split(",")[1]}


def test_a_table_is_looked_at_before_it_is_clustered(table, tmp_path):
    """Draws, numbers for missing cells, columns of other units: a clusterer takes them all as they are."""
    draws = tmp_path / "draws.csv"
    np.savetxt(draws, np.tile([0, 0, 1, 1, 2], (20, 1)), fmt="%d", delimiter=",", header="a1,a2,a3,a4,a5", comments="")
    words = ("--clusterer", "kmeans", "-k", "2", "--runs", "5", "--seed", "1")
    assert "looks like draws of labels" in run("stability", str(draws), *words, code=2)
    marked = tmp_path / "marked.csv"
    X_marked = np.column_stack([X, 1000 * X[:, 1]])
    X_marked[:3, 0] = -999
    np.savetxt(marked, X_marked, delimiter=",", header="a,b,c", comments="")
    text = " ".join(run("stability", str(marked), *words).split())
    assert "-999 is in 3 cells of a" in text
    assert "c varies 1,000 times as much as b" in text
    assert "varies" not in run("stability", str(marked), *words, "--scale")
    assert "Note: -999" not in run("stability", str(table), *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [(["-k", "50"], "-k is 50, but each run has 48 items"), (["-k", "2", "--runs", "1"], "it needs two runs at least")],
)
def test_what_says_nothing_about_stability(table, words, message):
    assert message in run("stability", str(table), "--clusterer", "kmeans", *words, code=2)


def test_runs_with_one_cluster_have_nothing_to_agree_about(table):
    told = " ".join(run("stability", str(table), "--clusterer", "kmeans", "-k", "1", "--runs", "5").split())
    assert "5 runs with 1 cluster have nothing to agree about" in told
    assert "agree by" not in told


@pytest.mark.parametrize("command", ["ensemble", "estimate"])
def test_tables_tell_noise_from_items_without_a_label(command, tmp_path):
    """Two of three runs call the fifth item noise; none labels the sixth."""
    runs = np.array(
        [["0", "0", "1", "1", "-1", "NA"], ["0", "0", "1", "1", "-1", "NA"], ["0", "0", "1", "1", "1", "NA"]]
    )
    lines = runs.T if command == "ensemble" else runs
    names = ["r1", "r2", "r3"] if command == "ensemble" else list("abcdef")
    (tmp_path / "runs.csv").write_text("\n".join(map(",".join, [names, *lines])) + "\n")
    run(command, str(tmp_path / "runs.csv"), "--noise", "-1", "--missing", "NA", "--out", str(tmp_path / "out"))
    rows = written(tmp_path / "out" / "labels.csv")
    assert [row["cluster"] for row in rows[4:]] == ["-1", "-1"]
    assert [row["noise"] for row in rows[:4]] == ["0.0"] * 4
    assert 0.5 <= float(rows[4]["noise"]) < 1  # equal base clusterings share their weight
    assert rows[5]["noise"] == rows[5]["certainty"] == ""


def test_a_warning_of_every_run_is_printed_once(tmp_path):
    table = tmp_path / "same.csv"
    table.write_text("a,b\n" + "1,2\n" * 6)
    text = run("stability", str(table), "--clusterer", "kmeans", "-k", "2", "--runs", "3")
    assert text.count("Number of distinct clusters (1) found smaller") == 1
