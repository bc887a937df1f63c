"""Every sampler gives up a sweep in the middle if it is asked to, and is otherwise unaffected."""

import numpy as np
import pytest

import partita as pt
from partita import _core
from partita.models import (
    GaussianDPM,
    LatentBlockModel,
    LayeredBlockModel,
    MixtureDPM,
    StochasticBlockModel,
)
from partita.models.chains import sampling

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 2))
GRAPH = (RNG.random((30, 30)) < 0.2).astype(int) * (1 - np.eye(30, dtype=int))
BASE = RNG.integers(3, size=(40, 5))
PLAN = {"draws": 3, "warmup": 0, "chains": 1}
LAYERS = {"a": StochasticBlockModel(), "b": StochasticBlockModel()}
RUNS = {
    "full": lambda: GaussianDPM().sample(X, **PLAN, rng=1),
    "diag": lambda: GaussianDPM("diag").sample(X, **PLAN, rng=1),
    "levels": lambda: MixtureDPM().sample({"a": [f"l{i % 40}" for i in range(60)]}, **PLAN, rng=1),
    "columns": lambda: MixtureDPM().sample({"a": X[:, 0], "b": [f"l{i % 4}" for i in range(60)]}, **PLAN, rng=1),
    "network": lambda: StochasticBlockModel().sample(GRAPH, **PLAN, rng=1),
    "matrix": lambda: LatentBlockModel().sample(GRAPH, **PLAN, rng=1),
    "layers": lambda: LayeredBlockModel(LAYERS).sample({"a": GRAPH, "b": GRAPH.T}, **PLAN, rng=1),
    "ensemble": lambda: pt.ensembles.NBCE(sampling=pt.models.Sampling(**PLAN), random_state=1).fit(BASE),
}


class SamplerMade(Exception):
    pass


def sampler_of(run, monkeypatch):
    def caught(plan, sampler):
        raise SamplerMade(sampler)

    monkeypatch.setattr(sampling, "check_room_for_draws", caught)
    with pytest.raises(SamplerMade) as made:
        run()
    return made.value.args[0]


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_stop_is_obeyed_in_the_start_and_in_a_sweep(run, monkeypatch):
    stop = _core.StopFlag()
    begun = sampler_of(run, monkeypatch)
    free = begun.advance(2, 0, 1, stop)
    stop.request()
    for sampler in (sampler_of(run, monkeypatch), begun):
        done = sampler.sweeps
        with pytest.raises(_core.Stopped):
            sampler.advance(1, 0, 1, stop)
        assert sampler.sweeps == done
    for one, other in zip(free, sampler_of(run, monkeypatch).advance(2, 0, 1), strict=True):
        assert np.array_equal(one, other)
