"""Loops of degree-corrected networks: rates that agree with the model's own ICL."""

import numpy as np
import pytest

import partita as pt


def network(directed, seed=8):
    """Two clusters of four nodes, with loops."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(np.where(np.equal.outer(np.arange(8) // 4, np.arange(8) // 4), 1.2, 0.1)).astype(float)
    return counts if directed else np.triu(counts) + np.triu(counts, 1).T


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("pair", [(0, 0), (5, 5), (0, 1), (0, 6)])
def test_the_rate_of_a_pair_is_that_of_the_icl(directed, pair):
    """E[rate | X, z] = (x_ij + 1) p(X with one more edge ij, z) / p(X, z) for Poisson dyads."""
    settings = {"edges": "counts", "degree_corrected": True, "a0": 1.5, "b0": 0.7}
    model = pt.models.StochasticBlockModel(directed, True, **settings)
    counts = network(directed)
    fit = model.maximize(counts, rng=1)
    more = counts.copy()
    more[pair] += 1
    if not directed:
        more[pair[::-1]] = more[pair]
    rate = (counts[pair] + 1) * np.exp(model.icl(more, fit.labels) - model.icl(counts, fit.labels))
    assert fit.predict([pair])[0] == pytest.approx(rate, rel=1e-9)
    assert pt.models.edge_probability(fit, [pair])[0] < rate


def test_held_out_loops_are_scored_by_their_probability():
    model = pt.models.StochasticBlockModel(False, True, edges="counts", degree_corrected=True)
    scored = pt.models.held_out(model, network(False), share=0.4, rng=3)
    loops = [(i, i) for i in range(8)]
    fit = scored.fit
    shape, rate = fit.edges.first + 0.0, fit.edges.second  # the prior; the block's posterior adds edges and dyads
    blocks = fit.blocks()
    ends = np.asarray(fit.graph.adjacency.sum(axis=1)).ravel() + fit.graph.adjacency.diagonal()
    size, total = (np.bincount(fit.labels, w)[fit.labels] for w in (np.ones(8), 1 + ends))
    share = size**2 * (1 + ends) * (2 + ends) / (total * (total + 1)) / 2  # of a loop, E φ² / 2
    k = fit.labels
    expected = 1 - (1 + share / (rate + blocks.dyads[k, k])) ** -(shape + blocks.edges[k, k])
    assert pt.models.edge_probability(fit, loops) == pytest.approx(expected, rel=1e-9)
    assert np.isfinite(scored.log_score)
