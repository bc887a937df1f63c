"""`partita sample dpm`."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli.sample import app
from partita.models import GaussianDPM, resume
from support import forks

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
    assert json.loads(result.output)["draws_per_chain"] == 20
    chain = GaussianDPM().sample(X, draws=20, warmup=5, chains=2, rng=3)
    np.testing.assert_array_equal(np.load(out / "draws.npy"), chain.labels)
    again = run(data, "--out", out, "--resume")
    assert again.exit_code == 0
    assert "2 chains x 20 draws x 12 items" in again.output


def test_a_run_goes_on_to_more_draws(data, tmp_path):
    """--resume ignored --draws, and every other option."""
    out = tmp_path / "run.partita"
    assert run(data, "--out", out, "--draws", 20, "--warmup", 5, "--chains", 2, "--seed", 3).exit_code == 0
    longer = run(data, "--out", out, "--resume", "--draws", 70, "--json")
    assert longer.exit_code == 0, longer.output
    assert json.loads(longer.output)["draws_per_chain"] == 70
    whole = GaussianDPM().sample(X, draws=70, warmup=5, chains=2, rng=3)
    np.testing.assert_array_equal(np.load(out / "draws.npy"), whole.labels)
    assert resume(out).n_draws == 70
    shorter = run(data, "--out", out, "--resume", "--draws", 30)
    assert shorter.exit_code == 2
    assert "is a run of 70 draws per chain: it cannot end at 30" in shorter.output


@pytest.mark.parametrize(
    "option", [("--chains", 3), ("--warmup", 6), ("--thin", 2), ("--seed", 4), ("--alpha", 2), ("--covariance", "diag")]
)
def test_a_run_goes_on_as_it_began(data, tmp_path, option):
    out = tmp_path / "run.partita"
    begun = (data, "--out", out, "--draws", 5, "--warmup", 5, "--chains", 2, "--seed", 3)
    assert run(*begun).exit_code == 0
    assert run(*begun, "--resume").exit_code == 0  # the same options once more
    answer = run(data, "--out", out, "--resume", *option)
    assert answer.exit_code == 2
    assert f"{option[0]}: the run in" in answer.output


def test_a_run_does_not_go_on_with_other_data(data, tmp_path):
    out = tmp_path / "run.partita"
    assert run(data, "--out", out, "--draws", 5, "--warmup", 5, "--chains", 1).exit_code == 0
    data.write_text("a,b\n1,2\n3,4\n")
    answer = run(data, "--out", out, "--resume")
    assert answer.exit_code == 2
    assert "data.csv does not contain the data with which the run" in answer.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3,x\n", "line 3, b: 'x' is not a number"),
        ("1,2\n3\n", "line 2: 1 cell,"),
        ("a,b\n", "bad.csv has only a header, a, b"),
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


def test_ctrl_c_advises_the_option_of_the_command(tmp_path, data):
    """Not the function of Python."""
    words = ("sample", "dpm", data, "--out", tmp_path / "run", "--draws", 10**7, "--seed", 1)
    press = "from support import interrupts\ninterrupts.signal_when_in('sample')\n"
    done = forks.run(press + forks.COMMAND, *words)
    assert done.returncode == 130
    assert "the same command with --resume continues it" in done.stderr
    assert "partita.resume" not in done.stderr
