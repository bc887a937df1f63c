"""Where the uncertainty sits: every number from the similarity matrix and the formulas, done slowly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage

from partita.draws.sample import as_sample
from partita.losses.losses import LOSSES, VI, Binder, as_loss
from partita.partitions.labels import canonical
from partita.uncertainty import merges
from partita.uncertainty.certainty import (
    ItemCertainty,
    cluster_stability,
    exemplars,
    item_certainty,
    items_to_check,
    n_clusters_posterior,
)
from partita.uncertainty.merges import merge_losses, merge_tree
from support import reference as ref
from support.strategies import gappy_samples, positive, samples


def test_certainties_are_a_table_with_the_names_of_the_items():
    sample = as_sample([[0, 0, 1, -1], [0, 1, 1, -1], [0, 0, 1, -1]], missing=-1, names=["ann", "bob", "cy", "dot"])
    table = item_certainty([0, 0, 1, -1], sample).to_pandas()
    assert table.index.tolist() == ["ann", "bob", "cy", "dot"]
    assert table.columns.tolist() == ["cluster", "probability", "loss_share"]
    assert table.iloc[items_to_check([0, 0, 1, -1], sample)].index[0] == "ann"
    assert np.isnan(table.probability["dot"])
    plain = item_certainty([0, 0, 1], [[0, 0, 1]], loss="nvi").to_pandas()
    assert (plain.index.tolist(), plain.columns.tolist()) == ([0, 1, 2], ["cluster", "probability"])


@given(samples())
def test_probability_is_the_mean_similarity_to_the_other_members(sample):
    rows, weights = sample
    probability = item_certainty(rows[0], as_sample(rows, weights)).probability
    psm, w = ref.similarity(rows, weights), ref.weights_of(rows, weights)
    for i, label in enumerate(rows[0]):
        mates = [j for j, other in enumerate(rows[0]) if other == label and j != i]
        alone = sum(weight for weight, row in zip(w, rows, strict=True) if Counter(row)[row[i]] == 1)
        assert probability[i] == pytest.approx(np.mean(psm[i, mates]) if mates else alone)


@given(samples() | gappy_samples(), positive, positive, st.sampled_from([VI, Binder]))
def test_shares_sum_to_the_expected_loss(sample, a, b, kind):
    rows, weights = sample
    formula = {VI: ref.vi, Binder: ref.binder}[kind]
    share = item_certainty(rows[-1], as_sample(rows, weights, missing=-1), loss=kind(a, b)).loss_share
    whole = ref.expected_loss(rows[-1], rows, lambda x, y: formula(x, y, a, b), weights)
    assert share.sum() == pytest.approx(whole, abs=1e-9)
    assert (share >= -1e-12).all()


def test_other_losses_have_no_shares():
    assert item_certainty([0, 0, 1], [[0, 0, 1]], loss="nvi").loss_share is None


@given(samples())
def test_cluster_stability_is_the_definition(sample):
    rows, weights = sample
    stability = cluster_stability(rows[0], as_sample(rows, weights))
    w, psm = ref.weights_of(rows, weights), ref.similarity(rows, weights)
    for k, members in enumerate(map(set, ref.clusters(rows[0]))):
        best = [max(len(members & set(c)) / len(members | set(c)) for c in ref.clusters(row)) for row in rows]
        assert stability.jaccard[k] == pytest.approx(np.dot(w, best))
        assert stability.exact[k] == pytest.approx(np.dot(w, np.array(best) == 1))
        assert stability.size[k] == len(members)
        if len(members) > 1:
            pairs = [psm[i, j] for i, j in combinations(sorted(members), 2)]
            assert stability.cohesion[k] == pytest.approx(np.mean(pairs))
        assert stability.exemplar[k] in members


@given(samples())
def test_exemplars_are_the_surest_and_checks_the_least_sure(sample):
    rows, weights = sample
    draws = as_sample(rows, weights)
    probability = item_certainty(rows[0], draws).probability
    for item, members in zip(exemplars(rows[0], draws), ref.clusters(rows[0]), strict=True):
        assert probability[item] == max(probability[members])
    order = items_to_check(rows[0], draws, count=len(rows[0]))
    assert sorted(order) == list(range(len(rows[0])))
    assert (np.diff(probability[order]) >= 0).all()


@given(samples())
def test_number_of_clusters_is_weighted(sample):
    rows, weights = sample
    expected = Counter()
    for row, weight in zip(rows, ref.weights_of(rows, weights), strict=True):
        expected[len(set(row))] += weight
    assert n_clusters_posterior(as_sample(rows, weights)) == pytest.approx(dict(expected))


@pytest.mark.parametrize("loss", LOSSES)
@given(sample=samples(max_items=6) | gappy_samples(max_items=6))
def test_merge_losses_are_those_of_the_merged_partitions(loss, sample):
    rows, weights = sample
    draws = as_sample(rows, weights, missing=-1)
    labels = np.array(ref.canonical(rows[-1]))
    found = merge_losses(labels, draws, as_loss(loss))
    for left, right in np.ndindex(found.shape):
        if left < right:
            merged = np.where(labels == right, left, labels).tolist()
            expected = ref.expected_loss(merged, rows, ref.LOSSES[loss], weights)
            assert found[left, right] == pytest.approx(expected, abs=1e-12)
        else:
            assert found[left, right] == np.inf


@pytest.mark.parametrize("loss", [VI(), VI(0.3, 1), Binder(), Binder(2, 0.7), VI(1e-200, 3e-200)], ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_merges_by_heap_are_those_of_the_table(loss, seed):
    """Draws join all clusters, with weights without ties, so that there is one tree; some weights are 0."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(3, size=(9, 14))
    weights = rng.random(9) * (rng.random(9) < 0.8) + 1e-3 * np.eye(9)[0]
    labels, sample = canonical(rng.integers(9, size=14)), as_sample(rows, weights)
    table = merges._merged_by_table(labels, sample, loss, 1)
    heap = merges._merged_by_heap(labels, sample, loss, 1)
    np.testing.assert_allclose(heap.expected_loss, table.expected_loss, rtol=1e-9, atol=1e-12 * loss.unit)
    assert heap.sizes.tolist() == table.sizes.tolist()
    assert heap.pairs.tolist() == table.pairs.tolist()


@pytest.mark.parametrize("loss", [VI(), Binder(0.6, 1)], ids=str)
def test_each_merge_by_heap_is_the_best_of_all_pairs(loss):
    """Where there are ties, trees differ; each merge is still the least at its step."""
    rng = np.random.default_rng(5)
    rows = np.array([canonical(rng.integers(40, size=60)) for _ in range(4)])
    labels, sample = canonical(np.arange(60) // 2), as_sample(rows)
    tree = merges._merged_by_heap(labels, sample, loss, 1)
    current = labels.copy()
    for step, (left, right) in enumerate(tree.pairs):
        after = merge_losses(canonical(current), sample, loss, 1)
        assert tree.expected_loss[step + 1] == pytest.approx(after.min(), abs=1e-12)
        current[(current == left) | (current == right)] = 30 + step
        assert (current == 30 + step).sum() == tree.sizes[step]


@given(samples(max_items=7))
def test_merge_tree_goes_up_by_the_best_merge(sample):
    rows, weights = sample
    tree = merge_tree(rows[0], as_sample(rows, weights))
    members = {k: set(c) for k, c in enumerate(ref.clusters(rows[0]))}
    for step, (left, right) in enumerate(tree.pairs):

        def loss_of(pair, members=members):
            merged = [c for k, c in members.items() if k not in pair] + [members[pair[0]] | members[pair[1]]]
            labels = [next(k for k, c in enumerate(merged) if i in c) for i in range(len(rows[0]))]
            return ref.expected_loss(labels, rows, ref.vi, weights)

        best = min(map(loss_of, combinations(members, 2)))
        assert tree.expected_loss[step + 1] == pytest.approx(best, abs=1e-12)
        assert loss_of((left, right)) == pytest.approx(best, abs=1e-12)
        members[len(ref.clusters(rows[0])) + step] = members.pop(left) | members.pop(right)
        assert tree.sizes[step] == len(members[len(ref.clusters(rows[0])) + step])
    assert len(members) == 1
    assert tree.linkage().shape == (len(tree.pairs), 4)
    if len(tree.pairs):
        assert tree.linkage()[-1, 3] == len(tree.pairs) + 1
        assert is_valid_linkage(tree.linkage())


def test_answers_do_not_depend_on_the_blocks(monkeypatch):
    rng = np.random.default_rng(1)
    draws = rng.integers(4, size=(50, 12))
    whole = item_certainty(draws[0], draws), cluster_stability(draws[0], draws)
    monkeypatch.setattr("partita.uncertainty.certainty.BLOCK_CELLS", 200)
    pieces = item_certainty(draws[0], draws), cluster_stability(draws[0], draws)
    np.testing.assert_allclose(pieces[0].loss_share, whole[0].loss_share)
    np.testing.assert_allclose(pieces[1].jaccard, whole[1].jaccard)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="count must be at least 1"):
        items_to_check([0, 1], [[0, 1]], count=0)
    with pytest.raises(ValueError, match="estimate has 3 items, but draws has 2"):
        item_certainty([0, 1, 1], [[0, 1]])


def test_stability_takes_the_certainty_that_is_at_hand():
    rows = [[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 1, 1]]
    at_hand = item_certainty(rows[0], rows)
    plain, with_it = cluster_stability(rows[0], rows), cluster_stability(rows[0], rows, certainty=at_hand)
    np.testing.assert_array_equal(plain.cohesion, with_it.cohesion)
    other = ItemCertainty(at_hand.labels, np.full(4, 0.25), None)
    np.testing.assert_array_equal(cluster_stability(rows[0], rows, certainty=other).cohesion, [0.25, 0.25])
