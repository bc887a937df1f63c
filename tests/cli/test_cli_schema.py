"""The families of columns in a file that the command writes and reads back, and a given number of components."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli import app

SHORT = ("--draws", 60, "--warmup", 60, "--chains", 2, "--seed", 1)


def run(*words, code=0):
    answer = CliRunner().invoke(app, [*map(str, words)], terminal_width=200)
    assert answer.exit_code == code, answer.output
    return answer.stdout + answer.stderr


@pytest.fixture
def penguins(tmp_path):
    """A look-alike of the raw penguins: codes, dates, an identifier, one level."""
    rng, path = np.random.default_rng(1), tmp_path / "penguins.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["Sample Number", "Region", "Date Egg", "Individual", "Length", "Answer"])
        for i in range(60):
            day = f"2007-11-{1 + i // 30 * 20 + int(rng.integers(8)):02}"
            length = round(40 + 12 * (i // 30) + rng.normal(), 1)
            writer.writerow([i % 30 + 1, "Anvers", day, f"N{i}A1", length, rng.integers(1, 6)])
    return path


def test_a_schema_is_written_edited_and_read(penguins, tmp_path):
    schema, out = tmp_path / "types.csv", tmp_path / "results"
    refused = run("cluster", penguins, "--out", out, *SHORT, code=2)
    assert "3 columns cannot be used as they are" in refused
    assert "--family 'Date Egg=months' takes months since the first" in refused
    printed = run("cluster", penguins, "--schema", schema, "--out", out, *SHORT)
    assert "Region has only the level 'Anvers'" in printed
    assert "Change what is wrong" in printed
    assert not out.exists()
    with schema.open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["column"]: row["family"] for row in rows} == {
        "Sample Number": "gaussian", "Region": "ignore", "Date Egg": "ignore", "Individual": "ignore",
        "Length": "gaussian", "Answer": "gaussian",
    }  # fmt: skip
    text = schema.read_text().replace("Date Egg,ignore", "Date Egg,months").replace("Answer,gaussian", "Answer,ordinal")
    schema.write_text(text.replace("Sample Number,gaussian", "Sample Number,ignore"))
    printed = run("cluster", penguins, "--schema", schema, "--out", out, *SHORT)
    assert "Date Egg: months since 2007-11-0" in printed
    families = json.loads((out / "summary.json").read_text())["families"]
    assert families["Answer"] == "ordinal"
    assert families["Date Egg"] == "months"
    assert "fall into 2 clusters" in printed


def test_a_schema_of_another_table_is_refused(penguins, tmp_path):
    schema = tmp_path / "types.csv"
    schema.write_text("column,family\nlength,gaussian\n")
    assert "has no column 'length'" in run("cluster", penguins, "--schema", schema, "--out", "x", code=2)
    schema.write_text("name,type\nLength,gaussian\n")
    assert "column" in run("cluster", penguins, "--schema", schema, "--out", tmp_path / "x", code=2)


def test_a_given_number_of_clusters(penguins, tmp_path):
    common = ("--family", "*=ignore", "--family", "Length=gaussian", "--clusters", 1)
    assert "fall into 1 cluster" in run("cluster", penguins, "--out", tmp_path / "a", *common, *SHORT)
    best = run("cluster", penguins, "--out", tmp_path / "b", *common, "--maximize", "--seed", 1)
    assert "1 cluster" in best


def test_regressions_of_clusters(tmp_path):
    rng, path = np.random.default_rng(1), tmp_path / "lines.csv"
    x, own = rng.uniform(-2, 2, 120), np.arange(120) % 2
    y = np.where(own, 3 * x, -3 * x) + rng.normal(0, 0.3, 120)
    path.write_text("x,y\n" + "\n".join(f"{a:.3f},{b:.3f}" for a, b in zip(x, y, strict=True)))
    printed = run("cluster", path, "--out", tmp_path / "lines", "--regression", "y ~ x", *SHORT)
    assert "y: regression" in printed
    assert "slope 1" in (tmp_path / "lines" / "profiles.csv").read_text()


def test_noise_from_the_command_line(penguins, tmp_path):
    out = tmp_path / "noise"
    text = penguins.read_text().splitlines()
    text.append("1,Anvers,2007-11-05,N99A1,400.5,3")
    penguins.write_text("\n".join(text))
    printed = run(
        "cluster", penguins, "--out", out, "--family", "*=ignore", "--family", "Length=gaussian", "--noise", *SHORT
    )
    assert "1 item is noise" in printed
    assert (out / "labels.csv").read_text().splitlines()[-1].split(",")[1] == "-1"
    assert "1 item is noise" in (out / "report.html").read_text()
