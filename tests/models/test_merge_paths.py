"""What `maximize` returns is the highest point of its own path of merges, in every model, from a single run too."""

import numpy as np
import pytest

from partita.models import GaussianDPM, LatentBlockModel, LayeredBlockModel, MixtureDPM, StochasticBlockModel


def undirected(rng, n, rate):
    upper = np.triu(rng.random((n, n)) < rate, 1)
    return (upper | upper.T).astype(int)


def binary(rng, n, rate):
    return (rng.random((n, n)) < rate).astype(int)


TWO_LAYERS = LayeredBlockModel({"a": StochasticBlockModel(directed=False), "b": StochasticBlockModel(loops=True)})
#: Seeds whose climbs end below a cut of their path are among the first of each.
MODELS = {
    "undirected": (StochasticBlockModel(directed=False), lambda rng: undirected(rng, 20, 0.3), 40),
    "directed": (StochasticBlockModel(loops=True), lambda rng: binary(rng, 14, 0.3), 40),
    "affiliation": (
        StochasticBlockModel(directed=False, blocks="affiliation"), lambda rng: undirected(rng, 20, 0.3), 20,
    ),
    "layers": (TWO_LAYERS, lambda rng: {"a": undirected(rng, 12, 0.3), "b": binary(rng, 12, 0.3)}, 65),
    "mixture": (MixtureDPM(), lambda rng: {"a": rng.normal(size=20), "b": rng.integers(0, 3, 20).astype(str)}, 20),
    "Gaussian": (GaussianDPM("diag"), lambda rng: rng.normal(size=(15, 2)), 20),
}  # fmt: skip


@pytest.mark.parametrize("restarts", [1, 3])
@pytest.mark.parametrize("name", MODELS)
def test_no_cut_of_the_path_is_above_the_fit(name, restarts):
    model, data, seeds = MODELS[name]
    for seed in range(seeds):
        fit = model.maximize(data(np.random.default_rng(seed)), rng=seed, restarts=restarts)
        assert fit.path.icl.max() <= fit.icl + 1e-9


@pytest.mark.parametrize("restarts", [1, 10])
def test_no_cut_of_the_path_of_a_matrix_is_above_the_fit(restarts):
    for seed in range(15):
        matrix = binary(np.random.default_rng(seed), 12, 0.4)
        fit = LatentBlockModel().maximize(matrix, rng=seed, restarts=restarts)
        assert fit.path.icl.max() <= fit.icl + 1e-9
        assert fit.icl == pytest.approx(LatentBlockModel().icl(matrix, fit.rows, fit.columns), abs=1e-9)
