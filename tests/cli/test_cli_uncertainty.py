"""`partita partial` and `partita compare-posteriors`: the facts in JSON are those of the functions."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita.datasets import make_draws
from partita.uncertainty.compare import compare_posteriors
from partita.uncertainty.partial import partial_clustering


@pytest.fixture
def files(tmp_path):
    for seed in (1, 2):
        np.savetxt(tmp_path / f"{seed}.csv", make_draws(6, 120, 2, rng=seed), fmt="%d", delimiter=",")
    return [str(tmp_path / "1.csv"), str(tmp_path / "2.csv")]


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_partial(files):
    printed = json.loads(run("partial", files[0], "--probability", "0.5", "--complete", "--seed", "1", "--json").output)
    found = partial_clustering(make_draws(6, 120, 2, rng=1), 0.5, complete=True, rng=1)
    assert printed["labels"] == found.labels.tolist()
    assert printed["completed"] == found.completed.tolist()
    assert printed["curve"] == pytest.approx(found.curve.tolist())
    assert "items are clustered in the same way" in run("partial", files[0]).output
    assert run("partial", files[0], "--probability", "2").exit_code == 2


def test_compare_posteriors(files):
    printed = json.loads(run("compare-posteriors", *files, "--seed", "1", "--json").output)
    found = compare_posteriors(make_draws(6, 120, 2, rng=1), make_draws(6, 120, 2, rng=2), rng=1)
    assert (printed["p_value"], printed["distance"]) == pytest.approx((found.p_value, found.distance))
    assert printed["items"]["p_value"] == pytest.approx(found.items.p_value.tolist())
    assert printed["pairs"][0]["items"] == list(found.pairs(1)[0]["items"])
    assert "Items that differ most" in run("compare-posteriors", *files, "--seed", "1").output
    assert run("compare-posteriors", files[0], "nowhere.csv").exit_code == 2
