"""`partita cluster` of long tables and with a selection of columns."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli import app

pytestmark = pytest.mark.filterwarnings("ignore::partita.MixingWarning")
SHORT = ("--draws", "60", "--warmup", "60", "--chains", "2", "--seed", "1")


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def visits(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "visits.csv"
    with path.open("w") as file:
        file.write("patient,month,pain,sex\n")
        for i in range(24):
            for month in range(0, 10, 2 + i % 2):
                pain = 8 - (0.8 if i < 12 else 0.0) * month + rng.normal(0, 0.4)
                file.write(f"p{i},{month},{pain:.3f},{'mf'[i % 2]}\n")
    return path


def test_subjects_are_clustered_by_their_curves(visits, tmp_path):
    out = tmp_path / "results"
    done = run("cluster", visits, "--id", "patient", "--time", "month", "--select", "--out", out, *SHORT)
    assert done.exit_code == 0, done.output
    assert "pain: curve" in done.output
    labels = list(csv.DictReader((out / "labels.csv").read_text().splitlines()))
    assert [row["item"] for row in labels][:2] == ["p0", "p1"]
    assert len({row["cluster"] for row in labels[:12]} & {row["cluster"] for row in labels[12:]}) == 0
    columns = {row["column"]: row for row in csv.DictReader((out / "columns.csv").read_text().splitlines())}
    assert float(columns["pain"]["inclusion"]) > 0.9
    assert json.loads((out / "summary.json").read_text())["inclusion"]["sex"] < 0.7
    page = (out / "report.html").read_text()
    assert "pain over time" in page
    assert "Takes part" in page


def test_curves_with_maximize(visits, tmp_path):
    out = tmp_path / "best"
    long = ("--id", "patient", "--time", "month")
    done = run("cluster", visits, *long, "--maximize", "--select", "--out", out, "--seed", "1")
    assert done.exit_code == 0, done.output
    assert json.loads((out / "summary.json").read_text())["inclusion"]["pain"] > 0.9


def test_what_is_refused(visits, tmp_path):
    one = run("cluster", visits, "--id", "patient", "--out", tmp_path / "a", *SHORT)
    assert (one.exit_code, "--id and --time go together" in one.output) == (2, True)
    absent = run("cluster", visits, "--id", "subject", "--time", "month", "--out", tmp_path / "a", *SHORT)
    assert (absent.exit_code, "subject" in absent.output) == (2, True)


def test_a_long_table_is_recognised(visits, tmp_path):
    done = run("cluster", visits, "--out", tmp_path / "rows", *SHORT)
    assert "--id patient --time month" in done.output
