"""Every block model searches as StochasticBlockModel does: the same starts, trial runs and given partitions."""

import numpy as np
import pytest

from partita.models import LatentBlockModel, LayeredBlockModel, StochasticBlockModel


def network(n, seed=1):
    """Two communities, with nodes that differ in degree."""
    rng = np.random.default_rng(seed)
    activity = rng.uniform(0.2, 1.0, n)
    rates = np.where(np.equal.outer(np.arange(n) % 2, np.arange(n) % 2), 0.5, 0.05)
    upper = np.triu(rng.random((n, n)) < rates * np.outer(activity, activity), 1)
    return (upper | upper.T).astype(int)


def kinds_of(fit):
    return [run.start for run in fit.runs]


@pytest.mark.parametrize(("corrected", "n"), [(False, 40), (True, 40), (True, 520)])
def test_one_layer_is_searched_as_a_network_alone(corrected, n):
    graph = network(n)
    sbm = StochasticBlockModel(directed=False, degree_corrected=corrected)
    alone = sbm.maximize(graph, restarts=8, rng=1, starts=[np.arange(n) % 2])
    layer = LayeredBlockModel({"one": sbm}).maximize({"one": graph}, restarts=8, rng=1, starts=[np.arange(n) % 2])
    assert kinds_of(layer) == kinds_of(alone)
    assert layer.icl == pytest.approx(alone.icl, abs=1e-6)


def test_matrices_make_as_many_trial_runs_as_networks():
    """Six runs must agree in a small network without degree correction, three with it."""
    matrix = np.kron(np.eye(2, dtype=int), np.ones((8, 9), dtype=int))
    assert len(LatentBlockModel().maximize(matrix, restarts=10, rng=1).runs) == 6
    assert len(LatentBlockModel(degree_corrected=True).maximize(matrix, restarts=10, rng=1).runs) == 3


def test_matrices_of_medium_size_start_with_a_periphery_under_degree_correction():
    matrix = network(520)[:, :20]
    fit = LatentBlockModel(degree_corrected=True).maximize(matrix, restarts=4, rng=1)
    assert "periphery" in kinds_of(fit)


def test_matrices_begin_at_given_partitions():
    rng = np.random.default_rng(3)
    rows, columns = rng.integers(3, size=20), rng.integers(2, size=15)
    matrix = (rng.random((20, 15)) < np.array([[0.9, 0.1], [0.2, 0.7], [0.5, 0.5]])[rows][:, columns]).astype(int)
    fit = LatentBlockModel().maximize(matrix, restarts=2, rng=1, starts=[(rows, columns)])
    assert kinds_of(fit)[0] == "given"
    assert fit.icl >= LatentBlockModel().icl(matrix, rows, columns) - 1e-9
    with pytest.raises(ValueError, match="columns must have 15 labels"):
        LatentBlockModel().maximize(matrix, starts=[(rows, rows)])
