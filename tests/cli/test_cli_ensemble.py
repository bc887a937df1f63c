"""`partita ensemble` from base labels in a file to a folder."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli import app

SHORT = ["--draws", "40", "--warmup", "40", "--chains", "1", "--truncation", "10", "--seed", "1"]


@pytest.fixture
def base_file(tmp_path):
    path = tmp_path / "base.csv"
    rows = [["a", "x", "1"]] * 6 + [["b", "y", "2"]] * 5 + [["b", "", "2"], ["b", "y", "NA"]]
    path.write_text("\n".join(",".join(row) for row in [["first", "second", "third"], *rows]))
    return path


def call(*arguments):
    return CliRunner().invoke(app, ["ensemble", *map(str, arguments)])


def test_a_folder_of_results(base_file, tmp_path):
    answer = call(base_file, "--method", "nbce", "--out", tmp_path / "run", *SHORT)
    assert answer.exit_code == 0, answer.output
    facts = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert facts["labels"] == [0] * 6 + [1] * 7
    assert facts["n_clusters"] == 2
    assert (tmp_path / "run" / "labels.csv").read_text().startswith("item,cluster,certainty\n1,1,")
    assert np.load(tmp_path / "run" / "draws.npy").shape == (40, 13)
    again = call(base_file, "--out", tmp_path / "run", *SHORT)
    assert again.exit_code == 2


def test_the_default_is_the_nearest_clustering_and_weighs_copies_down(base_file):
    facts = json.loads(call(base_file, "--seed", "1", "--json").stdout)
    assert facts["method"] == "consensus"
    assert facts["labels"] == [0] * 6 + [1] * 7
    assert facts["effective_clusterings"] == pytest.approx(sum(facts["weights"]))
    equal = json.loads(call(base_file, "--weights", "equal", "-k", "2", "--seed", "1", "--json").stdout)
    assert equal["n_clusters"] == 2
    assert set(equal["weights"]) == {1.0}


def test_concentrations_and_weights_of_nbce(base_file):
    given = ["--alpha", "0.5", "--beta", "0.3", "--weights", "equal", "--inference", "vb", "--truncation", "5"]
    facts = json.loads(call(base_file, *given, "--seed", "1", "--json").stdout)
    assert facts["method"] == "nbce"
    assert (facts["alpha"], facts["beta"], facts["weights"]) == (0.5, 0.3, [1.0, 1.0, 1.0])


@pytest.mark.parametrize("method", ["bce", "mixture", "cspa", "mcla", "evidence", "consensus"])
def test_every_method_answers_in_json(base_file, method):
    seed = [] if method == "evidence" else ["--seed", "1"]
    answer = call(base_file, "--method", method, "-k", "2", *seed, "--json")
    assert answer.exit_code == 0, answer.output
    facts = json.loads(answer.stdout)
    assert facts["n_clusters"] == 2
    assert facts["method"] == method


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--method", "kmeans"], "--method must be one of consensus"),
        (["--method", "cspa"], "needs the number of clusters"),
        (["--method", "bce", "-k", "99"], "-k must be from 1 to the number of items, 13, but it is 99"),
        (["--inference", "vb", "--prior", "tsb"], "'fsd' only"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_two(base_file, arguments, sentence):
    answer = call(base_file, *arguments)
    assert answer.exit_code == 2
    assert sentence in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_truth_is_compared(base_file, tmp_path):
    (tmp_path / "truth.csv").write_text("label\n" + "\n".join(["p"] * 6 + ["q"] * 7))
    answer = call(base_file, "--inference", "vb", "--truth", tmp_path / "truth.csv", "--json", "--seed", "1")
    assert json.loads(answer.stdout)["agreement"]["adjusted_rand"] == 1.0


def test_a_column_may_have_numbers_and_words(tmp_path):
    """Numbers beside words used to be looked for as words."""
    (tmp_path / "base.csv").write_text("c1,c2\n1,a\n2,a\nnoise,b\n1,b\n")
    answer = call(tmp_path / "base.csv", "--method", "consensus", "--json", "--seed", "1")
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["n_items"] == 4
