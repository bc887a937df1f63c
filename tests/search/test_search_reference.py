"""The default search against enumeration: up to eight items it finds the least expected loss, every time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import partita as pt
from support import enumerated
from support import reference as ref
from support.strategies import random_sample

SAMPLES = 200
ITEMS = (1, 2, 3, 4, 5, 5, 6, 6, 7, 8)
LOSSES: list[tuple[str, dict[str, float]]] = [
    *((name, {}) for name in pt.losses.LOSSES),
    ("binder", {"a": 0.5, "b": 1.5}),
    ("binder", {"a": 1.5, "b": 0.5}),
    ("vi", {"a": 0.5, "b": 1.5}),
    ("vi", {"a": 1.5, "b": 0.5}),
]

each_loss = pytest.mark.parametrize(("name", "weights"), LOSSES, ids=str)


@dataclass(frozen=True)
class Problem:
    draws: np.ndarray
    weights: np.ndarray
    optima: dict[str, float]  # under the default bound on clusters

    @property
    def max_clusters(self) -> int:
        return int(self.draws.max()) + 1

    @property
    def sample(self):
        return pt.as_sample(self.draws, weights=self.weights)


def key(name: str, weights: dict[str, float]) -> str:
    return f"{name} {sorted(weights.items())}"


@cache
def problems() -> tuple[Problem, ...]:
    rng = np.random.default_rng(2021)
    found = []
    for index in range(SAMPLES):
        n = ITEMS[index % len(ITEMS)]
        draws, weights = random_sample(n, int(rng.integers(1, 11)), rng)
        losses, bound = enumerated.tables(draws), int(draws.max()) + 1
        optima = {key(name, w): enumerated.least(losses[name](**w), weights, n, bound) for name, w in LOSSES}
        found.append(Problem(draws, weights, optima))
    return tuple(found)


@each_loss
def test_quick_enumeration_is_the_slow_one(name, weights):
    formula = ref.LOSSES[name]
    for problem in problems()[1:5]:
        slow, _ = ref.best_estimates(
            problem.draws.tolist(),
            lambda x, y: formula(x, y, **weights),
            problem.weights,
            problem.max_clusters,
        )
        assert problem.optima[key(name, weights)] == pytest.approx(slow, abs=1e-12)


@each_loss
def test_default_settings_reach_the_enumerated_optimum(name, weights):
    loss = pt.losses.LOSSES[name](**weights)
    for index, problem in enumerate(problems()):
        found = pt.estimate(problem.sample, loss, rng=index)
        labels = found.labels.tolist()
        assert tuple(labels) == ref.canonical(labels)
        assert found.n_clusters == max(labels) + 1 <= problem.max_clusters
        assert found.expected_loss == pytest.approx(pt.expected_loss(labels, problem.sample, loss), abs=1e-12)
        assert found.expected_loss == pytest.approx(problem.optima[key(name, weights)], abs=1e-9), (
            f"problem {index}: {problem.draws.tolist()}, weights {problem.weights.tolist()}"
        )


@each_loss
def test_the_problems_are_not_trivial(name, weights):
    """In some the best draw is not the best partition: a search that returned a draw would fail."""
    loss = pt.losses.LOSSES[name](**weights)
    beaten = 0
    for problem in problems():
        best_draw = np.min(pt.expected_loss(problem.draws, problem.sample, loss))
        beaten += best_draw > problem.optima[key(name, weights)] + 1e-9
    assert beaten == 0 if name == "zero-one" else beaten > 0
