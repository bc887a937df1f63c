"""`partita cluster` and `partita sample mixture`."""

import csv
import json
import shlex

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita.models import MixtureDPM, resume

ROWS = [
    ("name", "size", "visits", "colour"),
    *((f"a{i}", f"{0.1 * i:.1f}", i % 3, "red") for i in range(8)),
    *((f"b{i}", f"{9 + 0.1 * i:.1f}", 30 + i, "blue") for i in range(8)),
    ("c0", "", "?", "red"),
    ("c1", "9.2", "?", ""),
]
SHORT = ("--draws", 60, "--warmup", 60, "--chains", 2, "--seed", 3, "--missing", "?", "--family", "visits=count")


@pytest.fixture
def table(tmp_path):
    with (tmp_path / "table.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(ROWS)
    return tmp_path / "table.csv"


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_each_warning_is_printed_once(tmp_path):
    """The check of the estimate has that of the chains in it."""
    path = tmp_path / "noise.csv"
    np.savetxt(path, np.random.default_rng(1).normal(size=(60, 2)), delimiter=",", header="x,y", comments="")
    result = run("cluster", path, "--out", tmp_path / "out", "--draws", 30, "--warmup", 0, "--chains", 2, "--seed", 1)
    told = [line for line in result.output.splitlines() if line.startswith("Warning:")]
    assert len(told) == len({line.split()[2] for line in told}) > 0
    assert "log density" in told[0]
    assert "distance to estimate" in "".join(told)


def test_one_command_from_a_table_to_a_report(table, tmp_path):
    out = tmp_path / "results"
    result = run("cluster", table, "--out", out, *SHORT)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert "visits: count" in lines
    assert "colour: categorical (2 levels: blue, red)" in lines
    assert "\\n" not in result.output
    assert sorted(path.name for path in out.iterdir()) == [
        "ball.csv", "clusters.csv", "columns.csv", "draws.npy", "imputed.csv", "labels.csv", "profiles.csv",
        "report.html", "runs.csv", "summary.json",
    ]  # fmt: skip
    labels = {row["item"]: row["cluster"] for row in rows_of(out / "labels.csv")}
    assert len({labels[f"a{i}"] for i in range(8)}) == 1
    assert labels["a0"] == labels["c0"] != labels["b0"] == labels["c1"]
    imputed = {(row["item"], row["column"]): row for row in rows_of(out / "imputed.csv")}
    assert set(imputed) == {("c0", "size"), ("c0", "visits"), ("c1", "visits"), ("c1", "colour")}
    assert imputed["c1", "colour"]["value"] == "blue"
    assert float(imputed["c1", "visits"]["value"]) > 20
    profiles = rows_of(out / "profiles.csv")
    assert {row["column"] for row in profiles} == {"size", "visits", "colour"}
    assert {row["column"]: row["family"] for row in rows_of(out / "columns.csv")}["visits"] == "count"
    assert json.loads((out / "summary.json").read_text())["families"]["visits"] == "count"
    again = run("cluster", table, "--out", out, *SHORT)
    assert again.exit_code == 2
    assert "exists already; --force replaces it" in again.output
    assert run("cluster", table, "--out", out, *SHORT, "--force").exit_code == 0


def test_json(table, tmp_path):
    result = run("cluster", table, "--out", tmp_path / "results", *SHORT, "--json")
    found = json.loads(result.output)
    assert found["n_clusters"] == 2
    assert found["families"] == {"size": "gaussian", "visits": "count", "colour": "categorical"}
    assert found["names"][0] == "a0"


def test_the_chain_is_that_of_python_and_goes_on(table, tmp_path):
    out = tmp_path / "run.partita"
    result = run("sample", "mixture", table, "--out", out, *SHORT, "--json")
    assert result.exit_code == 0, result.output
    columns = {name: [None if row[j] in ("", "?") else row[j] for row in ROWS[1:]] for j, name in enumerate(ROWS[0])}
    columns["size"] = [None if cell is None else float(cell) for cell in columns["size"]]
    del columns["name"]
    chain = MixtureDPM({"visits": "count"}).sample(columns, draws=60, warmup=60, chains=2, rng=3)
    np.testing.assert_array_equal(np.load(out / "draws.npy"), chain.labels)
    assert resume(out).names[0] == "a0"
    longer = run("sample", "mixture", table, "--out", out, *SHORT[2:], "--resume", "--draws", 80)
    assert longer.exit_code == 0, longer.output
    assert resume(out).n_draws == 80
    other = run("sample", "mixture", table, "--out", out, "--resume", "--missing", "?", "--family", "visits=gaussian")
    assert other.exit_code == 2
    assert "does not contain the data with which the run" in other.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--family", "visits"), "or one family for all columns (gaussian, positive, months, count,"),
        (("--family", "s*=graded"), "--family of 's*' must be one of gaussian, positive, months, count,"),
        (("--family", "z*=count", "--missing", "?"), "--family names 'z*', which matches no column"),
        (("--family", "count", "--family", "count"), "--family names all columns twice"),
        (("--family", "visit=count"), "has no column 'visit'"),
        (("--family", "visits=cuont"), "but it is 'cuont'"),
        (("--family", "size=ignore", "--family", "size=count"), "--family names the column 'size' twice"),
        ((), "column 'visits' mixes numbers and text"),
        (("--missing", "?", "--family", "size=count"), "line 3, column 'size': 0.1 is not a count"),
    ],
)
def test_bad_options_are_one_sentence(table, tmp_path, words, message):
    result = run("cluster", table, "--out", tmp_path / "results", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not (tmp_path / "results").exists()


def test_the_largest_icl_in_one_command(table, tmp_path):
    out = tmp_path / "best"
    own = ("--missing", "?", "--family", "visits=count", "--seed", 3)
    done = run("cluster", table, "--maximize", "--out", out, *own)
    assert done.exit_code == 0, done.output
    assert "the largest exact ICL that was found" in done.output
    labels = {row["item"]: row["cluster"] for row in rows_of(out / "labels.csv")}
    assert labels["a0"] == labels["a7"] != labels["b0"] == labels["b7"]
    summary = json.loads((out / "summary.json").read_text())
    assert summary["n_clusters"] == 2
    assert float(rows_of(out / "path.csv")[0]["icl"]) == pytest.approx(summary["icl"])
    assert (out / "report.html").stat().st_size > 10_000
    again = run("cluster", table, "--maximize", "--out", tmp_path / "json", "--json", "--max-clusters", 1, *own)
    assert json.loads(again.output)["n_clusters"] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--maximize", "--draws", 5), "--draws is for samples"),
        (("--restarts", 5), "--restarts is for --maximize"),
        (("--maximize", "--loss", "vi"), "--loss is for samples"),
    ],
)
def test_options_that_would_be_ignored_are_refused(table, tmp_path, words, sentence):
    done = run("cluster", table, "--out", tmp_path / "no", *words)
    assert done.exit_code != 0
    assert sentence in done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size,size\n1,2\n3,4\n", "table.csv has two columns named 'size'"),
        (
            "size,width\n1,2\ninf,4\n",
            "table.csv, line 3, column 'size': infinity (inf) has no density; an empty cell",
        ),
    ],
)
def test_bad_tables_are_named_as_the_command_knows_them(text, message, tmp_path):
    (tmp_path / "table.csv").write_text(text)
    result = run("cluster", tmp_path / "table.csv", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in result.output


def test_a_family_for_all_columns_and_for_those_that_match(table, tmp_path):
    own = ("--draws", 5, "--warmup", 5, "--chains", 1, "--seed", 3, "--missing", "?", "--json")
    families = ("--family", "categorical", "--family", "v*=count", "--family", "size=gaussian")
    done = run("cluster", table, "--out", tmp_path / "results", *own, *families)
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["families"] == {"size": "gaussian", "visits": "count", "colour": "categorical"}
    assert {row["item"] for row in rows_of(tmp_path / "results" / "labels.csv")} >= {"a0", "c1"}


def test_all_columns_that_cannot_be_used_are_named_at_once(tmp_path):
    """As in the raw penguins: one level, dates, a different word in each row, numbers of the rows, no cell."""
    path = tmp_path / "raw.csv"
    lines = [f"{i + 1},{i / 7:.2f},Anvers,2007-11-{i + 1:02},p{i}," for i in range(9)]
    path.write_text("\n".join(["X,size,region,date egg,tag,comment", *lines]))
    done = run("cluster", path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "5 columns cannot be used as they are" in done.output
    options = "--family X=ignore --family region=ignore --family 'date egg=ignore' --family tag=ignore"
    assert options in done.output
    again = run(
        "cluster", path, "--out", tmp_path / "out", "--maximize", *shlex.split(options), "--family", "comm*=ignore"
    )
    assert again.exit_code == 0, again.output


def test_questions_about_columns_are_printed_and_kept(tmp_path):
    path = tmp_path / "answers.csv"
    rows = [
        "gender,A1,A2,age",
        *(f"{1 + i % 2},{1 + i % 5},{-999 if i < 3 else i % 6},{20 + i * 0.5}" for i in range(60)),
    ]
    path.write_text("\n".join(rows))
    short = ("--draws", 5, "--warmup", 5, "--chains", 1, "--seed", 1)
    done = run("cluster", path, "--out", tmp_path / "out", *short)
    assert done.exit_code == 0, done.output
    notes = [line for line in done.output.splitlines() if line.startswith("Note: ")]
    assert done.output.count("have only whole numbers") == 1
    assert "-999 is in 3 cells of A2" in notes[0]
    assert "--missing -999 takes these cells as missing" in notes[0]
    assert "gender, A1 and A2 have only whole numbers" in notes[1]
    assert "--family 'A*=categorical'" in notes[1]
    assert "--family categorical all columns" in notes[1]
    kept = json.loads((tmp_path / "out" / "summary.json").read_text())["column_notes"]
    assert [f"Note: {note}" for note in kept] == notes[:2]
    answered = ("--family", "categorical", "--family", "age=gaussian", "--missing", "-999")
    told = run("cluster", path, "--out", tmp_path / "answered", *short, *answered, "--json")
    assert json.loads(told.output)["column_notes"] == []


def test_many_columns_are_counted_by_family(tmp_path):
    path = tmp_path / "wide.csv"
    np.savetxt(
        path,
        np.random.default_rng(1).normal(size=(8, 60)),
        delimiter=",",
        header=",".join(f"x{j}" for j in range(60)),
        comments="",
    )
    done = run("cluster", path, "--maximize", "--out", tmp_path / "out", "--family", "x1*=ignore", "--seed", 1)
    assert done.output.splitlines()[:2] == [
        "gaussian: 49 columns (x0, x2, x3, ..., x59)",
        "ignore: 11 columns (x1, x10, x11, ..., x19)",
    ]
    assert "The 12 columns of most bits; 37 more are not shown." in done.output


def test_advice_about_weights_and_limits_can_be_taken(tmp_path):
    """What the answer advises (--a, more clusters, more runs) are options of this command."""
    path = tmp_path / "table.csv"
    np.savetxt(path, np.random.default_rng(2).normal(size=(25, 2)), delimiter=",", header="x,y", comments="")
    own = ("--draws", 60, "--warmup", 20, "--chains", 1, "--seed", 2, "--json")
    few = run("cluster", path, "--out", tmp_path / "few", *own, "--a", 1.5, "--b", 0.5)
    many = run("cluster", path, "--out", tmp_path / "many", *own, "--loss", "binder", "--a", 0.2, "--b", 1.8)
    assert json.loads(few.stdout)["n_clusters"] < json.loads(many.stdout)["n_clusters"]
    assert json.loads(many.stdout)["loss_weights"] == {"a": 0.2, "b": 1.8}
    binder = ("--loss", "binder", "--a", 0.2, "--b", 1.8, "--max-clusters", 2, "--runs", 4)
    limited = run("cluster", path, "--out", tmp_path / "limited", *own, *binder)
    assert json.loads(limited.stdout)["n_clusters"] == 2
    refused = run("cluster", path, "--out", tmp_path / "no", "--loss", "nvi", "--a", 2)
    assert "--a is for the losses binder and vi, not for nvi" in refused.output
    ignored = run("cluster", path, "--out", tmp_path / "no", "--maximize", "--a", 2)
    assert "--a is for samples" in ignored.output


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("net.graphml", b"<?xml version='1.0'?><graphml></graphml>", "is a network, not a table; for clusters of its"),
        ("sheet.xlsx", b"PK\x03\x04\x14\x00\x06\x00", "or another zip file, not text; save the sheet as CSV"),
        ("old.csv", b"\xd0\xcf\x11\xe0\xa1\xb1", "is an Excel workbook or another zip file"),
    ],
)
def test_other_formats_are_recognised(name, content, sentence, tmp_path):
    (tmp_path / name).write_bytes(content)
    done = run("cluster", tmp_path / name, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert sentence in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_columns_with_a_covariance(tmp_path):
    """--full asks for what full= does; what does not go with it names the option."""
    rng = np.random.default_rng(1)
    cells = rng.multivariate_normal([0, 0, 0], 0.9 + 0.1 * np.eye(3), 40)
    path, out = tmp_path / "table.csv", tmp_path / "out"
    np.savetxt(path, cells, delimiter=",", header="x,y,z", comments="")
    short = ("--draws", 20, "--warmup", 20, "--chains", 1, "--seed", 3)
    for words, full in ((("--full", "x,y"), [["x", "y"]]), (("--full", "all"), "all")):
        assert run("cluster", path, "--out", out, "--force", *short, *words).exit_code == 0
        table = dict(zip("xyz", cells.T, strict=True))
        chain = MixtureDPM(full=full).sample(table, draws=20, warmup=20, chains=1, rng=3)
        assert np.array_equal(np.load(out / "draws.npy"), chain.labels)
    for words, said in (
        (("--full", "x,w"), "--full names 'w', which is not a gaussian or positive column; these are x, y, z"),
        (("--full", "x", "--full", "x,y"), "--full names 'x' twice"),
        (("--full", "x,"), "--full must be distinct names separated by commas, but it is 'x,'"),
        (("--full", "x,y", "--projection"), "--projection cannot be used together with --select, or with --full"),
        (("--noise", "--select"), "--noise cannot be used together with --select"),
        (("--clusters", 3, "--expect", "3-8"), "--expect is for an unknown number of clusters; --clusters fixes it"),
    ):
        refused = run("cluster", path, "--out", tmp_path / "none", *words)
        assert refused.exit_code == 2
        assert said in " ".join(refused.stderr.split())
    path.write_text(path.read_text() + ",1,1\n")
    refused = run("cluster", path, "--out", tmp_path / "none", "--full", "all", "--select")
    assert "--select does not work with missing values in columns of --full" in " ".join(refused.stderr.split())
