"""The partita command in one process: JSON of every command, and files that are not what they should be."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app

COMMANDS = [
    "estimate",
    "ball",
    "similarity",
    "compare",
    "sample dpm",
    "blockmodel",
    "ensemble",
    "report",
    "convert",
    "demo",
]


def succeeds(*arguments):
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def fails(*arguments):
    """The one sentence of a command that ends with code 2."""
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == 2, answer.output
    lines = answer.stderr.strip().splitlines()
    assert len(lines) == 1, answer.stderr
    return lines[0]


@pytest.fixture(scope="module")
def draws():
    return pt.datasets.make_draws(30, 300, n_clusters=4, rng=3)


@pytest.fixture(scope="module")
def draws_file(tmp_path_factory, draws):
    path = tmp_path_factory.mktemp("draws") / "draws.csv"
    pt.write_draws(path, draws)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_json(command):
    assert "--json" in succeeds(*command.split(), "--help")


def test_json_of_similarity_convert_report_and_demo(draws_file, draws, tmp_path):
    matrix = json.loads(succeeds("similarity", draws_file, "--json"))
    np.testing.assert_allclose(matrix["similarity"], pt.similarity(draws))
    written = json.loads(succeeds("similarity", draws_file, "--json", "--out", tmp_path / "psm.npy"))
    assert written["out"] == str(tmp_path / "psm.npy")
    converted = json.loads(succeeds("convert", draws_file, "--json", "--out", tmp_path / "draws.npz"))
    assert converted == {
        "out": str(tmp_path / "draws.npz"),
        "n_draws": 300,
        "n_items": 30,
        "n_unique": pt.as_sample(draws).n_unique,
        "n_chains": 1,
    }
    page = json.loads(succeeds("report", draws_file, "--json", "--seed", 1, "--out", tmp_path / "page.html"))
    assert page["labels"] == pt.estimate(draws, rng=1).labels.tolist()
    assert page["ball"]["level"] == 0.95
    assert Path(page["report"]).stat().st_size > 1_000_000
    demo = json.loads(succeeds("demo", "--draws", 30, "--json", "--out", tmp_path / "demo"))
    assert set(demo["estimates"]) == {"vi", "binder"}


@pytest.mark.parametrize("dtype", [complex, "M8[D]", [("a", int)]])
def test_a_file_of_another_type_is_one_sentence(tmp_path, dtype):
    """A TypeError of the library used to be a traceback."""
    path = tmp_path / "odd.npy"
    np.save(path, np.zeros((3, 4), dtype))
    assert "labels are integers, strings, booleans or categories" in fails("estimate", path)
    assert "labels are integers, strings, booleans or categories" in fails("ensemble", path)
    assert "odd.npy must hold numbers" in fails("sample", "dpm", path, "--out", tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", bytes(range(256))), ("b.csv", bytes(100)), ("c.npy", b""), ("d.npy", b"text")]
)
def test_broken_labels_are_named_by_their_file(draws_file, tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert name in fails("compare", path, path)
    assert name in fails("ball", draws_file, "--labels", path)
    assert name in fails("report", draws_file, "--data", path, "--out", tmp_path / "page.html")
    assert name in fails("ensemble", path)


def test_partitions_of_different_lengths_are_named_by_their_files(tmp_path):
    for name, n_items in (("few.csv", 2), ("many.csv", 3)):
        (tmp_path / name).write_text("cluster\n" + "1\n" * n_items)
    sentence = fails("compare", tmp_path / "few.csv", tmp_path / "many.csv")
    assert re.search(r"few\.csv has 2 items, but .*many\.csv has 3", sentence)


def test_a_header_of_column_numbers_is_no_item(tmp_path):
    """What pandas writes for columns without names: its 0, 1, 2 used to be one more item."""
    base, data = tmp_path / "base.csv", tmp_path / "data.csv"
    base.write_text("0,1,2\n1,1,1\n1,1,2\n2,2,2\n")
    assert "base.csv, line 1 is 0, 1, ..., 2: a header" in fails("ensemble", base, "--method", "consensus")
    base.write_text("0,1,2\n1.0,1.0,\n1.0,1.0,2.0\n2.0,2.0,2.0\n")
    assert json.loads(succeeds("ensemble", base, "--method", "consensus", "--json"))["n_items"] == 3
    data.write_text("0,1\n0.5,2\n0.25,1\n4.5,3\n")
    run = ("sample", "dpm", data, "--out", tmp_path / "run", "--draws", 2, "--warmup", 1, "--json")
    assert json.loads(succeeds(*run))["items"] == 3


def test_an_existing_folder_is_refused_before_the_work(tmp_path):
    assert "exists already" in fails("ball", "nowhere.csv", "--out", tmp_path)


def test_draws_with_gaps_from_a_file_to_a_page(tmp_path):
    """A bound of the ball with gaps used to end the report."""
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((50, 8)) < 0.2, "NA", rng.integers(0, 3, (50, 8)).astype(str))
    (tmp_path / "draws.csv").write_text("\n".join(map(",".join, rows)))
    (tmp_path / "data.csv").write_text("\n".join(f"{value}" for value in rng.normal(size=8)))
    gaps = ("--missing", "NA", "--seed", 1)
    succeeds("report", tmp_path / "draws.csv", *gaps, "--data", tmp_path / "data.csv", "--out", tmp_path / "page.html")
    succeeds("estimate", tmp_path / "draws.csv", *gaps, "--out", tmp_path / "results")
    assert ",-1" in (tmp_path / "results" / "ball.csv").read_text()


def test_modes_with_gaps_is_one_sentence():
    with pytest.raises(ValueError, match="modes needs draws that label every item"):
        pt.modes(pt.as_sample([[0, -1, 1], [0, 0, 1]], missing=-1), 1)
