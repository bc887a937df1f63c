"""Estimates from pair probabilities: against enumeration, on any number of threads, under constraints, in time."""

import time

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.search import pair_graph
from support import forks
from support import pair_reference as ref

LOSSES = {
    "binder": (pt.Binder(), ref.binder),
    "binder weighted": (pt.Binder(a=1.0, b=2.0), lambda x, psm: ref.binder(x, psm, 1.0, 2.0)),
    "vi-lower-bound": (pt.VILowerBound(), ref.vi_lower_bound),
    "vi-lower-bound weighted": (pt.VILowerBound(a=0.7, b=1.5), lambda x, psm: ref.vi_lower_bound(x, psm, 0.7, 1.5)),
    "pear": (pt.ApproximateARI(), ref.one_minus_pear),
}
ONE_RUN = pt.Search(runs=2, n_jobs=1)


def random_matrix(rng, n, density=0.7):
    """Symmetric, ones on the diagonal, some pairs without any probability."""
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return upper + upper.T + np.eye(n)


def planted(rng, n_groups, noise=0.3):
    """Pairs of a sparse graph: groups of 1 to 6 items, some pairs missing, some of strangers."""
    sizes = rng.integers(1, 7, n_groups)
    group = np.repeat(np.arange(n_groups), sizes)
    left, right = np.triu_indices(group.size, 1)
    same = group[left] == group[right]
    kept = np.where(same, rng.random(left.size) < 0.9, rng.random(left.size) < 3 / group.size)
    chance = np.where(same, 1 - noise * rng.random(left.size), rng.random(left.size))
    return group.size, left[kept], right[kept], chance[kept]


def as_pairs(n, left, right, probability):
    from scipy.sparse import coo_array

    return pt.as_similarity(coo_array((probability, (left, right)), shape=(n, n)))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(12))
def test_small_problems_are_proven_and_equal_enumeration(name, seed):
    rng = np.random.default_rng(seed)
    loss, formula = LOSSES[name]
    psm = random_matrix(rng, int(rng.integers(2, 9)))
    best = pt.estimate(pt.as_similarity(psm), loss, search=ONE_RUN, rng=seed)
    assert best.proven
    assert best.components.proven == best.components.count
    assert best.expected_loss == pytest.approx(formula(best.labels, psm), abs=1e-12)
    assert best.expected_loss == pytest.approx(ref.best_value(psm, formula), abs=1e-9)
    assert best.bound().value == pytest.approx(best.expected_loss, abs=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_the_search_alone_finds_what_enumeration_finds(name, monkeypatch):
    """Components of 9 atoms are searched first: what the descent finds must be what the exact solution is."""
    rng = np.random.default_rng(5)
    loss, formula = LOSSES[name]
    psm = random_matrix(rng, 9, density=1.0)
    assert pt.estimate(pt.as_similarity(psm), loss, rng=1).expected_loss == pytest.approx(
        ref.best_value(psm, formula), abs=1e-9
    )


@pytest.mark.parametrize("seed", range(6))
def test_components_joined_to_larger_problems_are_the_sum_of_their_parts(seed):
    """Two problems side by side have the best partitions of both, and their components."""
    rng = np.random.default_rng(seed)
    one, two = random_matrix(rng, 6), random_matrix(rng, 7)
    both = np.zeros((13, 13))
    both[:6, :6], both[6:, 6:] = one, two
    for name in ("binder", "vi-lower-bound"):
        parts = [pt.estimate(pt.as_similarity(psm), name, search=ONE_RUN, rng=1) for psm in (one, two)]
        whole = pt.estimate(pt.as_similarity(both), name, search=ONE_RUN, rng=1)
        assert whole.components.count == sum(part.components.count for part in parts)
        assert np.array_equal(whole.labels[:6], parts[0].labels)
        assert np.array_equal(pt.canonical(whole.labels[6:]), parts[1].labels)


@pytest.mark.parametrize("loss", [pt.Binder(), pt.Binder(a=1.3, b=1.0), pt.Binder(a=0.4, b=1.0)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_similarity_of_draws_gives_the_binder_estimate_of_the_draws(loss, seed):
    draws = pt.datasets.make_draws(60, 150, 6, rng=seed)
    weights = np.random.default_rng(seed).random(150)  # so that hardly any two partitions tie
    sample = pt.as_sample(draws, weights=weights)
    of_draws = pt.estimate(sample, loss, rng=1, check_draws=False, search=pt.Search(max_clusters=np.inf))
    of_pairs = pt.estimate(pt.similarity(sample, sparse=True), loss, rng=1)
    assert of_pairs.expected_loss == pytest.approx(of_draws.expected_loss, rel=1e-9)
    assert np.array_equal(of_pairs.labels, of_draws.labels)


def test_answers_do_not_depend_on_threads():
    n, left, right, probability = planted(np.random.default_rng(1), 120, noise=0.6)
    pairs = as_pairs(n, left, right, probability)
    for loss in ("binder", "vi-lower-bound", "pear"):
        one, many = (pt.estimate(pairs, loss, search=pt.Search(runs=4, n_jobs=jobs), rng=3).labels for jobs in (1, 5))
        assert np.array_equal(one, many)


def test_linear_programs_prove_what_the_core_does_not(monkeypatch):
    """A component of 20 items that is no clean case; without the programs it stays open."""
    rng = np.random.default_rng(2)
    psm = np.clip(random_matrix(rng, 20, density=1.0) ** 0.7, 0, 1)
    np.fill_diagonal(psm, 1)
    pairs = pt.as_similarity(psm)
    with_programs = pt.estimate(pairs, "binder", rng=1)
    monkeypatch.setattr(pair_graph, "CUBES", 0)
    without = pt.estimate(pairs, "binder", rng=1)
    assert with_programs.proven
    assert not without.proven
    assert without.gap > 0
    assert without.bound(seconds=60).value == pytest.approx(with_programs.expected_loss, abs=1e-7)
    exact = pt.estimate(pairs, "binder", "exact", rng=1)
    assert exact.proven
    assert exact.expected_loss == pytest.approx(with_programs.expected_loss, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold(seed, monkeypatch):
    """No bound of the core is above the optimum, whatever partition it was made from."""
    monkeypatch.setattr(pair_graph, "CUBES", 0)
    rng = np.random.default_rng(seed)
    n = 17  # more than the exact solution takes
    psm = random_matrix(rng, n, density=0.6)
    for loss in (pt.Binder(), pt.VILowerBound()):
        quick = pt.estimate(pt.as_similarity(psm), loss, search=pt.Search(runs=1, zealous=0), rng=1)
        long = pt.estimate(pt.as_similarity(psm), loss, search=pt.Search(runs=32), rng=2)
        assert quick.gap is not None
        bound = quick.expected_loss - quick.gap * abs(quick.expected_loss)
        assert bound <= long.expected_loss + 1e-9
        assert long.expected_loss <= quick.expected_loss + 1e-9


def test_equal_probabilities_end():
    """Ties: every move must be a strict gain, or sweeps go round in circles."""
    n = 40
    ring = np.eye(n)
    for step in (1, 2, 3):
        ring += 0.5 * (np.eye(n, k=step) + np.eye(n, k=-step) + np.eye(n, k=n - step) + np.eye(n, k=step - n))
    for loss in ("binder", "vi-lower-bound", "pear", pt.Binder(a=1, b=0.9)):
        best = pt.estimate(pt.as_similarity(np.minimum(ring, 1)), loss, search=pt.Search(runs=4), rng=1)
        assert best.n_clusters >= 1


def test_default_is_the_probability_of_other_pairs():
    psm = np.array([[1, 0.9, 0.2, 0.2], [0.9, 1, 0.2, 0.6], [0.2, 0.2, 1, 0.2], [0.2, 0.6, 0.2, 1]])
    table = pd.DataFrame({"left": ["a", "b"], "right": ["b", "d"], "p": [0.9, 0.6]})
    pairs = pt.as_similarity(table, names=list("abcd"), default=0.2)
    assert np.allclose(pairs.to_dense(), psm)
    for loss, formula in ((pt.Binder(), ref.binder), (pt.ApproximateARI(), ref.one_minus_pear)):
        best = pt.estimate(pairs, loss, rng=1)
        assert best.expected_loss == pytest.approx(ref.best_value(psm, formula), abs=1e-12)
    with pytest.raises(ValueError, match="default must be 0"):
        pt.estimate(pairs, "vi-lower-bound")
    with pytest.raises(ValueError, match=r"default is 0.2, above the b / \(a \+ b\)"):
        pt.estimate(pairs, pt.Binder(a=9, b=1))


def test_a_time_limit_is_kept():
    n, left, right, probability = planted(np.random.default_rng(3), 600, noise=1.0)
    search = pt.Search(runs=1_000_000, seconds=0.2, n_jobs=1)
    best = pt.estimate(as_pairs(n, left, right, probability), "vi-lower-bound", search=search, rng=1)
    assert not best.proven
    assert "components are not proven" in best.notes[0]


INTERRUPTED = """
import warnings
from support.interrupts import signal_when_in
import numpy as np, partita as pt
from scipy.sparse import coo_array
rng = np.random.default_rng(1)
n, m = 20_000, 100_000
left, right = rng.integers(n, size=(2, m))
key = np.unique(np.minimum(left, right) * n + np.maximum(left, right))
left, right = key // n, key % n
keep = left < right
pairs = pt.as_similarity(coo_array((rng.random(keep.sum()), (left[keep], right[keep])), shape=(n, n)))
watcher = signal_when_in("_run")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    best = pt.estimate(pairs, "LOSS", search=pt.Search(runs=1_000_000), rng=1)
assert best.interrupted and len(best.labels) == n, best
print("stopped")
"""


@pytest.mark.parametrize("loss", ["binder", "vi-lower-bound", "pear"])
def test_ctrl_c_gives_the_best_so_far(loss):
    run = forks.run(INTERRUPTED.replace("LOSS", loss))  # a million runs would take days
    assert run.stdout.strip() == "stopped", run.stderr


def test_the_search_and_the_proof_share_the_time_limit(monkeypatch):
    """`seconds=` is the limit of the whole call: the search gets half of it, the proof what is left."""
    given = []
    find = pair_graph.PairSearch.find

    def noted(self, *arguments):
        given.append(self.search.seconds)
        time.sleep(0.2)
        return find(self, *arguments)

    def tightened(parts, bound, pairs, loss, rules, until):
        given.append(until.left)
        return parts, bound

    monkeypatch.setattr(pair_graph.PairSearch, "find", noted)
    monkeypatch.setattr(pair_graph, "tightened", tightened)
    noise = np.triu(np.random.default_rng(1).uniform(size=(70, 70)), 1)
    pt.estimate(
        pt.as_similarity(noise + noise.T + np.eye(70)), "binder", "exact", pt.Search(seconds=1.0, runs=1), rng=1
    )
    searching, proving = given
    assert searching == 0.5
    assert proving <= 0.8


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("values", [(0.0, 5e-324), (1e-300, 1.0), (5e-324, 1 - 1e-16), (1e-17, 0.5, 1.0)])
def test_extreme_probabilities(name, values):
    """The loss is that of the formula, no partition is better, and matrices, sparse ones and threads agree."""
    from scipy.sparse import coo_array

    loss, reference = LOSSES[name]
    upper = np.triu(np.random.default_rng(4).choice(values, (6, 6)), 1)
    matrix = upper + upper.T + np.eye(6)
    found = pt.estimate(pt.as_similarity(matrix), loss, rng=1)
    assert found.expected_loss == pytest.approx(reference(found.labels, matrix), abs=1e-12)
    best = min(reference(partition, matrix) for partition in pt.enumerate_partitions(6))
    assert found.expected_loss == pytest.approx(best, abs=1e-12)
    sparse = pt.as_similarity(coo_array(upper))
    for other in (pt.estimate(sparse, loss, rng=1), pt.estimate(sparse, loss, rng=1, search=pt.Search(n_jobs=3))):
        assert other.expected_loss == pytest.approx(found.expected_loss, abs=1e-12)


def test_the_bound_of_vi_has_the_unit_of_its_weights():
    rng = np.random.default_rng(1)
    dense = np.triu(rng.random((30, 30)), 1)
    pairs = pt.as_similarity(dense + dense.T + np.eye(30))
    one, eight = (pt.estimate(pairs, pt.VILowerBound(w, w), rng=1) for w in (1.0, 8.0))
    assert not one.proven
    assert one.bound(seconds=1).value < one.expected_loss
    np.testing.assert_allclose(eight.bound(seconds=1).value, 8 * one.bound(seconds=1).value, rtol=1e-9)
