"""`partita partial`, `compare-posteriors` and `monitor`: the facts in JSON are those of the functions."""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita.datasets import make_draws
from partita.estimation.estimate import estimate
from partita.uncertainty.compare import compare_posteriors
from partita.uncertainty.hierarchy import hierarchy
from partita.uncertainty.monitor import monitor
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
    assert printed["n_clustered"] == found.n_items
    assert "items are clustered in the same way" in run("partial", files[0]).output
    assert run("partial", files[0], "--probability", "2").exit_code == 2


def test_a_partial_clustering_that_was_stopped_is_the_best_so_far(monkeypatch):
    module = sys.modules["partita.uncertainty.partial"]
    whole, grow = partial_clustering(make_draws(6, 120, 2, rng=1), 0.5, rng=1), module._grow
    assert len(whole.candidates) > 2
    asked = []

    def stopped(sample, item, *until):
        asked.append(item)
        if len(asked) > 2:
            raise KeyboardInterrupt
        return grow(sample, item, *until)

    monkeypatch.setattr(module, "_promising", lambda sample, first, wanted: first.tolist())
    monkeypatch.setattr(module, "_grow", stopped)
    found = partial_clustering(make_draws(6, 120, 2, rng=1), 0.5, rng=1)
    assert found.interrupted
    assert len(found.candidates) == 2
    assert "stopped early" in found.notes[0]
    assert not whole.notes


def test_compare_posteriors(files):
    printed = json.loads(run("compare-posteriors", *files, "--seed", "1", "--json").output)
    found = compare_posteriors(make_draws(6, 120, 2, rng=1), make_draws(6, 120, 2, rng=2), rng=1)
    assert (printed["p_value"], printed["distance"]) == pytest.approx((found.p_value, found.distance))
    assert printed["items"]["p_value"] == pytest.approx(found.items.p_value.tolist())
    assert printed["pairs"][0]["items"] == list(found.pairs(1)[0]["items"])
    assert "Items that differ most" in run("compare-posteriors", *files, "--seed", "1").output
    assert run("compare-posteriors", files[0], "nowhere.csv").exit_code == 2


def test_monitor(tmp_path):
    draws = make_draws(8, 400, 2, doubt=0.02, rng=1)
    np.savetxt(tmp_path / "draws.csv", draws, fmt="%d", delimiter=",")
    path = str(tmp_path / "draws.csv")
    answered = run("monitor", path, "--once", "--seed", "1", "--precision", "0.9", "--json")
    printed = json.loads(answered.output)
    watched = monitor(precision=0.9, rng=1)
    watched.feed(draws)
    assert printed["checks"] == [pytest.approx(check.facts()) for check in watched.checks]
    assert printed["settled"] == watched.settled == (answered.exit_code == 0)
    never = run("monitor", path, "--precision", "0", "--patience", "0.01")
    assert never.exit_code == 1
    assert "is above 0.0% of it" in never.output.splitlines()[-1]
    for option, value in (("--tolerance", "1"), ("--precision", "-1"), ("--level", "2")):
        refused = run("monitor", path, option, value)
        assert refused.exit_code == 2
        assert option in refused.stderr
    assert "does not exist" in run("monitor", str(tmp_path / "none.csv")).stderr


def test_hierarchy(files, tmp_path):
    tree = hierarchy(estimate(make_draws(6, 120, 2, rng=1), rng=1))
    target = tmp_path / "tree.nwk"
    printed = json.loads(run("hierarchy", files[0], "--seed", "1", "--newick", str(target), "--json").output)
    assert printed["levels"] == tree.levels.tolist()
    assert printed["newick"] == target.read_text().strip()
    assert [node["together"] for node in printed["nodes"]] == pytest.approx(tree.support.together.tolist())
    assert "* is the estimate" in run("hierarchy", files[0], "--seed", "1").output
    assert "exists already" in run("hierarchy", files[0], "--newick", str(target)).stderr
    assert not run("hierarchy", files[0], "--newick", str(target), "--force").stderr
    refused = run("hierarchy", files[0], "--finest", "9")
    assert refused.exit_code == 2
    assert "finest is 9" in refused.stderr


def test_report_with_more_answers(files, tmp_path):
    from partita.pages.reopen import read_report
    from support.pages import text

    np.save(tmp_path / "theta.npy", np.random.default_rng(1).normal(size=(120, 6)))
    page = tmp_path / "page.html"
    wanted = ("--partial", "0.5", "--tree", "--errors", "--parameters", str(tmp_path / "theta.npy"))
    assert run("report", files[0], "--seed", "1", "--out", str(page), *wanted).exit_code == 0
    held = read_report(page)
    found = partial_clustering(make_draws(6, 120, 2, rng=1), 0.5, rng=0)
    assert text(held, "partial").startswith(f"{found.n_items} of 6 items")
    assert {"parameters", "tree", "error"} <= {part["id"] for part in held.content["sections"]}


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--partial", "2", "--partial must be above 0"),
        ("--parameters", "theta.npy", "--parameters has shape (7, 6)"),
        ("--parameters", "words.npy", "--parameters needs a npy file"),
        ("--parameters", "nowhere.npy", "nowhere.npy"),
        ("--parameters", "text.npy", "text.npy: --parameters needs a npy file of numbers"),
        ("--bound", "-2", "--bound must be a positive number, but it is -2.0"),
        ("--seed", "-1", "--seed must not be a negative seed, but it is -1"),
    ],
)
def test_bad_answers_of_a_report_are_named(files, tmp_path, option, value, words):
    np.save(tmp_path / "theta.npy", np.zeros((7, 6)))
    np.save(tmp_path / "text.npy", np.array(["a", "b"]))
    (tmp_path / "words.npy").write_text("a,b")
    given = str(tmp_path / value) if option == "--parameters" else value
    answered = run("report", files[0], "--out", str(tmp_path / "page.html"), option, given)
    assert answered.exit_code == 2
    assert words in " ".join(answered.output.split())
    assert not (tmp_path / "page.html").exists()
