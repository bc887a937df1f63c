"""The page about a block model of a network."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from browser import chromium
from partita.models import StochasticBlockModel, as_graph
from partita.report.network_matrix import matrix_pixels
from partita.report.networks import n_edges

pytest.importorskip("jinja2")


def planted(n=40, seed=1):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    X = np.triu(rng.random((n, n)) < np.where(labels[:, None] == labels, 0.6, 0.05), 1)
    return labels, (X + X.T).astype(int)


@pytest.fixture(scope="module")
def fit():
    labels, X = planted()
    names = [f"<b>node {i}</b>" for i in range(len(labels))]
    return StochasticBlockModel(directed=False).maximize(as_graph(X, directed=False, nodes=names), rng=1)


def test_the_page_says_what_was_found_and_escapes_names(fit, tmp_path):
    labels, X = planted()
    path = pt.report(fit, truth=labels, path=tmp_path / "page.html", title="Two groups", command="partita blockmodel")
    page = path.read_text(encoding="utf-8")
    assert "fall into 2 clusters of 20 to 20 nodes" in page
    assert f"{X.sum() // 2:,} edges" in page
    assert "the best was reached by" in page
    assert "<b>node" not in page
    assert "Normalised mutual information" in page
    assert "<circle" in page


def test_what_needs_draws_is_refused(fit, tmp_path):
    with pytest.raises(ValueError, match="data is for estimates from draws"):
        pt.report(fit, data=np.zeros(40), path=tmp_path / "page.html")


def test_the_matrix_has_the_mean_over_the_dyads_of_a_pixel(monkeypatch, fit):
    full = matrix_pixels(fit)
    assert (full == fit.reordered().toarray()).all()
    monkeypatch.setattr(sys.modules["partita.report.network_matrix"], "PIXELS", 8)
    blocks = full.reshape(8, 5, 8, 5).mean(axis=(1, 3))
    assert matrix_pixels(fit) == pytest.approx(blocks)


def test_edges_and_loops_are_counted_once():
    X = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert n_edges(as_graph(X, directed=False), directed=False) == 2
    assert n_edges(as_graph(X), directed=True) == 3


def test_the_page_of_a_large_network_is_small(tmp_path):
    n = 20_000
    ring = np.arange(n)
    X = sp.coo_array((np.ones(n), (ring, (ring + 1) % n)), shape=(n, n)).tocsr()
    halves = [(ring * 2) // n]
    fit = StochasticBlockModel().maximize(X, restarts=1, starts=halves, rng=1, algorithm="come-latouche", seconds=1)
    path = pt.report(fit, path=tmp_path / "page.html")
    assert path.stat().st_size < 2e6
    assert "<svg" not in path.read_text(encoding="utf-8")


def test_series_of_labels_have_the_names_of_nodes(fit):
    pytest.importorskip("pandas")
    series = fit.to_pandas()
    assert series.index[3] == "<b>node 3</b>"
    assert (series.to_numpy() == fit.labels).all()
    runs = fit.runs_to_pandas()
    assert len(runs) == len(fit.runs)
    assert runs["icl"].is_monotonic_decreasing


def test_a_browser_shows_the_page(fit, tmp_path):
    path = pt.report(fit, path=tmp_path / "page.html")
    with chromium(tmp_path / "profile") as browser:
        browser.get(path.as_uri())
        picture = browser.find_element("css selector", "img.matrix")
        assert browser.execute_script("return arguments[0].naturalWidth", picture) == 40
        assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_tables_of_the_page_are_sorted_by_their_headings(fit, tmp_path):
    path = pt.report(fit, path=tmp_path / "page.html")
    sizes = "return [...document.querySelectorAll('#clusters tbody tr')].map(row => Number(row.cells[1].dataset.v))"
    with chromium(tmp_path / "profile") as browser:
        browser.get(path.as_uri())
        heading = browser.find_element("css selector", "#clusters thead th:nth-child(2) button")
        for sign in (1, -1):
            browser.execute_script("arguments[0].click()", heading)
            found = browser.execute_script(sizes)
            assert found == sorted(found, key=lambda size: sign * size)
            assert len(found) == fit.n_clusters


@pytest.mark.parametrize(("edges", "shown"), [("real", "mean weight"), ("signed", "P(-1)")])
def test_the_page_of_edges_with_marks_shows_them(tmp_path, edges, shown):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 20)) * (rng.random((20, 20)) < 0.4)
    np.fill_diagonal(X, 0)
    X = X if edges == "real" else np.sign(X)
    fit = StochasticBlockModel(edges=edges).maximize(X, restarts=2, rng=1)
    page = pt.report(fit, path=tmp_path / "page.html").read_text()
    assert shown in page
    assert "on edges that are there" in page or "of edges that are there" in page
