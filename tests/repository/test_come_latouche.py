"""The parts of reproduce/come_latouche.py; test_reproduce.py runs the whole."""

import csv
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "reproduce"))

from come.settings import METHODS, Size, run_settings, scores

SMALL = Size(2, (0.45, 0.09), (1, 2), k_up=6, restarts=1, sweeps=50)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("come") / "runs" / "come_latouche.csv"
    run_settings(path, SMALL)
    return path


@pytest.mark.parametrize("setting", [1, 2])
def test_planted_clusters_are_found_where_links_are_many(path, setting):
    found = scores(run_settings(path, SMALL), setting)
    assert list(found) == [0.45, 0.09]
    assert min(found[0.45]["exact ICL"]) > 0.99
    assert max(found[0.09]["exact ICL"]) < 0.9


def test_nothing_is_run_twice(path):
    before = path.read_bytes()
    run_settings(path, SMALL)
    assert path.read_bytes() == before


def test_a_run_goes_on_where_it_stopped(path, tmp_path):
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    half = tmp_path / "half.csv"
    half.write_text("".join(lines[: 1 + 3 * len(METHODS) + 2]), encoding="utf-8")
    run_settings(half, SMALL)
    assert sorted(half.read_text(encoding="utf-8").splitlines()) == sorted("".join(lines).splitlines())


def test_a_new_method_is_run_on_graphs_that_are_done(path, tmp_path):
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    new = "exact ICL, affiliation"
    older = tmp_path / "older.csv"
    older.write_text("".join(line for line in lines if new not in line), encoding="utf-8")
    before = older.read_text(encoding="utf-8")
    run_settings(older, SMALL)
    after = older.read_text(encoding="utf-8")
    assert after.startswith(before)
    assert sorted(after.splitlines()) == sorted("".join(lines).splitlines())
    added = csv.DictReader([lines[0], *after[len(before) :].splitlines(keepends=True)])
    assert {row["method"] for row in added} == {new}
