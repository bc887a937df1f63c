"""How the work of the main jobs grows from n to 4 n: counted, not timed, so that load and luck do not matter.

The core counts its steps (`cpp/common/work.hpp`); what is done in Python is counted by the calls it makes and the most
memory it holds.
"""

from __future__ import annotations

import math
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

import partita as pt
from partita import _core
from partita.losses.problem import core_problem
from partita.search.core import native_options

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # few draws, few sweeps

Job = tuple[Callable[[int], Any], Callable[[Any], object], int, float]


def small_clusters(n: int, sizes: tuple[int, ...] = (1, 1, 1, 1, 1, 1, 1, 2, 2, 3), n_draws: int = 20) -> NDArray[Any]:
    """Draws with many clusters of these sizes, some labels moved at random."""
    rng = np.random.default_rng(1)
    base = rng.permutation(np.repeat(np.arange(n), rng.choice(sizes, n))[:n])
    draws = np.tile(base, (n_draws, 1))
    places = rng.random(draws.shape) < 0.03
    draws[places] = base[rng.integers(n, size=places.sum())]
    return draws


def few_clusters(n: int, n_draws: int = 40, k: int = 6) -> NDArray[Any]:
    """Draws with few clusters, some labels drawn anew."""
    rng = np.random.default_rng(2)
    draws = np.tile(rng.integers(k, size=n), (n_draws, 1))
    places = rng.random(draws.shape) < 0.1
    draws[places] = rng.integers(k, size=places.sum())
    return draws


def pairs(n: int) -> pt.Similarity:
    """A chain of probable pairs, and improbable ones at random."""
    rng = np.random.default_rng(3)
    near, a, b = np.arange(n - 1), rng.integers(n, size=n), rng.integers(n, size=n)
    first, second = np.r_[near, np.minimum(a, b)], np.r_[near + 1, np.maximum(a, b)]
    probability = np.r_[rng.beta(4, 3, n - 1), rng.beta(1, 6, n)]
    kept = second > first + np.r_[np.zeros(n - 1), np.ones(n)]
    half = sp.coo_array((probability[kept], (first[kept], second[kept])), shape=(n, n)).tocsr()
    half.data = np.minimum(half.data, 0.99)
    return pt.as_similarity(half + half.T)


def network(n: int, k: int = 4, degree: int = 10) -> Any:
    """A planted partition."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(n, size=(2, n * degree // 2))
    b = np.where(rng.random(a.size) < 0.8, b - b % k + a % k, b)
    kept = (a != b) & (b < n)
    half = sp.coo_array((np.ones(kept.sum()), (a[kept], b[kept])), shape=(n, n)).tocsr()
    whole = half + half.T
    whole.data[:] = 1.0
    return whole


def table(n: int, k: int = 4) -> NDArray[Any]:
    """Clusters far apart in three columns."""
    rng = np.random.default_rng(5)
    return rng.normal(0, 9, (k, 3))[np.arange(n) % k] + rng.normal(size=(n, 3))


def with_noise(n: int) -> Any:
    """Base clusterings that call a tenth of the labels noise."""
    labels = few_clusters(n, 8).T
    labels[np.random.default_rng(6).random(labels.shape) < 0.1] = -1
    return pt.ensembles.as_base(labels, noise=-1)


def noisy_draws(n: int) -> Any:
    """Draws that call a tenth of the labels noise, and a partition to begin with in which no item is alone."""
    draws = few_clusters(n, 8)
    start = draws[:1].astype(np.uint32)
    draws[np.random.default_rng(6).random(draws.shape) < 0.1] = -1
    return pt.as_sample(draws, noise=-1), start


def refined_with_noise(both: Any) -> object:
    sample, start = both
    options = native_options(sample, pt.Search(runs=1, n_jobs=1), np.random.default_rng(1))
    return _core.refine_with_noise(core_problem(sample, pt.VI()), start, options, None)


def visits(n: int) -> Any:
    """A long table: five visits of each patient, of one kind of curve or the other."""
    patient, time = np.repeat(np.arange(n), 5), np.tile(np.arange(5.0), n)
    weight = patient % 2 * time + np.random.default_rng(7).normal(size=5 * n)
    return {"patient": patient, "time": time, "weight": weight}


def linkage(n: int) -> tuple[Any, list[tuple[str, str, float]]]:
    """A linkage of n records, and ten pairs that arrive afterwards."""
    names = [f"r{i}" for i in range(n)]
    listed = [(names[i], names[i + 1], 0.9) for i in range(0, n - 1, 2)]
    new = [(names[i], names[i + 2], 0.8) for i in range(0, 20, 2)]
    return pt.estimate(pt.as_similarity(listed, names=names), "binder", rng=1), new


def searched(loss: str = "vi", method: str = "search", **settings: Any) -> Callable[[Any], object]:
    search = pt.Search(n_jobs=1, **settings)
    return lambda draws: pt.estimate(draws, loss, method, search, rng=1, check_draws=False)


def sized(*sizes: int) -> Callable[[int], NDArray[Any]]:
    return lambda n: small_clusters(n, sizes)


def draws_file(n: int) -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """A csv file of draws, and its folder, which lasts as long."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "draws.csv")
    np.savetxt(path, few_clusters(n), fmt="%d", delimiter=",")
    return folder, path


MIXTURE = pt.models.GaussianDPM("diag")
CURVES = pt.models.MixtureDPM(curves=pt.models.Curves(id="patient", time="time"))
SBM = pt.models.StochasticBlockModel(directed=False)

#: What is made of n, what is done with it, n, and the largest exponent.
OF_THE_CORE: dict[str, Job] = {
    "search, lists": (small_clusters, searched(), 1000, 1.1),
    "search, lists, limit": (small_clusters, lambda z: searched(max_clusters=z.shape[1] // 2)(z), 1000, 1.15),
    "search, lists, nid": (small_clusters, searched("nid", runs=2), 500, 1.1),
    "search, lists, from a start": (
        small_clusters,
        lambda z: pt.estimate(z, "vi", search=pt.Search(runs=1, n_jobs=1), start=z[0], rng=1, check_draws=False),
        1000,
        1.1,
    ),
    "salso, lists": (small_clusters, searched(method="salso", runs=1), 1000, 1.1),
    "salso, lists, ten items": (sized(10, 12, 15), searched(method="salso", runs=1), 6000, 1.1),
    "greedy, lists": (small_clusters, searched(method="greedy", runs=1), 1000, 1.1),
    "draws, lists": (small_clusters, searched(method="draws"), 1000, 1.1),
    "search, tables": (few_clusters, searched(runs=2), 300, 1.3),
    "search, tables, nid": (few_clusters, searched("nid", runs=2), 300, 1.3),
    "salso, tables": (few_clusters, searched(method="salso", runs=2), 300, 1.3),
    "greedy, tables": (few_clusters, searched(method="greedy", runs=2), 300, 1.3),
    "draws, tables": (few_clusters, searched("nvi", "draws"), 300, 1.1),
    "pairs": (pairs, lambda s: pt.estimate(s, "binder", rng=1), 8000, 1.35),
    "ball": (few_clusters, lambda z: pt.credible_ball(z[0], z), 2000, 1.1),
    "ball, lists": (small_clusters, lambda z: pt.credible_ball(z[0], z), 2000, 1.1),
    "block model": (network, lambda g: SBM.maximize(g, restarts=1, rng=1), 300, 1.4),
    "mixture": (table, lambda x: MIXTURE.sample(x, draws=20, warmup=20, chains=1, rng=1), 2000, 1.2),
    "ensemble": (
        lambda n: few_clusters(n, 8).T,
        lambda b: pt.ensembles.NBCE(sampling=pt.models.Sampling(draws=5, warmup=5), truncation=12, random_state=1).fit(
            b
        ),
        500,
        1.1,
    ),
    "consensus with noise": (with_noise, lambda b: pt.ensembles.consensus(b, rng=1), 2000, 1.2),
    "refinement with noise": (noisy_draws, refined_with_noise, 2000, 1.1),
}

#: The same for jobs that take more than a moment; without block models and mixtures: how long a chain keeps the
#: clusters that it began with, and how many items its sweeps may skip, changes the counts by more than the limit.
SLOW: dict[str, Job] = {
    "pairs, vi lower bound": (pairs, lambda s: pt.estimate(s, "vi-lower-bound", rng=1), 1000, 1.35),
} | {
    name: (make, run, 8 * n, limit)
    for name, (make, run, n, limit) in OF_THE_CORE.items()
    if name not in ("block model", "mixture")
}

#: What is done in Python and NumPy, with the largest exponent of the memory; the number of calls does not grow.
OF_PYTHON: dict[str, Job] = {
    "certainty": (few_clusters, lambda z: pt.item_certainty(z[0], z), 2000, 1.1),
    "certainty, lists": (small_clusters, lambda z: pt.item_certainty(z[0], z), 2000, 1.1),
    "memberships": (few_clusters, lambda z: pt.memberships(z[0], z), 2000, 1.1),
    "update": (linkage, lambda both: pt.update(*both, rng=1), 2000, 1.1),
    "profiles": (
        lambda n: (pt.estimate(few_clusters(n), "vi", "salso", pt.Search(runs=1), rng=1, check_draws=False), table(n)),
        lambda both: pt.profiles(*both, rng=1),
        500,
        1.1,
    ),
    "reading": (draws_file, lambda file: pt.read_draws(file[1]), 500, 1.1),
}


def exponent(count: Callable[[Callable[[Any], object], Any], int], job: Job) -> float:
    """The exponent of what is counted, from n to 4 n."""
    make, run, n, _ = job
    small, large = (count(run, make(size)) for size in (n, 4 * n))
    assert small > 0
    return math.log(large / small, 4)


def steps(run: Callable[[Any], object], made: Any) -> int:
    before = _core.counted_steps()
    run(made)
    return _core.counted_steps() - before


def calls(run: Callable[[Any], object], made: Any) -> int:
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        run(made)
    finally:
        sys.setprofile(None)
    return count


def bytes_held(run: Callable[[Any], object], made: Any) -> int:
    tracemalloc.start()
    try:
        run(made)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def check(count: Callable[[Callable[[Any], object], Any], int], job: Job) -> None:
    line_by_line = job is OF_PYTHON["reading"]
    assert exponent(count, job) < (0.2 if count is calls and not line_by_line else job[3])


@pytest.mark.parametrize("name", OF_THE_CORE)
def test_steps_of_the_core(name: str) -> None:
    check(steps, OF_THE_CORE[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_steps_of_large_jobs(name: str) -> None:
    check(steps, SLOW[name])


def test_steps_of_a_sweep_of_a_block_model() -> None:
    """Without the start of the chain, which is a search."""

    def sampled(draws: int) -> Callable[[Any], object]:
        return lambda graph: SBM.sample(graph, draws=draws, warmup=5, chains=1, rng=1)

    check(lambda run, graph: steps(run, graph) - steps(sampled(5), graph), (network, sampled(25), 300, 1.1))


@pytest.mark.parametrize("n", [800, pytest.param(3200, marks=pytest.mark.slow)])
def test_steps_of_curves(n: int) -> None:
    """Of the cheapest of four chains, 4.5 steps per item and sweep; a chain that keeps a third cluster takes more.

    Passes over all items count, so that one for each item fails here: 800 and 3,200 steps per item.
    """

    def sampled(seed: int) -> Callable[[Any], object]:
        return lambda x: CURVES.sample(x, draws=10, warmup=10, chains=1, rng=seed)

    check(lambda run, x: min(steps(sampled(seed), x) for seed in range(4)), (visits, sampled(0), n, 1.1))


@pytest.mark.parametrize("count", [calls, bytes_held])
@pytest.mark.parametrize("name", OF_PYTHON)
def test_work_of_python(name: str, count: Callable[[Callable[[Any], object], Any], int]) -> None:
    make, run, n, _ = OF_PYTHON[name]
    run(make(n))  # what is imported and kept for later calls
    check(count, OF_PYTHON[name])
