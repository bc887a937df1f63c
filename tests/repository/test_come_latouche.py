"""The parts of reproduce/come_latouche.py; test_reproduce.py runs the whole."""

import csv
import gzip
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "reproduce"))

from come import large
from come.settings import METHODS, PAPERS_OWN, SAME_GRAPHS, Size, run_settings, scores

SMALL = Size(2, (0.45, 0.09), (1, 2), k_up=6, restarts=1, sweeps=50)


def text_of(path):
    return gzip.decompress(path.read_bytes()).decode()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("come") / "runs" / "come_latouche.csv.gz"
    run_settings(path, SMALL)
    return path


@pytest.mark.parametrize("setting", [1, 2])
def test_planted_clusters_are_found_where_links_are_many(path, setting):
    found = scores(run_settings(path, SMALL), setting)
    assert list(found) == [0.45, 0.09]
    assert min(found[0.45]["exact ICL"]) > 0.99
    assert max(found[0.09]["exact ICL"]) < 0.9
    assert min(found[0.45][PAPERS_OWN]) > 0.5  # from one start with six clusters


def test_nothing_is_run_twice(path):
    before = path.read_bytes()
    run_settings(path, SMALL)
    assert path.read_bytes() == before


def test_a_run_goes_on_where_it_stopped(path, tmp_path):
    lines = text_of(path).splitlines(keepends=True)
    half = tmp_path / "half.csv.gz"
    half.write_bytes(gzip.compress("".join(lines[: 1 + 3 * len(METHODS) + 2]).encode()))
    run_settings(half, SMALL)
    assert sorted(text_of(half).splitlines()) == sorted("".join(lines).splitlines())


def test_a_new_method_is_run_on_graphs_that_are_done(path, tmp_path):
    lines = text_of(path).splitlines(keepends=True)
    new = "exact ICL, affiliation"
    older = tmp_path / "older.csv.gz"
    before = "".join(line for line in lines if new not in line)
    older.write_bytes(gzip.compress(before.encode()))
    run_settings(older, SMALL)
    after = text_of(older)
    assert after.startswith(before)
    assert sorted(after.splitlines()) == sorted("".join(lines).splitlines())
    added = csv.DictReader([lines[0], *after[len(before) :].splitlines(keepends=True)])
    assert {row["method"] for row in added} == {new}


def test_the_variational_rivals_may_have_fewer_graphs(tmp_path):
    size = Size(2, (0.45,), (1,), k_up=3, restarts=1, sweeps=20, rivals=1)
    found = scores(run_settings(tmp_path / "few.csv.gz", size), 1)[0.45]
    fewer = {method: len(nmi) for method, nmi in found.items() if len(nmi) != 2}
    assert fewer == {"mixer": 1, "vbmod": 1, SAME_GRAPHS: 1}
    assert found[SAME_GRAPHS] == found["exact ICL"][:1]


def test_setting_four_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(large, "NODES", 240)
    monkeypatch.setattr(large, "CLUSTERS", 4)
    monkeypatch.setattr(large, "K_UP", 8)
    X, labels = large.make_large_graph(0)
    assert X.shape == (240, 240)
    assert not X.diagonal().any()
    assert len(set(labels)) == 4
    path = tmp_path / "large.csv.gz"
    rows = large.run(path, 1)
    assert [row["method"] for row in rows] == list(large.ALGORITHMS)
    assert float(rows[0]["nmi"]) > 0.9
    assert large.run(path, 2)[:2] == rows
