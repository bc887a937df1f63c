"""The form of what the command writes: --one-based, --format, --verbose, and help without types of Python."""

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from partita.cli.command import PANELS
from support.commands import COMMANDS, one_sentence


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeeds(*arguments):
    answer = invoke(*arguments)
    assert answer.exit_code == 0, answer.output
    return answer


def from_one(labels):
    return np.where(np.array(labels) < 0, labels, np.array(labels) + 1).tolist()


def rows_of(path, **options):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), **options))


def page_text(page):
    """What the page shows in its tables, without scripts and the data that it holds."""
    return re.sub(r"<script.*?</script>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    path = tmp_path_factory.mktemp("edges") / "edges.csv"
    rows = [(i, j) for i in range(12) for j in range(i) if i // 6 == j // 6]
    path.write_text("source,target\n" + "".join(f"n{i},n{j}\n" for i, j in rows))
    return path


@pytest.mark.parametrize("command", ["estimate", "ball", "partial", "report"])
def test_json_counts_as_python_does(draws_file, tmp_path, command):
    where = ["--out", tmp_path / "page.html"] if command == "report" else []
    asked = [command, draws_file, "--seed", 1, "--json", *where]
    found = json.loads(succeeds(*asked).stdout)
    other = json.loads(succeeds(*asked, "--zero-based", *(["--force"] if where else [])).stdout)
    key = "center" if command == "ball" else "labels"
    assert min(found[key]) in (0, -1)
    assert other[key] == found[key]
    assert found["first_cluster"] == 0


def test_files_count_clusters_and_items_from_one(draws_file, draws, tmp_path):
    succeeds("estimate", draws_file, "--seed", 1, "--out", tmp_path / "run")
    rows = rows_of(tmp_path / "run" / "labels.csv")
    assert [int(row["cluster"]) for row in rows] == (pt.estimate(draws, rng=1).labels + 1).tolist()
    assert [row["item"] for row in rows] == [str(i + 1) for i in range(30)]
    ball = rows_of(tmp_path / "run" / "ball.csv")
    assert [row["estimate"] for row in ball] == [row["cluster"] for row in rows]
    page = pt.read_report(tmp_path / "run" / "report.html")
    assert page.labels.tolist() == pt.estimate(draws, rng=1).labels.tolist()  # data count from 0, as in Python
    assert f'<option value="0,{(page.labels == 0).sum()}">cluster 0' not in page_text(tmp_path / "run" / "report.html")
    numbers = {row[0] for row in _cells(page_text(tmp_path / "run" / "report.html"), "clusters")}
    assert numbers == {str(k + 1) for k in range(page.labels.max() + 1)}


def _cells(html, table):
    body = re.search(rf'<table id="{table}">.*?</table>', html, re.DOTALL)[0]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", body)]


@pytest.mark.parametrize("kind", ["blockmodel", "ensemble", "cluster", "cluster --maximize"])
def test_models_and_ensembles_count_from_one(kind, edges, tmp_path, draws):
    table, base = tmp_path / "table.csv", tmp_path / "base.csv"
    table.write_text("x,y\n" + "".join(f"{i % 2 * 9 + i / 99},{i % 2 * 9 - i / 99}\n" for i in range(24)))
    np.savetxt(base, draws[:6].T, fmt="%d", delimiter=",")
    name, *more = kind.split()
    source = {"blockmodel": edges, "ensemble": base, "cluster": table}[name]
    quick = ["--draws", 20, "--warmup", 20, "--chains", 2] if kind == "cluster" else []
    asked = [name, source, *more, *quick, "--seed", 1]
    zero = json.loads(succeeds(*asked, "--out", tmp_path / "a", "--json").stdout)
    other = json.loads(succeeds(*asked, "--out", tmp_path / "b", "--json", "--zero-based").stdout)
    assert other["labels"] == zero["labels"]
    one = from_one(zero["labels"])
    assert [int(row["cluster"]) for row in rows_of(tmp_path / "a" / "labels.csv")] == one
    assert [int(row["cluster"]) for row in rows_of(tmp_path / "b" / "labels.csv")] == zero["labels"]
    if name == "cluster":
        profiles = rows_of(tmp_path / "a" / "profiles.csv")
        assert {int(row["cluster"]) for row in profiles} == set(one)
        text = succeeds(*asked, "--out", tmp_path / "c").stdout
        assert "cluster 1" in text
        assert "cluster 0" not in text
        assert "Cluster 0" not in page_text(tmp_path / "c" / "report.html")


@pytest.mark.parametrize("ending", ["tsv", "parquet"])
def test_tables_in_other_formats(draws_file, tmp_path, ending):
    asked = ["estimate", draws_file, "--seed", 1]
    succeeds(*asked, "--out", tmp_path / "a")
    succeeds(*asked, "--out", tmp_path / "b", "--format", ending)
    names = {"report.html", "summary.json", *(f"{table}.{ending}" for table in ("labels", "clusters", "runs", "ball"))}
    assert {path.name for path in (tmp_path / "b").iterdir()} == names
    known = rows_of(tmp_path / "a" / "labels.csv")
    if ending == "tsv":
        found = rows_of(tmp_path / "b" / "labels.tsv", delimiter="\t")
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        found = parquet.read_table(tmp_path / "b" / "labels.parquet").to_pylist()
        assert isinstance(found[0]["cluster"], int)
        assert isinstance(found[0]["certainty"], float)
        found = [{name: str(cell) for name, cell in row.items()} for row in found]
    assert found == known
    assert f"labels.{ending}" in (tmp_path / "b" / "report.html").read_text(encoding="utf-8") or len(found) < 1000
    succeeds(*asked, "--out", tmp_path / "b", "--force")  # a folder of another format is an earlier result too
    assert (tmp_path / "b" / "labels.csv").exists()


def test_an_unknown_format_is_one_sentence(draws_file):
    answer = invoke("estimate", draws_file, "--format", "xls")
    assert answer.exit_code == 2
    assert "--format must be one of csv, tsv, parquet, but it is xls" in one_sentence(answer.stderr)


@pytest.mark.parametrize("command", ["estimate", "ball", "partial"])
def test_a_format_of_nothing_is_refused(draws_file, command):
    answer = invoke(command, draws_file, "--format", "parquet")
    assert answer.exit_code == 2
    assert "--format is for the tables that --out writes, and there is no --out" in one_sentence(answer.stderr)


@pytest.mark.parametrize("command", ["hierarchy", "monitor", "compare-posteriors"])
def test_commands_that_write_no_tables_have_no_format(command):
    assert "--format" not in succeeds(command, "--help").stdout


def test_commands_list_only_options_that_they_take():
    """`partita link` listed the losses and the data of draws, and refused them."""
    shown = succeeds("link", "--help").stdout
    assert "binder, vi-lower-bound or pear" in shown
    assert not any(flag in shown for flag in ("--data", "--max-clusters", "--max-draws", "nvi"))


@pytest.mark.parametrize("command", ["estimate", "cluster", "blockmodel", "link", "sample mixture"])
def test_the_panels_of_the_help_have_one_order(command):
    found = re.findall(r"^╭─ ([A-Z][a-z ]+) ─", succeeds(*command.split(), "--help").stdout, re.MULTILINE)
    assert found == [name for name in ("Arguments", "Options", *PANELS) if name in found]


def test_threads_have_one_name():
    helps = {command: invoke(*command.split(), "--help").output for command in (*COMMANDS, "cluster")}
    named = {command for command, text in helps.items() if "--jobs" in text}
    assert {"estimate", "cluster", "blockmodel", "sample dpm"} <= named
    assert not any("--n-jobs" in text for text in helps.values())


def test_verbose_tells_the_steps_on_standard_error(draws_file):
    answer = succeeds("estimate", draws_file, "--seed", 1, "--json", "--verbose")
    json.loads(answer.stdout)
    assert re.search(r"partita \S+, Python \S+, NumPy", answer.stderr)
    assert re.search(r"read .*: 300 draws of 30 items in 1 chains?, \d+ distinct \(\d+\.\d\d s\)", answer.stderr)
    assert re.search(r"searched \(search\): \d+ runs", answer.stderr)
    assert re.search(r"done in \d+\.\d\d s", answer.stderr)
    assert succeeds("estimate", draws_file, "--seed", 1, "--json").stderr == ""


def test_verbose_shows_where_an_error_comes_from(tmp_path):
    (tmp_path / "empty.csv").touch()
    answer = invoke("estimate", tmp_path / "empty.csv", "--verbose")
    assert answer.exit_code == 2
    assert "Traceback" in answer.stderr
    assert answer.stderr.strip().splitlines()[-1].endswith("empty.csv is empty")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_shows_no_types_of_python(command):
    text = succeeds(*command.split(), "--help").stdout
    assert "<bool>" not in text
    assert "list[" not in text


def test_a_table_given_as_draws_is_told_where_to_go(tmp_path):
    table = tmp_path / "iris.csv"
    table.write_text("length,width\n5.1,3.5\n4.9,3.0\n")
    answer = invoke("report", table, "--out", tmp_path / "page.html")
    assert one_sentence(answer.stderr).endswith(
        "labels must be whole numbers; for a table of measurements, use partita cluster"
    )


def test_columns_of_edges_are_suggested_as_they_are_typed(tmp_path):
    table = tmp_path / "iris.csv"
    table.write_text("length (cm),width (cm),kind\n5.1,3.5,a\n4.9,3.0,b\n")
    sentence = one_sentence(invoke("blockmodel", table).stderr)
    assert "--columns 'length (cm),width (cm)'" in sentence
    assert "graph" not in sentence
