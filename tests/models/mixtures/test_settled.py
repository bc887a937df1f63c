"""Items that cannot leave are not scored again until a cluster changes. A sampler that is restored before every sweep
knows of no such item: both must draw the same partitions."""

import numpy as np
import pytest

from partita.models import FiniteMixture, GaussianDPM, MixtureDPM, WishartGrid
from partita.models.plan import make_plan

pytestmark = pytest.mark.filterwarnings("ignore:.* no observed cell")

SWEEPS = 150
MODELS = {
    "diag": GaussianDPM("diag"),
    "full": GaussianDPM("full", discount=0.3, alpha=1.0),
    "hyperprior": GaussianDPM("full", hyperprior=WishartGrid()),
    "finite": GaussianDPM("diag", components=FiniteMixture()),
    "table": MixtureDPM(),
    "many proposals": GaussianDPM("diag", split_merge=5),
}


def sampler_of(model, X):
    inputs, _ = model._inputs(X)
    return model.samplers(inputs, make_plan(SWEEPS, 20, 1, 1, 7))[0]


def data(spread, gaps):
    rng = np.random.default_rng(3)
    X = spread * rng.normal(size=(6, 2))[rng.integers(6, size=150)] + rng.normal(size=(150, 2))
    return np.where(rng.random(X.shape) < gaps, np.nan, X)


@pytest.mark.parametrize("spread", [2.0, 6.0, 30.0])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_known_of_items_changes_no_draw(name, spread):
    X = data(spread, 0.2 if name == "table" else 0.0)
    knowing, forgetful = sampler_of(MODELS[name], X), sampler_of(MODELS[name], X)
    labels, stats = knowing.advance(SWEEPS, 0, 1)
    for sweep in range(SWEEPS):
        drawn, drawn_stats = forgetful.advance(1, 0, 1)
        np.testing.assert_array_equal(drawn[0], labels[sweep])
        np.testing.assert_allclose(drawn_stats[0], stats[sweep], rtol=1e-9)
        forgetful.restore(forgetful.state())
    assert len(np.unique(labels, axis=0)) > 1
