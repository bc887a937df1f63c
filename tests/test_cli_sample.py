"""`partita sample dpm`."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli.sample import app
from partita.models import GaussianDPM

X = np.random.default_rng(0).normal(size=(12, 2))


@pytest.fixture
def data(tmp_path):
    np.savetxt(tmp_path / "data.csv", X, delimiter=",", header="a,b", comments="", fmt="%.17g")
    return tmp_path / "data.csv"


def run(*arguments):
    return CliRunner().invoke(app, ["dpm", *map(str, arguments)])


def test_draws_are_those_of_python(data, tmp_path):
    out = tmp_path / "run.partita"
    result = run(data, "--out", out, "--draws", 20, "--warmup", 5, "--chains", 2, "--seed", 3, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["draws"] == 20
    chain = GaussianDPM().sample(X, draws=20, warmup=5, chains=2, rng=3)
    np.testing.assert_array_equal(np.load(out / "draws.npy"), chain.labels)
    again = run(data, "--out", out, "--resume")
    assert again.exit_code == 0
    assert "2 chains x 20 draws x 12 items" in again.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3,x\n", "line 3, b: 'x' is not a number"),
        ("1,2\n3\n", "line 2: 1 cells"),
        ("a,b\n", "line 1, column 1: 'a' is not a number"),
        ("1,nan\n", "line 1, column 2: 'nan' is not a number"),
        ("1,1_000\n", "line 1, column 2: '1_000' is not a number"),
    ],
)
def test_bad_files_end_with_code_2(tmp_path, content, message):
    (tmp_path / "bad.csv").write_text(content)
    result = run(tmp_path / "bad.csv", "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "run").exists()


def test_an_existing_run_is_not_overwritten(data, tmp_path):
    (tmp_path / "run").mkdir()
    result = run(data, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert "already there" in result.output
