"""Components: no optimum joins two of them, small ones are solved, and what is proven equals enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita import _core
from partita.losses.problem import core_problem
from partita.search.components import best_by_parts, component_labels, solve_parts
from partita.search.jobs import Job
from support.native import options_of

LOSSES = [pt.VI(), pt.VI(a=0.4, b=1.3), pt.Binder(), pt.Binder(a=2.0, b=0.5)]


@st.composite
def apart(draw, gaps=False):
    """Draws of up to 9 items in blocks that no draw joins, and the block of each item."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_draws = draw(st.integers(2, 9)), draw(st.integers(1, 5))
    block = rng.integers(draw(st.integers(1, 4)), size=n)
    labels = block * n + rng.integers(draw(st.integers(1, 4)), size=(n_draws, n))
    if gaps:
        labels[rng.random(labels.shape) < 0.25] = -1
        labels[:, 0] = block[0] * n
    sample = pt.as_sample(labels, weights=rng.random(n_draws) + 0.05, missing=-1 if gaps else None)
    return sample, block


def everything(sample, loss):
    """The expected loss of every partition, slow and obvious."""
    partitions = list(pt.enumerate_partitions(sample.n_items))
    return np.array(partitions), pt.expected_loss(partitions, sample, loss)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@given(apart())
@settings(max_examples=15, deadline=None)
def test_no_optimum_joins_two_components(loss, problem):
    sample, _ = problem
    component = component_labels(sample)
    partitions, losses = everything(sample, loss)
    for best in partitions[losses <= losses.min() + 1e-12]:
        for cluster in range(best.max() + 1):
            assert len(set(component[best == cluster].tolist())) == 1


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("gaps", [False, True])
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_solved_parts_equal_enumeration(loss, gaps, data):
    sample, _ = data.draw(apart(gaps=gaps))
    parts = solve_parts(sample, loss)
    assert parts.all_solved
    _, losses = everything(sample, loss)
    assert parts.least_loss == pytest.approx(losses.min(), abs=1e-10)
    best = parts.partition()
    assert pt.expected_loss(best, sample, loss) == pytest.approx(losses.min(), abs=1e-10)
    assert best_by_parts(best, sample, loss, 1) is best


def test_a_partition_that_is_not_best_is_replaced():
    sample = pt.as_sample([[0, 0, 1, 1], [0, 0, 1, 2]])
    least = pt.estimate(sample, pt.VI(), "enumerate").expected_loss
    for labels in ([0, 1, 2, 3], [0, 0, 0, 0]):
        best = best_by_parts(np.array(labels), sample, pt.VI(), 1)
        assert pt.expected_loss(best, sample, pt.VI()) == pytest.approx(least, abs=1e-12)


#: Runs of the search from three of these twelve seeds end above the least expected loss.
HARD_DRAWS = [
    [0, 1, 2, 0, 3, 3],
    [0, 1, 0, 2, 3, 2],
    [0, 1, 1, 2, 3, 0],
    [0, 1, 2, 1, 3, 4],
    [0, 1, 0, 2, 2, 1],
    [0, 1, 2, 3, 4, 0],
    [0, 1, 2, 3, 4, 1],
    [0, 1, 2, 3, 3, 1],
    [0, 1, 2, 3, 0, 2],
    [0, 1, 2, 1, 0, 0],
    [0, 1, 2, 0, 0, 3],
    [0, 1, 2, 1, 1, 3],
    [0, 1, 2, 3, 1, 4],
    [0, 1, 0, 2, 3, 4],
    [0, 1, 2, 2, 0, 1],
]


@pytest.mark.parametrize("seed", range(12))
def test_the_best_partition_of_small_components_is_returned(seed):
    loss = pt.VI(2.8284271247461903, 1)
    best = pt.estimate(HARD_DRAWS, loss, rng=seed, check_draws=False, search=pt.Search(max_clusters=np.inf))
    least = pt.estimate(HARD_DRAWS, loss, "enumerate", check_draws=False)
    assert best.proven
    assert best.expected_loss == pytest.approx(least.expected_loss, abs=1e-12)
    assert best.times_reached <= len(best.runs)
    assert min(run.loss for run in best.runs) == pytest.approx(best.expected_loss, abs=1e-12)


@pytest.mark.parametrize("loss", [pt.VI(0.1, 1), pt.NID(), pt.OneMinusARI()], ids=str)
def test_the_best_of_few_partitions_is_returned_whatever_the_loss_and_the_limit(loss):
    for limit in (2, 3, np.inf):
        settings = pt.Search(max_clusters=limit)
        best = pt.estimate(HARD_DRAWS, loss, search=settings, rng=1, check_draws=False)
        least = pt.estimate(HARD_DRAWS, loss, "enumerate", settings, check_draws=False)
        assert best.proven
        assert best.n_clusters <= limit
        assert best.expected_loss == pytest.approx(least.expected_loss, abs=1e-12)


def test_the_papers_methods_keep_their_own_partition():
    loss = pt.VI(0.1, 1)
    drawn = pt.estimate(HARD_DRAWS, loss, "draws", check_draws=False)
    assert drawn.labels.tolist() in HARD_DRAWS


def test_draws_of_weight_zero_do_not_prevent_the_proof():
    draws = [[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 1, 1]]
    assert pt.estimate(draws, weights=[1, 1, 0], rng=1, check_draws=False).proven


def test_weights_for_returns_no_weight_whose_best_partition_has_another_number_of_clusters():
    found = pt.weights_for(HARD_DRAWS, "vi", n_clusters=4, rng=1)
    assert pt.estimate(HARD_DRAWS, found.loss, "enumerate", check_draws=False).n_clusters == 4
    jumped = pt.VI(2.8284271247461903)  # where the search alone may end at four clusters
    assert pt.estimate(HARD_DRAWS, jumped, "enumerate", check_draws=False).n_clusters == 2


def linked(n, n_draws, seed=1, sizes=(1, 2, 3), noise=0.0):
    """Draws of many small clusters; pairs of neighbours are sometimes taken apart, a share of labels is random."""
    rng = np.random.default_rng(seed)
    base = np.repeat(np.arange(n), rng.choice(sizes, n))[:n]
    draws = np.tile(base, (n_draws, 1))
    draws[rng.random(draws.shape) < 0.2] += n
    moved = rng.random(draws.shape) < noise
    draws[moved] = base[rng.integers(n, size=int(moved.sum()))]
    return pt.as_sample(draws)


@pytest.mark.parametrize("loss", [pt.VI(), pt.Binder()], ids=str)
def test_an_estimate_says_what_is_proven(loss):
    sample = linked(300, 25)
    best = pt.estimate(sample, loss, search=pt.Search(max_clusters=np.inf), rng=1)
    assert best.proven
    assert best.gap == 0.0
    assert best.components.proven == best.components.count > 100
    assert best.components.sizes.sum() == 300
    assert best.components.sizes.max() <= 3
    assert best.bound().proven
    assert best.bound().value == pytest.approx(best.expected_loss)
    assert best.times_reached == len(best.runs)


def test_components_that_are_large_are_not_proven():
    sample = linked(60, 12, sizes=(20,))
    best = pt.estimate(sample, "vi", rng=1)
    assert not best.proven
    assert best.components.count == 3
    assert best.components.proven == 0
    bound = best.bound(seconds=1)
    assert 0 < bound.value <= best.expected_loss + 1e-12
    assert set(bound.method.split(", ")) <= {"rows", "clusters"}  # of each component, the better one


def test_other_losses_have_components_but_no_proof_by_parts():
    best = pt.estimate(linked(40, 10), "omari", rng=1)
    assert best.components.count > 10
    assert best.components.proven == 0
    assert not best.proven


def test_exact_serves_vi_where_components_are_small():
    sample = linked(200, 20)
    exact = pt.estimate(sample, "vi", method="exact", rng=1)
    assert exact.proven
    assert exact.gap == 0.0
    assert exact.expected_loss == pytest.approx(solve_parts(sample, pt.VI()).least_loss)
    with pytest.raises(ValueError, match="at most 12 items"):
        pt.estimate(linked(60, 12, sizes=(20,)), "vi", method="exact", rng=1)


def runs_of(sample, loss, state, threads=1, method="search", **settings):
    options = options_of(sample, pt.Search(runs=4, **settings), state=state, threads=threads)
    return Job(method, sample, loss, options).run()[0]


@pytest.mark.parametrize("loss", [*LOSSES, pt.NVI(), pt.ID(), pt.NID(), pt.OneMinusARI()], ids=str)
@pytest.mark.parametrize("limit", [None, np.inf])
def test_both_states_find_equally_good_partitions(loss, limit):
    sample = linked(80, 15, noise=0.1)
    dense = min(run.loss for run in runs_of(sample, loss, _core.StateKind.dense, max_clusters=limit))
    runs = runs_of(sample, loss, _core.StateKind.sparse, max_clusters=limit)
    for run in runs:
        assert run.loss == pytest.approx(float(pt.expected_loss(run.labels, sample, loss)), abs=1e-9)
        assert limit is not None or run.clusters <= sample.n_clusters.max()
    assert min(run.loss for run in runs) <= dense * 1.02


@pytest.mark.parametrize("method", ["search", "salso", "greedy"])
def test_the_sparse_search_does_not_depend_on_threads(method):
    sample = linked(150, 20, noise=0.1)
    one, two = (runs_of(sample, pt.VI(), _core.StateKind.sparse, n, method) for n in (1, 2))
    assert [run.labels.tolist() for run in one] == [run.labels.tolist() for run in two]


def test_the_papers_algorithms_reach_the_same_on_both_states():
    sample = linked(120, 15, noise=0.05)
    for method in ("salso", "greedy"):
        dense, sparse = (
            min(run.loss for run in runs_of(sample, pt.VI(), state, method=method))
            for state in (_core.StateKind.dense, _core.StateKind.sparse)
        )
        assert sparse == pytest.approx(dense, rel=0.15)


def test_many_small_clusters_are_searched_on_lists():
    sparse, dense = _core.StateKind.sparse, _core.StateKind.dense
    samples = linked(1000, 10), linked(1000, 10, sizes=(100,)), linked(40, 10)
    assert [core_problem(sample, pt.VI()).state for sample in samples] == [sparse, dense, dense]
    assert core_problem(samples[2], pt.Binder()).state == _core.StateKind.matrix


def test_many_small_clusters_have_no_limit_by_default():
    """Draws with some labels moved have fewer clusters than the partition behind them."""
    rng = np.random.default_rng(2)
    truth = rng.permutation(np.repeat(np.arange(600), rng.choice([1, 2, 3], 600, p=[0.7, 0.2, 0.1]))[:600])
    draws = np.tile(truth, (40, 1))
    moved = rng.random(draws.shape) < 0.03
    draws[moved] = truth[rng.integers(truth.size, size=int(moved.sum()))]
    sample = pt.as_sample(draws)
    best = pt.estimate(sample, "vi", rng=1, check_draws=False)
    assert best.search.max_clusters == np.inf
    assert best.n_clusters > sample.n_clusters.max()
    assert best.expected_loss <= pt.expected_loss(truth, sample, "vi") + 1e-12
    shuffled = pt.estimate(draws[::-1, ::-1], "vi", rng=1, check_draws=False)
    assert shuffled.search.max_clusters == np.inf


def test_the_papers_limit_stays_the_default_elsewhere():
    small, large = linked(400, 10, noise=0.05), linked(400, 10, sizes=(100,))
    of_paper = pt.estimate(small, "vi", "salso", pt.Search(runs=1), rng=1, check_draws=False)
    assert of_paper.search.max_clusters is None
    assert of_paper.n_clusters <= small.n_clusters.max()
    assert pt.estimate(large, "vi", rng=1, check_draws=False).search.max_clusters is None
    assert pt.estimate(small, "vi", search=pt.Search(max_clusters=9), rng=1).search.max_clusters == 9


def doubtful(groups, size, n_draws=3):
    """Groups of items that are together with each other at random and never with others: runs differ here and there."""
    rng = np.random.default_rng(5)
    labels = rng.integers(5, size=(n_draws, groups, size)) + 5 * np.arange(groups)[None, :, None]
    return pt.as_sample(labels.reshape(n_draws, -1))


def adapted_runs(sample, loss, runs, adapts=True, threads=1):
    chosen = {"runs": runs, "adapts": adapts, "threads": threads, "state": _core.StateKind.sparse}
    options = options_of(sample, pt.Search(max_clusters=np.inf), **chosen)
    return Job("search", sample, loss, options).run()


def test_runs_that_agree_are_enough():
    sample = linked(60, 40, sizes=(13, 15), noise=0.02)  # components of more items than are enumerated
    found = adapted_runs(sample, pt.VI(), 16)
    assert found.n_started == 4
    assert len({run.labels.tobytes() for run in found.runs[:4]}) == 1
    assert adapted_runs(sample, pt.VI(), 16, adapts=False).n_started == 16
    assert pt.estimate(sample, "vi", search=pt.Search(runs=7), rng=1, check_draws=False).n_runs == 7


@pytest.mark.parametrize("loss", [pt.VI(), pt.Binder(), pt.NVI(), pt.ID()], ids=str)
def test_where_runs_differ_the_search_goes_on(loss):
    """The runs after the fourth keep the clusters on which the first four agree and never lose what those found."""
    sample = doubtful(10, 30)
    found = adapted_runs(sample, loss, 16)
    assert found.n_started == 16
    for run in found.runs:
        assert run.loss == pytest.approx(float(pt.expected_loss(run.labels, sample, loss)), abs=1e-9)
        assert run.clusters == len(np.unique(run.labels))
    assert min(run.loss for run in found.runs) < min(run.loss for run in found.runs[:4])
    two = adapted_runs(sample, loss, 16, threads=2)
    assert [run.labels.tolist() for run in found.runs] == [run.labels.tolist() for run in two.runs]


def test_agreed_clusters_are_not_searched_again():
    sample = doubtful(40, 14)
    found = adapted_runs(sample, pt.VI(), 8)
    first, later = ([run.labels for run in found.runs[part]] for part in (slice(0, 4), slice(4, 8)))
    clusters = [{frozenset(np.flatnonzero(labels == k)) for k in np.unique(labels)} for labels in first]
    agreed = set.intersection(*clusters)
    assert agreed
    for labels in later:
        assert agreed <= {frozenset(np.flatnonzero(labels == k)) for k in np.unique(labels)}


def test_weights_for_returns_no_weight_at_a_tie():
    """Three items, each pair together in one draw of three: at a = 2 every partition is as good as any other."""
    with pytest.raises(ValueError, match="no weight a was found whose estimate has 2 clusters"):
        pt.weights_for([[0, 0, 1], [0, 1, 1], [0, 1, 0]], "binder", n_clusters=2, rng=1)
    draws = [[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 0, 2], [0, 1, 2, 3]]
    found = pt.weights_for(draws, pt.Binder(a=3.0), n_clusters=2, rng=1)  # a tie at 3 of two and four clusters
    losses = [pt.expected_loss(labels, draws, found.loss) for labels in pt.enumerate_partitions(4)]
    best = [max(p) + 1 for p, value in zip(pt.enumerate_partitions(4), losses, strict=True) if value <= min(losses)]
    assert best == [2]
