"""Items that cannot leave are not scored again until a cluster changes. A sampler that is restored before every sweep
knows of no such item: both must draw the same partitions."""

import numpy as np
import pytest

from partita.models import FiniteMixture, GaussianDPM, MixtureDPM, SplitMergeMoves, WishartGrid
from partita.models.chains.plan import make_plan

pytestmark = pytest.mark.filterwarnings("ignore:.* no observed cell")

SWEEPS = 150
MODELS = {
    "diag": GaussianDPM("diag"),
    "full": GaussianDPM("full", discount=0.3, alpha=1.0),
    "hyperprior": GaussianDPM("full", hyperprior=WishartGrid()),
    "finite": GaussianDPM("diag", components=FiniteMixture()),
    "table": MixtureDPM(),
    "many proposals": GaussianDPM("diag", moves=SplitMergeMoves(5)),
}


def sampler_of(model, X):
    inputs, _ = model._inputs(X)
    return model.samplers(inputs, make_plan(SWEEPS, 20, 1, 1, 7))[0]


def data(spread, gaps):
    rng = np.random.default_rng(3)
    X = spread * rng.normal(size=(6, 2))[rng.integers(6, size=150)] + rng.normal(size=(150, 2))
    return np.where(rng.random(X.shape) < gaps, np.nan, X)


def assert_same_draws(model, X, sweeps=SWEEPS):
    knowing, forgetful = sampler_of(model, X), sampler_of(model, X)
    labels, stats = knowing.advance(sweeps, 0, 1)
    for sweep in range(sweeps):
        drawn, drawn_stats = forgetful.advance(1, 0, 1)
        np.testing.assert_array_equal(drawn[0], labels[sweep])
        np.testing.assert_allclose(drawn_stats[0], stats[sweep], rtol=1e-9)
        forgetful.restore(forgetful.state())
    assert len(np.unique(labels, axis=0)) > 1


@pytest.mark.parametrize("spread", [2.0, 6.0, 30.0])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_known_of_items_changes_no_draw(name, spread):
    assert_same_draws(MODELS[name], data(spread, 0.2 if name == "table" else 0.0))


def test_knowledge_ends_with_the_move_of_an_item():
    """Long tails and few clusters: moves of single items change what others may do. Without `forget` after a move, some
    of these chains differ."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = 3.0 * rng.integers(3, size=(100, 1)) + rng.standard_t(2, size=(100, 1))
        assert_same_draws(GaussianDPM("diag", alpha=0.01, b=0.1 * X.var(), moves=SplitMergeMoves(0)), X, 300)
