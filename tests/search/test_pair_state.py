"""The state of pair probabilities against plain NumPy: what a move changes, where it may go, and where it is best."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_constraints import random_constraints

import partita as pt
from partita import _core
from partita.search.constraints import resolve
from partita.search.pair_graph import native_constraints
from support import pair_reference as ref


def threshold(labels, psm, level, unlisted):
    """Σ over joined pairs of (level - π_ij)."""
    left, right = np.triu_indices(len(labels), 1)
    joined = np.asarray(labels)[left] == np.asarray(labels)[right]
    return float((level - psm[left, right])[joined].sum())


def log_mass(labels, psm, a, b):
    return len(labels) * ref.vi_lower_bound(labels, psm, a, b)


OBJECTIVES = {
    "threshold": (_core.ThresholdObjective, _core.ThresholdState, threshold, (0.6, 0.0)),
    "threshold with a default": (_core.ThresholdObjective, _core.ThresholdState, threshold, (0.4, 0.2)),
    "log mass": (_core.LogMassObjective, _core.LogMassState, log_mass, (1.0, 1.0)),
    "log mass weighted": (_core.LogMassObjective, _core.LogMassState, log_mass, (0.3, 1.7)),
}


@st.composite
def problems(draw):
    """A seed and a size; mostly few items."""
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.integers(2, 9) | st.just(16))


def random_problem(rng, n, unlisted):
    """Pair probabilities, some of them unlisted, and constraints by number; a third without any."""
    left, right = np.triu_indices(n, 1)
    listed = rng.random(left.size) < rng.choice([0.2, 0.6, 1.0])
    probability = np.where(listed, rng.random(left.size), unlisted)
    psm = np.eye(n)
    psm[left, right] = psm[right, left] = probability
    names = np.array([f"item {i}" for i in range(n)])
    table = pd.DataFrame({"left": names[left], "right": names[right], "p": probability})[listed]
    pairs = pt.as_similarity(table, names.tolist(), unlisted)
    return pairs, psm, random_constraints(rng, n) if rng.random() < 0.7 else {}


def check(name, rng, n, shift=0.0):
    """Random moves that obey; before each, every node's changes are those of the formula."""
    kind, state_of, formula, weights = OBJECTIVES[name]
    unlisted = weights[1] if kind is _core.ThresholdObjective else 0.0
    pairs, psm, asked = random_problem(rng, n, unlisted)
    rules = resolve(pt.Constraints(**asked), None, n)
    graph = _core.PairGraph(pairs.offsets, pairs.neighbors, pairs.probabilities)
    state = state_of(graph, kind(*weights), native_constraints(rules), rules.atom.astype(np.uint32))
    for _ in range(n):
        labels = np.array(state.labels)
        assert ref.obeys(labels, **asked)
        assert state.value == pytest.approx(formula(labels, psm, *weights), abs=1e-9)
        node = int(rng.integers(rules.n_atoms))
        changes, allowed, best, least = state.look(node)
        check_node(labels, rules.atom == node, changes, allowed, asked, shift, lambda x: formula(x, psm, *weights))
        free = [k for k in range(rules.n_atoms) if allowed[k]]
        assert allowed[best]
        assert least == pytest.approx(min(0.0, min(changes[k] for k in free)), abs=1e-9)
        state.move(node, int(rng.choice(free)))


def check_node(labels, own, changes, allowed, asked, shift, value):
    alone = np.where(own, labels.max() + 1, labels)
    for cluster, change in enumerate(changes):
        moved = np.where(own, cluster, labels)
        if not (alone == cluster).any():  # an empty cluster is being alone
            assert change == 0
            moved = alone
        assert change + shift == pytest.approx(value(moved) - value(alone), abs=1e-9)
        assert allowed[cluster] == ref.obeys(moved, **asked)


@pytest.mark.parametrize("name", OBJECTIVES)
@given(problem=problems())
@settings(max_examples=15, deadline=None)
def test_changes_and_rules_are_those_of_the_definition(name, problem):
    check(name, *problem)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_disagreement_would_be_noticed(name):
    with pytest.raises(AssertionError):
        check(name, np.random.default_rng(1), 6, shift=1e-6)
