"""Labels as files: any result, three formats, from 0 or from 1."""

import csv

import numpy as np
import pytest

import partita as pt

DRAWS = [[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 1, 1]]


def read(path, separator=","):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines(), delimiter=separator))


def test_an_estimate_has_names_and_certainty(tmp_path):
    best = pt.estimate(pt.as_sample(DRAWS, names=["a", "b", "c", "d"]), rng=1)
    rows = read(pt.write_labels(tmp_path / "labels.tsv", best), "\t")
    assert rows[0] == ["item", "cluster", "certainty", "p_0", "p_1", "p_other"]
    assert [row[:2] for row in rows[1:]] == [["a", "0"], ["b", "0"], ["c", "1"], ["d", "1"]]
    assert [row[2] for row in rows[1:]] == ["1.0", "1.0", "0.666667", "0.666667"]
    assert [[float(cell) for cell in row[3:]] for row in rows[1:]] == [
        [1, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, pytest.approx(2 / 3, abs=1e-6), pytest.approx(1 / 3, abs=1e-6)],
    ]


def test_items_and_clusters_from_one_but_not_the_gaps(tmp_path):
    labels = np.array([0, -1, 1])
    assert read(pt.write_labels(tmp_path / "a.csv", labels, one_based=True))[1:] == [
        ["1", "1"],
        ["2", "-1"],
        ["3", "2"],
    ]
    assert read(pt.write_labels(tmp_path / "b.csv", labels))[1:] == [["0", "0"], ["1", "-1"], ["2", "1"]]


def test_fits_of_networks_and_pairs_bring_their_names(tmp_path):
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("e", "f"), ("d", "f")]
    fit = pt.models.StochasticBlockModel(directed=False).maximize(edges, rng=1)
    assert [row[0] for row in read(pt.write_labels(tmp_path / "net.csv", fit))[1:]] == list("abcdef")
    pairs = pt.as_similarity([[1, 0.9, 0], [0.9, 1, 0.1], [0, 0.1, 1]], names=["x", "y", "z"])
    assert [
        row[0] for row in read(pt.write_labels(tmp_path / "pairs.csv", pt.estimate(pairs, "binder", rng=1)))[1:]
    ] == list("xyz")


@pytest.mark.parametrize(("path", "result", "error", "words"), [
    ("labels.xls", [0, 1], ValueError, "must end in .csv, .tsv or .parquet"),
    ("labels.csv", [[0, 1]], TypeError, "one whole number per item"),
    ("labels.csv", [0.5, 1], TypeError, "one whole number per item"),
    ("labels.csv", "labels", TypeError, "but it is str"),
])  # fmt: skip
def test_what_is_refused(tmp_path, path, result, error, words):
    with pytest.raises(error, match=words):
        pt.write_labels(tmp_path / path, result)
    assert not list(tmp_path.iterdir())


def test_an_item_in_no_cluster_is_said_to_be_in_none(tmp_path):
    draws = [[0, 0, 1, 2, 2]] * 6 + [[0, 0, 0, 2, 1]] * 4
    page = pt.report(pt.partial_clustering(draws, 0.9, rng=1), path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<td class="n" data-v="-1">none</td>' in page
    assert pt.read_report(tmp_path / "page.html").labels.min() == -1
