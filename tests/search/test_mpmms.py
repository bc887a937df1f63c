"""Shared most probable maximal matching sets, against their definition with Python's sets."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

import partita as pt
from support.strategies import samples


def by_definition(rows, weights):
    """For each item the frozenset of most weight; None where two sets tie."""
    found = []
    for i in range(len(rows[0])):
        weight = Counter()
        for row, w in zip(rows, weights, strict=True):
            weight[frozenset(j for j, label in enumerate(row) if label == row[i])] += w
        (best, most), *rest = weight.most_common(2)
        found.append(None if rest and abs(rest[0][1] - most) < 1e-9 else best)
    return found


@given(sample=samples(max_items=7))
def test_items_are_together_if_they_share_their_most_probable_set(sample):
    rows, weights = sample
    labels = pt.estimate(pt.as_sample(rows, weights), "vi", "mpmms", check_draws=False).labels
    sets = by_definition(rows, weights)
    for i, one in enumerate(sets):
        for j, other in enumerate(sets):
            if one is not None and other is not None:
                assert (labels[i] == labels[j]) == (one == other)


def test_a_draw_in_which_all_agree_is_the_answer_and_settings_that_do_not_apply_are_named():
    draws = np.array([[0, 0, 1, 1, 2]] * 6 + [[0, 1, 1, 1, 2]] * 4)
    best = pt.estimate(draws, method="mpmms", check_draws=False)
    assert best.labels.tolist() == [0, 0, 1, 1, 2]
    assert best.criterion == pytest.approx((0.6 * 4 + 1.0) / 5)
    with pytest.raises(ValueError, match="method 'mpmms' has no limit on clusters, but max_clusters=2"):
        pt.estimate(draws, method="mpmms", search=pt.Search(max_clusters=2), check_draws=False)


def test_draws_that_do_not_label_an_item_do_not_count_for_it():
    sample = pt.as_sample([[0, 0, -1]] * 3 + [[0, 1, 1]] * 2, missing=-1)
    best = pt.estimate(sample, method="mpmms", check_draws=False)
    assert best.labels.tolist() == [0, 0, 1]
    assert best.criterion == pytest.approx((0.6 + 0.6 + 0.4) / 3)
