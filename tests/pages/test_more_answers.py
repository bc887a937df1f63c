"""Partial clustering, parameters, tree and Monte Carlo error on the page: the numbers are those of the results."""

import re

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from partita.results.drawings import curve_drawing, interval_drawing, tree_drawing
from support.pages import table, text

DRAWS = make_draws(24, 300, 3, doubt=0.1, rng=1)


@pytest.fixture(scope="module")
def answers():
    best = pt.estimate(DRAWS, rng=1)
    theta = np.random.default_rng(1).normal(size=(300, 24, 2)) + DRAWS[:, :, None]
    return best, {
        "partial": pt.partial_clustering(DRAWS, 0.5, rng=1),
        "parameters": pt.cluster_parameters(best, theta),
        "tree": pt.hierarchy(best),
        "error": pt.monte_carlo_error(best, rng=1),
    }


def test_the_page_has_the_numbers_of_the_results(answers, tmp_path):
    best, found = answers
    page = pt.report(best, *reversed(found.values()), path=tmp_path / "page.html")
    held = pt.read_report(page)
    assert f"{found['partial'].n_items} of 24 items" in text(held, "partial")
    assert [row[1] for row in table(held, "partial").rows][4] == found["partial"].n_items
    rows = table(held, "parameters").rows
    assert [row[0] for row in rows] == np.repeat(np.arange(best.n_clusters), 2).tolist()
    np.testing.assert_allclose([row[3] for row in rows], found["parameters"].clusters.mean.ravel())
    assert len(table(held, "tree").rows) == len(found["tree"].parents)
    assert text(held, "error") == found["error"].in_words()
    html = page.read_text()
    for name in ("partial", "parameters", "tree"):
        assert f'id="{name}-section"' in html
        assert f'href="#{name}-section"' in html
    again = pt.read_report(page).write(tmp_path / "again.html").read_text()
    assert "Monte Carlo error" in again
    assert 'id="tree-section"' in again


def test_a_page_without_them_has_no_sections(answers, tmp_path):
    html = pt.report(answers[0], path=tmp_path / "page.html").read_text()
    assert not re.search(r"(partial|parameters|tree)-section", html)
    assert f"± {answers[0].standard_error:.2g}" in html


def test_drawings_show_values_to_scale(answers):
    curve = curve_drawing(np.array([1.0, 0.5, 0.0]), 3)
    points = [tuple(map(float, p.split(","))) for p in curve["lines"][-1][0].split()]
    assert points[1] == pytest.approx(np.mean([points[0], points[2]], axis=0))
    tree = answers[1]["tree"]
    drawn = tree_drawing(tree)
    shown = [word for *_, anchor, word in drawn["words"] if anchor == "start"]
    assert shown == [f"{share:.2f}" for share in tree.support.transfer if not np.isnan(share)]
    assert len(interval_drawing(answers[1]["parameters"], 1)["dots"]) == answers[1]["parameters"].clusters.mean.size


def test_what_does_not_belong_to_the_estimate_is_refused(answers, tmp_path):
    best, found = answers
    path = tmp_path / "page.html"
    fewer = DRAWS[:, :20]
    with pytest.raises(ValueError, match="PartialClustering has 20 items, but the estimate has 24"):
        pt.report(best, pt.partial_clustering(fewer, 0.5, rng=1), path=path)
    with pytest.raises(ValueError, match="Hierarchy has 20"):
        pt.report(best, pt.hierarchy(fewer, rng=1), path=path)
    other = pt.cluster_parameters(np.zeros(24, int), np.zeros((300, 24)), DRAWS)
    with pytest.raises(ValueError, match="parameters are those of another partition"):
        pt.report(best, other, path=path)
    with pytest.raises(ValueError, match="the ball is around another partition"):
        pt.report(best, pt.credible_ball(np.zeros(24, int), DRAWS), path=path)
    coarse = pt.estimate(DRAWS, search=pt.Search(max_clusters=1), rng=1)
    with pytest.raises(ValueError, match="profiles are those of another partition"):
        pt.report(best, pt.profiles(coarse, np.ones((24, 1)) * np.arange(24)[:, None]), path=path)
    pairs = pt.estimate(pt.as_similarity(pt.similarity(DRAWS)), "binder", rng=1)
    with pytest.raises(TypeError, match="Hierarchy does not belong to an estimate from pair probabilities"):
        pt.report(pairs, found["tree"], path=path)
    with pytest.raises(TypeError, match=r"int does not belong to the estimate, which takes .*PartialClustering"):
        pt.report(best, 3, path=path)
    with pytest.raises(ValueError, match="Hierarchy is given twice"):
        pt.report(best, found["tree"], found["tree"], path=path)
    assert not path.exists()
