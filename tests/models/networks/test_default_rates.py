"""Default priors of counts and weights: what was observed, each dyad once."""

import numpy as np
import pytest

import partita as pt

MODELS = pt.models


def counts_with_gaps(directed=True, loops=False, seed=1):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3.0, (12, 12)).astype(float)
    counts[rng.random(counts.shape) < 0.6] = np.nan
    if not directed:
        counts = np.triu(counts) + np.triu(counts, 1).T
    if not loops:
        np.fill_diagonal(counts, 0)
    return counts


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("loops", [True, False])
def test_the_default_rate_is_one_over_the_mean_of_the_observed_dyads(directed, loops):
    counts = counts_with_gaps(directed, loops)
    kept = np.ones((12, 12), bool) if directed else np.triu(np.ones((12, 12), bool))
    if not loops:
        np.fill_diagonal(kept, False)
    b0 = 1 / np.nanmean(counts[kept])
    labels = np.arange(12) // 6
    default, given = (
        MODELS.StochasticBlockModel(directed, loops, edges="counts", b0=b).icl(counts, labels) for b in (None, b0)
    )
    assert default == pytest.approx(given, rel=1e-12)


def test_a_loop_is_half_a_dyad_under_degree_correction():
    counts = np.nan_to_num(counts_with_gaps(False, True))
    b0 = 12**2 / 2 / np.triu(counts).sum()  # the exposure of all dyads over the number of edges
    labels = np.arange(12) // 6
    default, given = (
        MODELS.StochasticBlockModel(False, True, edges="counts", degree_corrected=True, b0=b).icl(counts, labels)
        for b in (None, b0)
    )
    assert default == pytest.approx(given, rel=1e-12)


def test_the_default_rate_of_a_matrix_and_the_grid_of_nested_blocks_leave_out_what_is_missing():
    counts = counts_with_gaps(loops=True)
    rows, columns = np.arange(12) // 6, np.arange(12) // 4
    b0 = 1 / np.nanmean(counts)
    default, given = (MODELS.LatentBlockModel(edges="counts", b0=b).icl(counts, rows, columns) for b in (None, b0))
    assert default == pytest.approx(given, rel=1e-12)
    nested = MODELS.NestedBlockModel(edges="counts")
    square = counts_with_gaps()
    off = ~np.eye(12, dtype=bool)
    assert nested._objective(nested._graph(square)).grid.second[20] == pytest.approx(
        nested.shape / np.nanmean(square[off])
    )


def test_hidden_dyads_do_not_lower_the_prior_mean():
    counts = np.random.default_rng(4).poisson(3.0, (30, 30)).astype(float)
    np.fill_diagonal(counts, 0)
    fit = MODELS.held_out(MODELS.StochasticBlockModel(edges="counts"), counts, share=0.5, rng=1).fit
    assert fit.edges.first / fit.edges.second == pytest.approx(3.0, rel=0.1)


def test_the_default_prior_of_undirected_weights_takes_each_edge_once():
    rng = np.random.default_rng(2)
    weights = np.triu(rng.normal(2.0, 1.0, (10, 10)) * (rng.random((10, 10)) < 0.5))
    np.fill_diagonal(weights, 9.0)  # loops would count half
    edges = weights[weights != 0]
    model = MODELS.StochasticBlockModel(False, True, edges="real")
    marks = model._edge_model(model._graph(weights + np.triu(weights, 1).T)).marks
    assert marks.parameters == pytest.approx((edges.mean(), 0.1, 1.0, 0.1 * edges.var()))
