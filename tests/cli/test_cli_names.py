"""The commands match items by name wherever both files have names, and list names that do not match."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from support.commands import one_sentence

NAMES = [f"gene {letter}" for letter in "abcdefghijklmnopqrst"]


def succeeds(*arguments):
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def found(*arguments):
    return json.loads(succeeds(*arguments, "--json"))


def rand_index(truth, labels):
    return found("compare", truth, labels)["against_truth"][str(labels)]["ari"]


def fails(*arguments):
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == 2, answer.output
    return one_sentence(answer.stderr)


@pytest.fixture
def results(tmp_path):
    """Draws of named items, what `estimate` writes about them, and the same labels with their rows shuffled."""
    pd.DataFrame(pt.datasets.make_draws(20, 80, n_clusters=4, rng=5), columns=NAMES).to_csv(
        tmp_path / "draws.csv", index=False
    )
    succeeds("estimate", tmp_path / "draws.csv", "--seed", 1, "--out", tmp_path / "run")
    labels = pd.read_csv(tmp_path / "run" / "labels.csv")
    labels.sample(frac=1, random_state=2).to_csv(tmp_path / "shuffled.csv", index=False)
    return tmp_path


def test_compare_matches_rows_by_name(results):
    labels, shuffled = results / "run" / "labels.csv", results / "shuffled.csv"
    facts = found("compare", labels, shuffled, "--draws", results / "draws.csv")
    assert facts["against_truth"][str(shuffled)]["ari"] == 1
    assert facts["expected_losses"][str(shuffled)] == pytest.approx(facts["expected_losses"][str(labels)])


def test_ball_matches_labels_by_name(results):
    plain = found("ball", results / "draws.csv", "--labels", results / "run" / "labels.csv")
    assert found("ball", results / "draws.csv", "--labels", results / "shuffled.csv") == plain


def test_truth_and_data_are_matched_by_name(results):
    truth = pd.DataFrame({"node": NAMES, "label": np.arange(20) % 3})
    data = pd.DataFrame({"item": NAMES, "x": np.arange(20.0), "y": np.arange(20.0) ** 2})
    pages = []
    for name, order in (("plain", np.arange(20)), ("mixed", np.random.default_rng(3).permutation(20))):
        truth.iloc[order].to_csv(results / "truth.csv", index=False)
        data.iloc[order].to_csv(results / "data.csv", index=False)
        files = ("--truth", results / "truth.csv", "--data", results / "data.csv")
        out = results / f"{name}.html"
        pages.append(
            found("report", results / "draws.csv", "--seed", 1, *files, "--out", out)
            | {"report": "", "labels_file": ""}
        )
        figures = re.search(r'"points": ?(\{.*?\}\])', out.read_text(encoding="utf-8"))
        pages[-1]["points"] = figures and figures[1]
        whole = found("estimate", results / "draws.csv", "--seed", 1, *files, "--out", results / name)
        assert whole["agreement"] == pages[-1]["agreement"]
    assert pages[0] == pages[1]
    best = pt.estimate(pt.read_draws(results / "draws.csv"), rng=1)
    assert pages[0]["agreement"]["adjusted_rand"] == pt.adjusted_rand(np.arange(20) % 3, best.labels)


def test_the_figure_of_similarity_is_ordered_by_name(results):
    for name in ("run/labels.csv", "shuffled.csv"):
        out = results / f"{name.partition('/')[0]}.png"
        succeeds("similarity", results / "draws.csv", "--labels", results / name, "--figure", out)
    assert (results / "run.png").read_bytes() == (results / "shuffled.csv.png").read_bytes()


def test_names_that_do_not_match_are_listed(results):
    labels = pd.read_csv(results / "run" / "labels.csv")
    labels.replace({"item": {"gene c": "gene C"}}).to_csv(results / "other.csv", index=False)
    sentence = fails("compare", results / "run" / "labels.csv", results / "other.csv")
    assert re.search(r"not in \S*other\.csv: 'gene c'; not in \S*labels\.csv: 'gene C'$", sentence)
    assert "not in the sample of draws: 'gene C'" in fails(
        "ball", results / "draws.csv", "--labels", results / "other.csv"
    )
    assert "not in the sample of draws: 'gene C'" in fails(
        "estimate", results / "draws.csv", "--truth", results / "other.csv"
    )
    labels[:10].to_csv(results / "other.csv", index=False)
    sentence = fails("ball", results / "draws.csv", "--labels", results / "other.csv")
    assert ": 'gene k', 'gene l', 'gene m', 'gene n', 'gene o', ... (10 in all)" in sentence
    pd.concat([labels, labels[:1]]).to_csv(results / "other.csv", index=False)
    assert "has duplicate item names" in fails("ball", results / "draws.csv", "--labels", results / "other.csv")


def test_labels_of_draws_without_names_are_matched_by_number(draws, draws_file, tmp_path):
    """`estimate` numbers items that have no names from 0; a file that was sorted since keeps these numbers."""
    succeeds("estimate", draws_file, "--seed", 1, "--out", tmp_path / "run")
    labels = pd.read_csv(tmp_path / "run" / "labels.csv")
    labels.sort_values("cluster").to_csv(tmp_path / "sorted.csv", index=False)
    plain = found("ball", draws_file, "--labels", tmp_path / "run" / "labels.csv")
    assert found("ball", draws_file, "--labels", tmp_path / "sorted.csv") == plain
    assert rand_index(tmp_path / "sorted.csv", tmp_path / "run" / "labels.csv") == 1
    (tmp_path / "plain.csv").write_text("cluster\n" + "".join(f"{k}\n" for k in labels["cluster"]))
    assert rand_index(tmp_path / "plain.csv", tmp_path / "sorted.csv") == 1


def test_row_numbers_in_another_order_are_not_guessed(draws_file, tmp_path):
    """What pandas writes before a sorted table may be the numbers of the items, or of rows that were sorted."""
    labels = pd.DataFrame({"cluster": np.arange(30) % 3})
    labels.to_csv(tmp_path / "plain.csv")
    labels.sort_values("cluster").to_csv(tmp_path / "sorted.csv")
    found("ball", draws_file, "--labels", tmp_path / "plain.csv")
    sentence = fails("ball", draws_file, "--labels", tmp_path / "sorted.csv")
    assert re.search(
        r"sorted\.csv and the sample of draws number their items in different orders \(\d+, \d+, ", sentence
    )
    assert "remove the first column of" in sentence
    assert rand_index(tmp_path / "sorted.csv", tmp_path / "sorted.csv") == 1


def test_a_name_that_is_no_name(draws_file, tmp_path):
    """A column called name or id in which something comes twice names something else, and positions decide."""
    rows = pd.DataFrame({"name": ["a", "b", "b"] * 10, "id": [7] * 30, "cluster": np.arange(30) % 3})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "plain.csv").write_text("cluster\n" + "0\n1\n2\n" * 10)
    assert rand_index(tmp_path / "plain.csv", tmp_path / "rows.csv") == 1


def test_names_of_a_data_file_go_into_the_run(tmp_path):
    data = pd.DataFrame({"item": list("abcd"), "x": [0.0, 0.1, 5.0, 5.1]})
    data.to_csv(tmp_path / "data.csv", index=False)
    short = ("--draws", 4, "--warmup", 2, "--chains", 1, "--seed", 1)
    facts = found("sample", "dpm", tmp_path / "data.csv", "--out", tmp_path / "run", *short)
    assert facts["n_items"] == 4
    chain = pt.resume(tmp_path / "run")
    assert chain.names == tuple("abcd")
    assert chain.inputs["X"].shape == (4, 1)  # the names are no variable
    data.assign(item="a").to_csv(tmp_path / "data.csv", index=False)
    assert "has duplicate item names" in fails(
        "sample", "dpm", tmp_path / "data.csv", "--out", tmp_path / "other", *short
    )


@pytest.fixture
def base(tmp_path):
    rows = pd.DataFrame({"item": NAMES, "m1": [0] * 10 + [1] * 10, "m2": [0] * 9 + [1] * 11, "m3": [0] * 10 + [1] * 10})
    rows.to_csv(tmp_path / "base.csv", index=False)
    return rows


def test_names_of_an_ensemble_are_no_clustering(base, tmp_path):
    quick = ("--method", "consensus", "--seed", 1)
    facts = found("ensemble", tmp_path / "base.csv", *quick)
    assert facts["labels"] == [0] * 10 + [1] * 10
    assert facts["names"] == NAMES
    truth = pd.DataFrame({"node": NAMES, "label": facts["labels"]}).sample(frac=1, random_state=1)
    truth.to_csv(tmp_path / "truth.csv", index=False)
    out = tmp_path / "run"
    compared = found("ensemble", tmp_path / "base.csv", *quick, "--truth", tmp_path / "truth.csv", "--out", out)
    assert compared["agreement"]["adjusted_rand"] == 1
    assert (out / "labels.csv").read_text().startswith("item,cluster,certainty\ngene a,1,")
    assert rand_index(tmp_path / "truth.csv", out / "labels.csv") == 1
    base.set_index("item").rename_axis(None).to_csv(tmp_path / "base.csv")
    assert found("ensemble", tmp_path / "base.csv", *quick)["names"] == NAMES


def test_words_in_the_first_column_of_an_ensemble_name_the_items(base, tmp_path):
    renamed = base.rename(columns={"item": "patient"})
    renamed.to_csv(tmp_path / "base.csv", index=False)
    facts = found("ensemble", tmp_path / "base.csv", "--seed", 1)
    assert (facts["names"], facts["clusterings"]) == (NAMES, ["m1", "m2", "m3"])
    renamed[["m1", "m2", "patient", "m3"]].to_csv(tmp_path / "base.csv", index=False)
    sentence = fails("ensemble", tmp_path / "base.csv", "--method", "consensus")
    advice = "use --items patient if it names the items, or remove it"
    assert f"patient has a different word for each item (gene a, gene b, ...); {advice}" in sentence
    again = found("ensemble", tmp_path / "base.csv", "--seed", 1, "--items", "patient")
    assert (again["names"], again["labels"]) == (NAMES, facts["labels"])
    assert "has no column 'cell'" in fails("ensemble", tmp_path / "base.csv", "--items", "cell")
