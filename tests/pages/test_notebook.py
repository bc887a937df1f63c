"""Every result shows itself in a notebook: short, and with its text escaped."""

import dataclasses

import numpy as np
import pytest

import partita as pt
from partita.models import StochasticBlockModel
from partita.models.networks.other_methods import variational_em
from partita.proofs.bounds import lower_bound
from partita.uncertainty.ball import credible_ball
from partita.uncertainty.certainty import cluster_stability, item_certainty
from partita.uncertainty.diagnostics import diagnostics
from partita.uncertainty.merges import merge_tree
from partita.uncertainty.modes import modes
from partita.uncertainty.partial import partial_clustering

DRAWS = pt.datasets.make_draws(12, 60, n_clusters=3, rng=1)
GRAPH = np.kron(np.eye(2, dtype=int), np.ones((6, 6), int)) - np.eye(12, dtype=int)


def results():
    best = pt.estimate(DRAWS, rng=1)
    fit = StochasticBlockModel(directed=False).maximize(GRAPH, restarts=2, rng=1)
    yield best
    yield best.sample
    yield credible_ball(best)
    yield item_certainty(best)
    yield cluster_stability(best)
    yield merge_tree(best)
    yield lower_bound(best, seconds=0.1)
    yield modes(DRAWS, 2, rng=1)
    yield partial_clustering(DRAWS, 0.5, rng=1)
    yield diagnostics(DRAWS.reshape(2, 30, 12), rng=1)
    yield pt.weights_for(DRAWS, "vi", n_clusters=2, rng=1)
    yield pt.datasets.load_galaxies()
    yield pt.models.GaussianDPM(covariance="diag").sample(np.arange(6.0)[:, None], draws=5, warmup=5, chains=2, rng=1)
    yield from (fit, fit.path, fit.blocks(), fit.graph, variational_em(GRAPH, [1, 2], directed=False, rng=1))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_result_shows_itself():
    for result in results():
        page = result._repr_html_()
        assert page.startswith(("<table>", "<p>")), type(result)
        assert len(repr(result)) < 1500, type(result)


def test_names_are_escaped():
    from partita._support.shown import facts_table, rows_table

    assert "<b>" not in facts_table("<b>", [("<b>", "<b>")])
    assert "<b>" not in rows_table("<b>", ["<b>"], [["<b>"]])


def test_the_class_name_of_a_loss_and_advice_are_escaped():
    """A subclass may have any name."""
    loss = type("<b>", (pt.CustomLoss,), {})(*[np.square(np.arange(13.0))] * 3, lambda joint, estimate, draw: draw)
    best = pt.estimate(DRAWS, rng=1)
    assert "<b>" not in dataclasses.replace(credible_ball(best), loss=loss)._repr_html_()
    found = dataclasses.replace(diagnostics(DRAWS.reshape(2, 30, 12), rng=1), advice=("<b>",))
    assert "<b>" not in found._repr_html_()
