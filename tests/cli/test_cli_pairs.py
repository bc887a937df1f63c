"""`partita estimate --pairs` and `--similarity`: what is printed and written, and what is refused."""

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from support.commands import one_sentence

TEXT = "left,right,p\nann,bob,0.9\nann,<cy>,0.8\nbob,<cy>,0.1\ndan,eve,0.7\n"


def invoke(*arguments):
    return CliRunner().invoke(app, ["estimate", *map(str, arguments)])


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(TEXT)
    return path


def test_pairs_give_labels_components_and_a_page(pairs, tmp_path):
    out = tmp_path / "results"
    answer = invoke("--pairs", pairs, "--out", out, "--seed", 1)
    assert answer.exit_code == 0, answer.output
    assert "of all partitions, " in answer.stdout
    assert {path.name for path in out.iterdir()} == {
        "labels.csv",
        "clusters.csv",
        "pairs.csv",
        "summary.json",
        "report.html",
    }
    with (out / "labels.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["item"], row["cluster"], row["component"]) for row in rows] == [
        ("ann", "1", "1"),
        ("bob", "1", "1"),
        ("<cy>", "2", "1"),
        ("dan", "3", "2"),
        ("eve", "3", "2"),
    ]
    assert (out / "pairs.csv").read_text().splitlines()[1] == "ann,<cy>,apart,0.8,0.8,yes"
    page = (out / "report.html").read_text()
    assert "&lt;cy&gt;" in page
    assert "<cy>" not in page


def test_pairs_that_are_not_listed_are_marked(tmp_path):
    path, out = tmp_path / "pairs.csv", tmp_path / "out"
    path.write_text("left,right,probability\na,b,0.95\nb,c,0.95\na,d,0.95\nb,d,0.95\nc,d,0.95\n")
    answer = invoke("--pairs", path, "--out", out)
    assert re.search(r"a\s+c\s+together\s+0.000\s+1.000\s+no", answer.stdout)
    assert "A pair that is not listed has probability 0 only because" in answer.stdout
    assert (out / "pairs.csv").read_text().splitlines()[1:3] == [
        "a,c,together,0.0,1.0,no",
        "a,b,together,0.95,0.05,yes",
    ]
    table = pt.estimate(pt.as_similarity(path), "binder", rng=1).to_pandas("pairs")
    assert table.iloc[0].to_dict() == {
        "left": "a", "right": "c", "estimate": "together", "probability": 0.0, "doubt": 1.0, "listed": "no"
    }  # fmt: skip
    assert table.listed.tolist() == ["no"] + ["yes"] * 5
    with pytest.raises(ValueError, match=r"table must be one of clusters, items, pairs, .*, but it is 'runs'"):
        pt.estimate(pt.as_similarity(path), "binder").to_pandas("runs")
    page = (out / "report.html").read_text()
    assert ">no<" in page
    assert "A pair that is not listed has probability 0 only because" in page


def test_columns_of_other_names_are_chosen_as_the_error_says(tmp_path):
    path = tmp_path / "scored.csv"
    path.write_text("a,b,score,who\nx,y,0.9,me\ny,z,0.2,me\n")
    answer = invoke("--pairs", path)
    assert answer.exit_code == 2
    assert "name yours with --columns left,right,probability" in one_sentence(answer.stderr)
    found = json.loads(invoke("--pairs", path, "--columns", "a,b,score", "--json").stdout)
    assert (found["names"], found["n_pairs"]) == (["x", "y", "z"], 2)
    assert "has no column 'p'" in one_sentence(invoke("--pairs", path, "--columns", "a,b,p").stderr)
    assert "three different names" in one_sentence(invoke("--pairs", path, "--columns", "a,b").stderr)
    np.save(tmp_path / "psm.npy", np.eye(2))
    refused = invoke("--similarity", tmp_path / "psm.npy", "--columns", "a,b,score")
    assert "--columns names the columns of --pairs" in one_sentence(refused.stderr)


def test_a_truth_gives_precision_recall_and_f1_of_pairs(tmp_path):
    path, truth = tmp_path / "pairs.csv", tmp_path / "truth.csv"
    path.write_text("left,right,probability\na,b,0.9\na,c,0.9\nb,c,0.9\nd,e,0.1\n")
    truth.write_text("item,cluster\na,1\nb,1\nc,2\nd,3\ne,3\n")
    out = tmp_path / "out"
    answer = invoke("--pairs", path, "--truth", truth, "--out", out)
    assert "pairwise precision 0.333, pairwise recall 0.500, pairwise F1 0.400" in " ".join(answer.stdout.split("\n"))
    assert "NMI (divided by the larger entropy)" in answer.stdout
    facts = json.loads((out / "summary.json").read_text())["agreement"]
    assert facts["pairwise_f1"] == pytest.approx(0.4)
    assert "f1" not in facts
    page = (out / "report.html").read_text()
    assert "pairwise recall" in page
    assert "F1 of the matched clusters (Wang et al. 2010)" in page


def test_json_matrices_and_sources(pairs, tmp_path):
    found = json.loads(invoke("--pairs", pairs, "--json", "--seed", 1).stdout)
    assert (found["loss"], found["proven"]) == ("binder", True)
    assert found["components"] == {"count": 2, "largest": 3, "proven": 2}
    np.save(tmp_path / "psm.npy", np.array([[1, 0.9], [0.9, 1]]))
    matrix = json.loads(invoke("--similarity", tmp_path / "psm.npy", "--json", "--loss", "vi-lower-bound").stdout)
    assert matrix["labels"] == [0, 0]
    sources = tmp_path / "records.csv"
    sources.write_text("item,source\neve,x\ndan,x\nann,x\nbob,y\n<cy>,z\n")
    parted = json.loads(invoke("--pairs", pairs, "--one-per", f"{sources}:source", "--json").stdout)
    labels = dict(zip(parted["names"], parted["labels"], strict=True))
    assert labels["dan"] != labels["eve"]


def test_what_would_be_ignored_is_refused(pairs):
    for arguments, message in (
        ((), "there are no draws"),
        (("--pairs", pairs, "--burn", 3), "--burn is for draws, not for pair probabilities"),
        (("--pairs", pairs, "--loss", "vi"), "needs draws"),
        (("--pairs", pairs, pairs), "two ways to give the data"),
        (("--pairs", pairs, "--similarity", pairs), "give one of them"),
        ((pairs, "--default", 0.1), "--default is for pair probabilities"),
        (("--pairs", pairs, "--loss", "pear", "--a", 2), "--a is for the losses binder and vi-lower-bound"),
    ):
        answer = invoke(*arguments)
        assert answer.exit_code == 2, answer.output
        assert message in one_sentence(answer.stderr)


def test_files_of_items_together_and_apart(pairs, tmp_path):
    same, twins = tmp_path / "same.csv", tmp_path / "twins.csv"
    same.write_text("left,right\nbob,<cy>\n\n")
    twins.write_text("dan,eve\n")
    found = json.loads(invoke("--pairs", pairs, "--together", same, "--apart", twins, "--json").stdout)
    labels = dict(zip(found["names"], found["labels"], strict=True))
    assert labels["bob"] == labels["<cy>"]
    assert labels["dan"] != labels["eve"]


@pytest.mark.parametrize(
    ("same", "twins", "message"),
    [
        ("ann,bob\n", "a,b\nbob,ann\n", "twins.csv, line 2, keeps 'bob' and 'ann' apart, but"),
        ("ann,bob\nzed,ann\n", "dan,eve\n", "same.csv, line 2: 'zed' is not an item"),
        ("ann,bob\n", "dan,eve,ann\n", "twins.csv, line 1, must have two items"),
        ("\n", "dan,eve\n", "same.csv is empty"),
    ],
)
def test_files_of_constraints_that_are_refused_name_their_lines(pairs, tmp_path, same, twins, message):
    files = {"together": same, "apart": twins}
    names = {"together": "same.csv", "apart": "twins.csv"}
    for option, text in files.items():
        (tmp_path / names[option]).write_text(text)
    answer = invoke("--pairs", pairs, "--together", tmp_path / "same.csv", "--apart", tmp_path / "twins.csv")
    assert answer.exit_code == 2
    assert message in one_sentence(answer.stderr)


def test_constraints_of_draws_on_the_command_line(tmp_path):
    draws, twins = tmp_path / "draws.csv", tmp_path / "twins.csv"
    draws.write_text("a,b,c\n" + "0,0,1\n" * 5 + "0,0,0\n" * 2)
    twins.write_text("a,b\n")
    found = json.loads(invoke(draws, "--apart", twins, "--json", "--seed", 1).stdout)
    assert found["labels"][0] != found["labels"][1]
    refused = invoke(draws, "--apart", twins, "--workers", 2)
    assert "--apart is for a search on this machine" in one_sentence(refused.stderr)
