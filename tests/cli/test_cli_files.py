"""The partita command in one process: JSON of every command, and files that are not what they should be."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from partita.cli.ensemble import read_base
from partita.cli.inputs import read_data
from support.commands import COMMANDS, one_sentence


def succeeds(*arguments):
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def fails(*arguments):
    """The one sentence of a command that ends with code 2."""
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == 2, answer.output
    return one_sentence(answer.stderr)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_json(command):
    text = " ".join(succeeds(*command.split(), "--help").replace("│", " ").split())
    assert re.search(r"--json (<bool> )?Print JSON instead of text\.", text)


def test_json_of_similarity_convert_report_and_demo(draws_file, draws, tmp_path):
    matrix = json.loads(succeeds("similarity", draws_file, "--json"))
    np.testing.assert_allclose(matrix["similarity"], pt.similarity(draws))
    written = json.loads(succeeds("similarity", draws_file, "--json", "--out", tmp_path / "psm.npy"))
    assert written["out"] == str(tmp_path / "psm.npy")
    converted = json.loads(succeeds("convert", draws_file, "--json", "--out", tmp_path / "draws.npz"))
    assert (
        converted.items()
        >= {
            "out": str(tmp_path / "draws.npz"),
            "n_draws": 300,
            "n_items": 30,
            "n_unique": pt.as_sample(draws).n_unique,
            "n_chains": 1,
        }.items()
    )
    page = json.loads(succeeds("report", draws_file, "--json", "--seed", 1, "--out", tmp_path / "page.html"))
    assert page["labels"] == pt.estimate(draws, rng=1).labels.tolist()
    assert page["ball"]["level"] == 0.95
    assert pt.read_report(page["report"]).labels.tolist() == page["labels"]
    demo = json.loads(succeeds("demo", "--draws", 30, "--json", "--out", tmp_path / "demo"))
    assert set(demo["estimates"]) == {"vi", "binder"}


@pytest.mark.parametrize("dtype", [complex, "M8[D]", [("a", int)]])
def test_a_file_of_another_type_is_one_sentence(tmp_path, dtype):
    """A TypeError of the library used to be a traceback."""
    path = tmp_path / "odd.npy"
    np.save(path, np.zeros((3, 4), dtype))
    sentence = rf"{path}.* has type .*; labels are integers, strings, booleans or categories"
    assert re.search(sentence, fails("estimate", path))
    assert re.search(sentence, fails("ensemble", path))
    assert re.search(sentence, fails("compare", path, path))
    assert "odd.npy must hold numbers" in fails("sample", "dpm", path, "--out", tmp_path / "run")


@pytest.mark.parametrize("column", [".chain", ".weight"])
def test_chains_and_weights_of_another_type_are_one_sentence(tmp_path, column):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"x": [1, 2], column: [{"a": 1}, {"a": 2}]}), tmp_path / "odd.parquet")
    assert f"odd.parquet, read as parquet: draws, column '{column}': " in fails("estimate", tmp_path / "odd.parquet")


def test_a_mistake_of_ours_keeps_its_traceback(draws_file, monkeypatch):
    """A TypeError used to be reported as bad input."""
    monkeypatch.setattr(pt, "estimate", lambda *args, **options: len(3))
    answer = CliRunner().invoke(app, ["estimate", str(draws_file)])
    assert answer.exit_code == 1
    assert isinstance(answer.exception, TypeError)
    assert answer.stderr == ""


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
    assert re.search(r"many\.csv has 3 items, but .*few\.csv has 2", sentence)


def n_items(path, folder):
    """The number of items that `sample dpm` finds in a file."""
    run = ("sample", "dpm", path, "--out", folder / "run", "--draws", 2, "--warmup", 1, "--chains", 1, "--json")
    return json.loads(succeeds(*run))["n_items"]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("0\n1.5\n2.5\n3.25\n", "0"),
        ("0\n3\n5\n4\n", "0"),
        ("0,1\n1.5,2\n2.5,3.5\n3,4\n", "0, 1"),
        ("0,1,2\n0.5,2,1.25\n0.25,1,3.5\n4,3,5\n", "0, 1, ..., 2"),
    ],
)
def test_a_first_row_of_column_numbers_may_be_the_first_item(draws_file, tmp_path, content, shown):
    """It used to be taken for a header where a number below had a point."""
    path = tmp_path / "data.csv"
    path.write_text(content)
    sentence = rf"data\.csv, line 1 is {shown}: a header of column numbers, or the first item; put names \(x1"
    assert re.search(sentence, fails("sample", "dpm", path, "--out", tmp_path / "run"))
    assert re.search(sentence, fails("report", draws_file, "--data", path, "--out", tmp_path / "page.html"))
    assert re.search(sentence, fails("ensemble", path))


def test_a_frame_of_pandas_without_names_has_its_rows(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("0,1,2\n" + "".join(f"{0.1 + i},{1.7 - i},{i / 7 + 0.05:.3f}\n" for i in range(12)))
    assert read_data(str(path)).values.shape == (12, 3)


@pytest.mark.parametrize(("line", "n"), [("x1,x2\n", 3), ("x1,x2\n0,1\n", 4)])
def test_names_say_whether_column_numbers_are_an_item(tmp_path, line, n):
    """The way out that the error names, in place of the line and above it."""
    (tmp_path / "data.csv").write_text(line + "1.5,2\n2.5,3.5\n3,4\n")
    assert n_items(tmp_path / "data.csv", tmp_path) == n


def test_column_numbers_above_whole_numbers_with_a_point_are_a_header(tmp_path):
    """What pandas writes for columns without names: a 0 of an item would be 0.0."""
    base, data = tmp_path / "base.csv", tmp_path / "data.csv"
    base.write_text("0,1,2\n1,1,1\n1,1,2\n2,2,2\n")
    assert "base.csv, line 1 is 0, 1, ..., 2: a header" in fails("ensemble", base, "--method", "consensus")
    base.write_text("0,1,2\n1.0,1.0,\n1.0,1.0,2.0\n2.0,2.0,2.0\n")
    assert json.loads(succeeds("ensemble", base, "--method", "consensus", "--json"))["n_items"] == 3
    data.write_text("0,1\n0.5,2\n0.25,1\n4.0,3\n")
    assert n_items(data, tmp_path) == 3


def test_labels_alone_may_begin_with_zero(tmp_path):
    (tmp_path / "labels.csv").write_text("0\n0\n1\n")
    (tmp_path / "named.csv").write_text("cluster\n0\n0\n1\n")
    assert '"ari": 1.0' in succeeds("compare", tmp_path / "labels.csv", tmp_path / "named.csv", "--json")


@pytest.mark.parametrize("first", ["NA,2", "nan,2", ",2"])
def test_a_gap_in_the_first_row_is_no_header(tmp_path, first):
    """Its row used to be taken for the header."""
    (tmp_path / "data.csv").write_text(f"{first}\n1,3\n2,5\n")
    assert "data.csv, line 1, column 1" in fails("sample", "dpm", tmp_path / "data.csv", "--out", tmp_path / "run")
    (tmp_path / "base.csv").write_text("NA,NA\n1,2\n1,2\n")
    facts = succeeds("ensemble", tmp_path / "base.csv", "--method", "consensus", "--json")
    assert json.loads(facts)["n_items"] == 3


@pytest.mark.parametrize("header", [",x,y", ",0,1"])
def test_a_column_that_numbers_the_rows_is_no_variable(tmp_path, header):
    """The index that pandas and R write unless told not to."""
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\n0,3,4\n1,4,5\n2,3,3\n")
    assert read_data(str(path)).values.tolist() == [[3, 4], [4, 5], [3, 3]]
    base = read_base(str(path))
    assert [[base.levels[m][code] for m, code in enumerate(row)] for row in base.codes] == [[3, 4], [4, 5], [3, 3]]
    path.write_text("x,,y\n0,3,4\n1,4,5\n2,3,3\n")
    sentence = "table.csv: column 2 has no name; give it one, or remove the column if it numbers the rows"
    assert sentence in fails("sample", "dpm", path, "--out", tmp_path / "run")
    assert sentence in fails("ensemble", path)


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


def test_items_that_no_draw_labels_both_have_no_similarity(tmp_path):
    """NaN, which JSON does not have, used to end the command."""
    (tmp_path / "gaps.csv").write_text("a,b,c\n0,-1,1\n0,-1,0\n1,-1,0\n")
    found = json.loads(succeeds("similarity", tmp_path / "gaps.csv", "--missing", -1, "--json"))["similarity"]
    assert found[0] == [1.0, None, pytest.approx(1 / 3)]
    assert found[1] == [None, None, None]


def test_modes_with_gaps_is_one_sentence():
    with pytest.raises(ValueError, match="modes needs draws that label every item"):
        pt.modes(pt.as_sample([[0, -1, 1], [0, 0, 1]], missing=-1), 1)
