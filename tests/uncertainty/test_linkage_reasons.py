"""Reasons for clusters: costs are those of the loss, the cheapest is the cheapest, questions are in order."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.uncertainty import linkage_costs

LOSSES = {
    "binder": (pt.Binder(a=1.0, b=0.8), 0.0),
    "binder with a default": (pt.Binder(), 0.35),
    "vi-lower-bound": (pt.VILowerBound(a=1.0, b=1.3), 0.0),
    "pear": (pt.ApproximateARI(), 0.0),
}


def random_estimate(rng, loss, default, n=14, **asked):
    """Noisy groups, most pairs listed."""
    group = rng.integers(3, size=n)
    rows = [
        (f"r{i}", f"r{j}", float(np.clip((0.75 if group[i] == group[j] else 0.25) + rng.normal(0, 0.25), 0, 1)))
        for i, j in combinations(range(n), 2)
        if rng.random() < 0.85
    ]
    names = [f"r{i}" for i in range(n)]
    pairs = pt.as_similarity(pd.DataFrame(rows, columns=["left", "right", "p"]), names=names, default=default)
    return pt.estimate(pairs, loss, rng=1, **asked)


def loss_of(est, labels):
    return pt.pair_loss(labels, est.similarity, est.loss)


def divided(est, cluster, part):
    return np.where(np.isin(np.arange(len(est.labels)), part), est.n_clusters, est.labels)


def cheapest_split(est, cluster, together=()):
    """By trying all of them, each as a partition of its own."""
    items = np.flatnonzero(est.labels == cluster)
    found = [np.inf]
    for size in range(1, items.size // 2 + 1):
        for part in combinations(items.tolist(), size):
            if not any((i in part) != (j in part) for i, j in together):
                found.append(loss_of(est, divided(est, cluster, part)) - est.expected_loss)
    return min(found)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_costs_are_those_of_the_loss_and_the_cheapest_is_found(name, seed):
    est = random_estimate(np.random.default_rng(seed), *LOSSES[name])
    place = {record: number for number, record in enumerate(est.similarity.names)}
    for cluster in range(est.n_clusters):
        why = est.reasons(cluster)
        assert why.records == tuple(np.array(est.similarity.names)[est.labels == cluster])
        assert why.id == est.ids[place[why.records[0]]]
        if why.split is None:
            assert len(why.records) == 1
        else:
            part = [place[record] for record in why.split.records]
            cost = loss_of(est, divided(est, cluster, part)) - est.expected_loss
            assert why.split.cost == pytest.approx(cost, abs=1e-12)
            assert why.split.cost == pytest.approx(cheapest_split(est, cluster), abs=1e-12)
            assert (place[why.split.pair.left] in part) != (place[why.split.pair.right] in part)
        for merge in why.merges:
            joined = np.where(est.labels == merge.cluster, cluster, est.labels)
            assert merge.cost == pytest.approx(loss_of(est, joined) - est.expected_loss, abs=1e-12)
        assert [m.cost for m in why.merges] == sorted(m.cost for m in why.merges)
        assert est.reasons(why.records[0]).cluster == cluster


def test_larger_clusters_have_a_split_that_is_near_the_cheapest(monkeypatch):
    """The same clusters by comparing all splits, and by moves of single items."""
    for seed in range(4):
        est = random_estimate(np.random.default_rng(seed), pt.Binder(a=1.3), 0.4, n=22)
        all_ways = [est.reasons(k).split for k in range(est.n_clusters)]
        monkeypatch.setattr(linkage_costs, "MAX_COMPARED", 2)
        few_ways = [est.reasons(k).split for k in range(est.n_clusters)]
        monkeypatch.undo()
        for exact, found in zip(all_ways, few_ways, strict=True):
            if exact is not None:
                assert found.cost >= exact.cost - 1e-12
                assert found.cost <= exact.cost * 1.5 + 1e-12


def test_the_weakest_link_is_the_one_without_which_the_cluster_falls_apart():
    table = pd.DataFrame(
        [("a", "b", 0.95), ("b", "c", 0.9), ("a", "c", 0.6), ("c", "d", 0.7), ("b", "d", 0.65), ("a", "d", 0.55)],
        columns=["left", "right", "p"],
    )
    est = pt.estimate(pt.as_similarity(table), "binder", rng=1)
    why = est.reasons("d")
    assert why.weakest == ("c", "d", 0.7)
    assert why.pairs[0] == ("a", "b", 0.95)
    assert [pair.probability for pair in why.pairs] == [0.95, 0.9, 0.7, 0.65, 0.6, 0.55]
    assert why.split.records == ("d",)
    assert "weakest link    c and d, 0.7" in repr(why)


def test_constraints_limit_splits_and_merges():
    rng = np.random.default_rng(5)
    rules = pt.Constraints(together=[("r0", "r1")], max_size=6)
    est = random_estimate(rng, pt.Binder(), 0.0, constraints=rules)
    cluster = int(est.labels[0])
    why = est.reasons(cluster)
    assert why.split.cost == pytest.approx(cheapest_split(est, cluster, [(0, 1)]), abs=1e-12)
    for k in range(est.n_clusters):
        for merge in est.reasons(k).merges:
            assert est.sizes[k] + est.sizes[merge.cluster] <= 6
            assert merge.cluster != k


@pytest.mark.parametrize("name", LOSSES)
def test_questions_are_in_order_and_answers_change_what_they_say(name):
    est = random_estimate(np.random.default_rng(3), *LOSSES[name])
    asked = est.questions(50)
    assert [q.change for q in asked] == sorted((q.change for q in asked), reverse=True)
    assert {q.kind for q in asked} == {"split", "merge"}
    place = {record: number for number, record in enumerate(est.similarity.names)}
    for question in asked[:6]:
        left, right = place[question.left], place[question.right]
        together = est.labels[left] == est.labels[right]
        assert together == (question.kind == "split")
        answer = {"apart" if together else "together": [(question.left, question.right)]}
        after = pt.update(est, constraints=pt.Constraints(**answer))
        assert (after.labels[left] == after.labels[right]) != together
        assert after.expected_loss >= est.expected_loss - 1e-12
        assert set(question.ids) <= set(est.ids.tolist())
    assert est.questions(2) == asked[:2]


def test_bad_clusters_are_named():
    est = random_estimate(np.random.default_rng(3), pt.Binder(), 0.0)
    with pytest.raises(ValueError, match=r"cluster is 99, but there are clusters 0\.\."):
        est.reasons(99)
    with pytest.raises(ValueError, match="cluster is 'zed', which is not a record"):
        est.reasons("zed")
    with pytest.raises(TypeError, match="cluster must be the number"):
        est.reasons(1.5)


def review_gains(est, person, most):
    """Listed pairs that the answers to the first questions put right."""
    gains = []
    for question in est.questions(most):
        left, right = int(question.left), int(question.right)
        is_wrong = (person[left] == person[right]) == (question.kind == "merge")
        against = question.probability if question.kind == "merge" else 1 - question.probability
        gains.append(is_wrong * question.change / against)
    return gains


def test_the_first_questions_find_errors():
    """Calibrated probabilities of all pairs of one person and of some others: most of the first answers change much.

    Weighted by all pairs of two clusters, listed or not, large clusters come first, and hardly an answer is against
    the estimate.
    """
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(300), rng.choice([1, 2, 3, 4, 5], 300, p=[0.4, 0.3, 0.15, 0.1, 0.05]))
    left, right = np.triu_indices(person.size, 1)
    same = person[left] == person[right]
    listed = same | (rng.random(left.size) < 0.01)
    left, right, same = left[listed], right[listed], same[listed]
    logit = 4 / 1.5**2 * rng.normal(np.where(same, 2.0, -2.0), 1.5) + np.log(same.mean() / (1 - same.mean()))
    table = list(zip(left.tolist(), right.tolist(), (1 / (1 + np.exp(-logit))).tolist(), strict=True))
    est = pt.estimate(pt.as_similarity(table, names=[str(i) for i in range(person.size)]), "binder", rng=1)
    gains = review_gains(est, person, 40)
    assert np.mean(np.array(gains[:20]) > 0) > 0.7, gains
    assert np.sum(gains[:20]) > 2 * np.sum(gains[20:])
