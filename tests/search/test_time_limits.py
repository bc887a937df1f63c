"""`seconds=` is the limit of the whole call, for every method, and what comes back is marked; sparse tables.

Each call would take a minute or longer, and gets a fraction of a second. The watchdogs survive a loaded machine.
"""

import time

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from partita.partitions import labels
from partita.partitions import matching as _matching
from partita.search.deadline import Deadline
from support.reference import f1 as reference_f1

#: Seconds until a call with such a limit must be back on a machine with other work to do.
WATCHDOG = 25
LIMIT = pt.Search(seconds=0.2, n_jobs=2, runs=100_000)


def timed(call):
    begun = time.monotonic()
    found = call()
    assert time.monotonic() - begun < WATCHDOG
    return found


@pytest.fixture(scope="module")
def wide():
    return pt.as_sample(make_draws(50_000, 60, 12, rng=1))


@pytest.fixture(scope="module")
def middle():
    return pt.as_sample(make_draws(1500, 300, 12, rng=1))


def test_a_matrix_for_which_there_is_no_time_is_not_waited_for():
    """The similarities of 6,000 items in 1,000 draws take half a second; the search goes on without them."""
    sample = pt.as_sample(make_draws(6000, 1000, 5, rng=1))
    found = timed(lambda: pt.estimate(sample, "binder", search=pt.Search(seconds=0.05, n_jobs=1), check_draws=False))
    assert found.timed_out
    assert found.labels.size == 6000


@pytest.mark.parametrize("method", ["search", "salso", "greedy", "laugreen"])
def test_searches_obey_the_limit(middle, method):
    found = timed(lambda: pt.estimate(middle, "binder", method, LIMIT, rng=1, check_draws=False))
    assert found.timed_out
    assert any("time limit of 0.2 seconds" in warning for warning in found.notes)
    assert "time limit" in repr(found)


@pytest.mark.parametrize("method", ["hasse", "draws"])
def test_methods_of_draws_obey_the_limit_with_many_items(wide, method):
    limit = pt.Search(seconds=0.1, n_jobs=2)  # a walk that finds no better neighbour ends within a second
    found = timed(lambda: pt.estimate(wide, "vi", method, limit, rng=1, check_draws=False))
    assert found.labels.size == wide.n_items
    assert found.timed_out or method == "draws"


@pytest.mark.parametrize("method", ["medv", "pear"])
def test_trees_obey_the_limit(middle, method):
    search = pt.Search(seconds=0.01, n_jobs=2, max_clusters=1000)
    assert timed(lambda: pt.estimate(middle, "nid", method, search, rng=1, check_draws=False)).timed_out


def test_search_in_levels_obeys_the_limit():
    draws = make_draws(62_000, 50, 12, rng=1)
    limit = pt.Search(seconds=0.1, n_jobs=2, runs=100_000)
    assert timed(lambda: pt.estimate(draws, "vi", search=limit, rng=1, check_draws=False)).timed_out


def test_exact_obeys_the_limit_with_few_clusters():
    pytest.importorskip("highspy")
    draws = np.random.default_rng(1).integers(6, size=(40, 13))
    search = pt.Search(seconds=1, max_clusters=3)
    found = timed(lambda: pt.estimate(draws, "binder", "exact", search, rng=1, check_draws=False))
    assert found.proven or found.timed_out


def test_enumeration_obeys_the_limit():
    draws = np.random.default_rng(1).integers(6, size=(400, 12))
    found = timed(lambda: pt.estimate(draws, "nid", "enumerate", pt.Search(seconds=1, n_jobs=1), rng=1))
    assert found.timed_out
    assert not found.proven


def test_modes_obey_the_limit_as_a_whole(middle):
    found = timed(lambda: pt.modes(middle, 6, search=LIMIT, rng=1))
    assert found.timed_out
    assert found.labels.shape == (6, middle.n_items)
    assert "time limit" in repr(found)


def test_diagnostics_obey_the_limit_as_a_whole():
    draws = np.asarray(make_draws(1500, 200, 12, rng=1)).reshape(4, 50, 1500)
    found = timed(lambda: pt.diagnostics(draws, search=LIMIT, rng=1))
    assert found.timed_out


def test_weights_for_obeys_the_limit_as_a_whole(middle):
    with pytest.raises(ValueError, match="the time limit ended the search"):
        timed(lambda: pt.weights_for(middle, n_clusters=700, search=LIMIT, rng=1))


def test_without_a_limit_nothing_is_marked():
    found = pt.estimate(make_draws(20, 30, 3, rng=1), search=pt.Search(seconds=1000), rng=1, check_draws=False)
    assert not found.timed_out
    assert found.search.seconds == 1000
    assert not any("time limit" in warning for warning in found.notes)


def test_a_deadline_is_handed_on():
    deadline = Deadline.after(100)
    assert 90 < deadline.limit(pt.Search()).seconds <= 100
    assert Deadline.after(0).limit(pt.Search()).seconds > 0
    assert Deadline.after(None).limit(pt.Search(seconds=3)).seconds == 3


# --- two partitions with about as many clusters as items -------------------------------------------------------------


@pytest.fixture(scope="module")
def fine():
    """Two partitions of 200,000 items into about 150,000 clusters each."""
    rng = np.random.default_rng(1)
    return pt.canonical(rng.integers(300_000, size=200_000)), pt.canonical(rng.integers(300_000, size=200_000))


def test_fine_partitions_are_compared(fine):
    found = pt.compare_partitions(*fine)
    assert 0 < found["f1"] < 1
    assert abs(found["ari"]) < 0.01


def test_fine_partitions_are_aligned(fine):
    x, y = fine
    aligned = pt.align_labels(x, y)
    np.testing.assert_array_equal(pt.canonical(aligned), y)
    assert (aligned == x).sum() > (y == x).sum()


def test_certainty_of_fine_partitions(fine):
    x, y = fine
    certainty = pt.item_certainty(x, np.stack([x, y]))
    assert certainty.loss_share.sum() == pytest.approx(pt.expected_loss(x, np.stack([x, y])))
    stability = pt.cluster_stability(x, np.stack([x, y]), certainty=certainty)
    assert (stability.exact >= 0.5).all()


def test_merge_tree_of_many_clusters_ends_at_one_cluster(fine):
    draws = np.stack(fine)
    for loss in ("vi", pt.Binder(0.5, 1)):
        tree = pt.merge_tree(fine[0], draws, loss=loss)
        assert tree.sizes[-1] == len(fine[0])
        assert tree.expected_loss[0] == pytest.approx(pt.expected_loss(fine[0], draws, loss))
        assert tree.expected_loss[-1] == pytest.approx(pt.expected_loss(np.zeros(len(fine[0])), draws, loss))


def test_merge_tree_of_many_clusters_is_refused_where_it_needs_all_pairs(fine):
    with pytest.raises(ValueError, match="at most 3,000 clusters, but the estimate has"):
        pt.merge_tree(fine[0], np.stack(fine), loss="nid")


@pytest.mark.parametrize("seed", range(5))
def test_sparse_tables_say_what_dense_ones_say(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    draws = rng.integers(12, size=(8, 40))
    sample = pt.as_sample(np.where(rng.random(draws.shape) < 0.1, -1, draws), missing=-1)
    x, y = pt.canonical(draws[0]), pt.canonical(draws[1])

    def facts():
        certainty, stability = pt.item_certainty(x, sample), pt.cluster_stability(x, sample)
        overlap = int((pt.align_labels(x, y) == x).sum())  # of several best matchings any will do
        return pt.f1(x, y), overlap, certainty.probability, certainty.loss_share, stability.jaccard, stability.exact

    dense = facts()
    assert dense[0] == pytest.approx(reference_f1(x.tolist(), y.tolist()))
    counted = labels.count_cells(x * 12 + y, 144)
    monkeypatch.setattr(labels, "DENSE_CELLS", 0)
    monkeypatch.setattr(_matching, "DENSE_CELLS", 0)
    for left, right in zip(counted, labels.count_cells(x * 12 + y, 10**9), strict=True):
        np.testing.assert_array_equal(left, right)
    for left, right in zip(dense, facts(), strict=True):
        np.testing.assert_array_equal(left, right)
