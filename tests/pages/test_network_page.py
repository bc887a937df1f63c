"""The page about a block model of a network."""

import base64
import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita.datasets import load_karate
from partita.models import StochasticBlockModel, as_graph
from partita.results.network_matrix import matrix_map, matrix_pixels
from partita.results.networks import n_edges
from support.browser import chromium
from support.pages import facts, figure, table

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
    path = pt.report(fit, truth=labels, path=tmp_path / "page.html", title="Two groups")
    page = path.read_text(encoding="utf-8")
    assert "fall into 2 clusters (of 20 and 20 nodes)." in page
    assert "This partition has the largest exact ICL that was found, −" in page
    assert f"of the undirected network with {X.sum() // 2:,} edges" in page
    assert "the best was reached by" in page
    assert "<b>node" not in page
    assert "NMI (divided by the larger entropy)" in page
    held = pt.read_report(path)
    assert table(held, "crossed").caption.startswith("Nodes by cluster of the estimate")
    assert table(held, "crossed").columns[-1].name == "Nodes"
    assert [row[1:3] for row in table(held, "crossed").rows] in ([[20, 0], [0, 20]], [[0, 20], [20, 0]])
    assert len(figure(held, "drawing")["links"]) == X.sum() // 2


def test_what_needs_draws_is_refused(fit, tmp_path):
    with pytest.raises(ValueError, match="data is for estimates from draws"):
        pt.report(fit, data=np.zeros(40), path=tmp_path / "page.html")


def test_the_matrix_has_the_mean_over_the_dyads_of_a_pixel(monkeypatch, fit):
    full = matrix_pixels(fit)
    assert (full == fit.reordered().toarray()).all()
    monkeypatch.setattr(sys.modules["partita.results.network_matrix"], "PIXELS", 8)
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
    page = path.read_text(encoding="utf-8")
    assert 'id="fig-drawing"' not in page
    assert "Which nodes are uncertain is not known" in page


def test_series_of_labels_have_the_names_of_nodes(fit):
    pytest.importorskip("pandas")
    series = fit.to_pandas()["cluster"]
    assert series.index[3] == "<b>node 3</b>"
    assert (series.to_numpy() == fit.labels).all()
    runs = fit.runs_to_pandas()
    assert len(runs) == len(fit.runs)
    assert runs["icl"].is_monotonic_decreasing


def test_a_browser_shows_the_page(fit, tmp_path):
    path = pt.report(fit, path=tmp_path / "page.html")
    with chromium(tmp_path / "profile") as browser:
        browser.get(path.as_uri())
        figure = browser.find_element("css selector", "#fig-map")
        assert figure.get_attribute("data-view") == "0,40"
        browser.execute_script("document.getElementById('zoom-in').click()")
        assert figure.get_attribute("data-view") == "10,30"
        browser.execute_script("zoom.selectedIndex = 1; zoom.dispatchEvent(new Event('change'))")
        assert figure.get_attribute("data-view") == "0,20"
        marks = "return [...document.querySelectorAll('#fig-drawing .mark')].map(mark => Number(mark.dataset.cluster))"
        assert {*browser.execute_script(marks)} == {0, 1}
        search = browser.find_element("css selector", "input[data-table=items]")
        search.send_keys("node 17")
        assert browser.find_element("id", "items-count").text == "1 of 40"
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


@pytest.mark.parametrize(("edges", "shown"), [("real", "Mean weight"), ("signed", "P(-1)")])
def test_the_page_of_edges_with_marks_shows_them(tmp_path, edges, shown):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 20)) * (rng.random((20, 20)) < 0.4)
    np.fill_diagonal(X, 0)
    X = X if edges == "real" else np.sign(X)
    fit = StochasticBlockModel(edges=edges).maximize(X, restarts=2, rng=1)
    page = pt.report(fit, path=tmp_path / "page.html").read_text()
    assert shown in page
    assert "on edges that are there" in page or "Of edges that are there" in page


def test_nodes_in_doubt_are_those_of_the_draws(tmp_path):
    """A node between two groups: its probabilities are those of the similarity matrix of the same draws."""
    _, X = planted(20)
    X[0] = X[:, 0] = 0
    X[0, [2, 4, 1, 3]] = X[[2, 4, 1, 3], 0] = 1
    names = [f"n{i}" for i in range(20)]
    model = StochasticBlockModel(directed=False)
    graph = as_graph(X, directed=False, nodes=names)
    fit = model.maximize(graph, rng=1)
    chain = model.sample(graph, draws=300, warmup=100, chains=2, rng=1)
    page = pt.read_report(pt.report(fit, chain, path=tmp_path / "page.html"))
    listed = table(page, "items")
    similarity = pt.similarity(chain)
    others = (fit.labels == fit.labels[0]) & (np.arange(20) != 0)
    rows = {row[0]: row for row in listed.rows}
    assert rows["n0"][2] == pytest.approx(similarity[0, others].mean(), abs=1e-6)
    assert [row[2] for row in listed.rows] == sorted(row[2] for row in listed.rows)
    assert facts(page, "diagnostics")["Posterior draws"] == "600 in 2 chains"


def test_chains_that_have_not_mixed_and_doubts_come_first(tmp_path):
    karate, model = load_karate().data, StochasticBlockModel(directed=False)
    fit, chain = model.maximize(karate, rng=1), model.sample(karate, draws=500, warmup=500, rng=1)
    assert "The chains have not mixed" in chain.notes[0]
    scored = pt.models.held_out(model, karate, rng=1)
    page = pt.read_report(pt.report(fit, scored, chain, path=tmp_path / "page.html"))
    assert page.notes[: len(chain.notes)] == chain.notes
    assert re.search(r"Assignment is uncertain for \d+ nodes? \(.*; certainty below 0.5\)", page.answer)
    assert "8 of them linked, were hidden from the model, which predicts them no better than the density" in page.answer
    text = (tmp_path / "page.html").read_text()
    parts = (
        "clusters-section",
        "items-section",
        "prediction-section",
        "blocks-section",
        "matrix-section",
        "drawing-section",
    )
    places = [text.index(f'<section id="{part}">') for part in parts]
    assert places == sorted(places)


def test_a_page_samples_nothing_and_says_what_is_not_known(fit, tmp_path, monkeypatch):
    monkeypatch.setattr(StochasticBlockModel, "sample", None)
    monkeypatch.setattr(StochasticBlockModel, "maximize", None)
    page = pt.read_report(pt.report(fit, path=tmp_path / "page.html"))
    assert page.notes == fit.notes
    assert "Which nodes are uncertain is not known" in page.notes[0]
    assert "Whether the model predicts unseen edges is not known" in page.notes[1]
    monkeypatch.undo()
    scored = pt.models.held_out(fit.model, fit.graph, share=0.2, rng=2, restarts=1)
    given = pt.read_report(pt.report(fit, scored, path=tmp_path / "page.html"))
    assert facts(given, "prediction")["AUC"] == f"{scored.auc:.3f}"


def test_what_is_of_other_networks_or_results_is_refused(fit, tmp_path):
    chain = StochasticBlockModel(directed=False).sample(planted(10)[1], draws=4, warmup=1, chains=1, rng=1)
    with pytest.raises(ValueError, match="Chain has 10 items, but the fit of a block model has 40"):
        pt.report(fit, chain, path=tmp_path / "page.html")
    scored = pt.models.held_out(fit.model, fit.graph, rng=2, restarts=1)
    with pytest.raises(TypeError, match="HeldOut does not belong to the estimate"):
        pt.report(pt.estimate(chain, rng=1), scored, path=tmp_path / "page.html")


def test_the_map_has_the_shades_of_the_shares(monkeypatch, fit):
    drawn = matrix_map(fit)
    shades = np.frombuffer(base64.b64decode(drawn["z"]), np.uint8).reshape(40, 40)
    assert ((shades > 0) == (fit.reordered().toarray() > 0)).all()
    assert drawn["clusters"] == [[0, 0, 20], [1, 20, 40]]
    assert drawn["names"][0] == str(fit.graph.names[fit.order[0]])
    monkeypatch.setattr(sys.modules["partita.results.network_matrix"], "PIXELS", 7)
    coarse = matrix_map(fit)
    place = np.arange(40) * 7 // 40
    assert coarse["edges"] == [int(np.searchsorted(place, at)) for at in range(8)]
    assert len(coarse["values"]) == 101


def test_the_page_of_a_nested_fit_shows_its_levels(tmp_path):
    nested = pt.models.NestedBlockModel(directed=False).maximize(planted(24)[1], restarts=1, rng=1)
    page = pt.read_report(pt.report(nested, path=tmp_path / "page.html"))
    assert [row[1] for row in table(page, "levels").rows] == [level.n_clusters for level in nested.levels]
    assert ("groups" in page.tables) == (len(nested.levels) > 1)
    assert not any("Which nodes are uncertain" in note for note in page.notes)  # a nested model has no sampler
