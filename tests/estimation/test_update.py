"""Updates of a linkage: equal to solving everything at once, identifiers that last, a ledger that adds up."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt

LOSSES = {
    "binder": (pt.Binder(), 0.0),
    "binder with a default": (pt.Binder(a=1.0, b=1.5), 0.3),
    "vi-lower-bound": (pt.VILowerBound(), 0.0),
    "pear": (pt.ApproximateARI(), 0.0),
}
ONE_JOB = pt.Search(runs=2, n_jobs=1)


def as_table(pairs):
    return pd.DataFrame([(*sorted(pair), p) for pair, p in pairs.items()], columns=["left", "right", "p"])


class Register:
    """Records and pairs as plain Python: what the stream of updates should amount to."""

    def __init__(self, rng):
        self.rng, self.records, self.pairs, self.count = rng, [], {}, 0

    def add_records(self, n):
        fresh = [f"r{self.count + k}" for k in range(n)]
        self.count += n
        self.records += fresh
        return fresh

    def some_pairs(self, n, among=None):
        """Random pairs, mostly of records near each other so that components stay small."""
        found = {}
        for _ in range(n):
            i = int(self.rng.integers(len(self.records)))
            j = min(len(self.records) - 1, i + int(self.rng.integers(1, 4)))
            if i != j:
                found[frozenset((self.records[i], self.records[j]))] = round(float(self.rng.random()), 3)
        return found

    def remove(self, n):
        gone = [str(name) for name in self.rng.choice(self.records, min(n, len(self.records) - 2), replace=False)]
        self.records = [name for name in self.records if name not in gone]
        self.pairs = {pair: p for pair, p in self.pairs.items() if pair.isdisjoint(gone)}
        return gone

    def drop_pairs(self, n):
        listed = [pair for pair in self.pairs if not pair.isdisjoint(self.records)]
        chosen = self.rng.permutation(len(listed))[:n]
        dropped = [tuple(sorted(listed[k])) for k in chosen]
        for pair in dropped:
            del self.pairs[frozenset(pair)]
        return dropped


def begin(rng, loss, default, constraints=None):
    register = Register(rng)
    register.add_records(int(rng.integers(4, 12)))
    register.pairs = register.some_pairs(12)
    pairs = pt.as_similarity(as_table(register.pairs), names=register.records, default=default)
    return register, pt.estimate(pairs, loss, search=ONE_JOB, constraints=constraints, rng=1)


def step(register, est):
    """One random update of the register and of the estimate."""
    kind = register.rng.integers(4)
    if kind == 0:
        fresh = register.add_records(int(register.rng.integers(1, 4)))
        more = register.some_pairs(5)
        register.pairs |= more
        return pt.update(est, as_table(more), records=fresh if register.rng.random() < 0.5 else register.records)
    if kind == 1:
        return pt.update(est, removed=register.remove(int(register.rng.integers(1, 3))))
    if kind == 2 and (dropped := register.drop_pairs(2)):
        return pt.update(est, removed=dropped)
    more = register.some_pairs(4)
    register.pairs |= more
    return pt.update(est, as_table(more))


def check_equal_to_solving_at_once(register, est, loss, default, constraints=None):
    names = est.similarity.names
    assert sorted(names) == sorted(register.records)
    pairs = pt.as_similarity(as_table(register.pairs), names=names, default=default)
    for part in ("offsets", "neighbors", "probabilities"):
        assert np.array_equal(getattr(est.similarity, part), getattr(pairs, part))
    whole = pt.estimate(pairs, loss, search=ONE_JOB, constraints=constraints, rng=1)
    assert est.expected_loss == pytest.approx(whole.expected_loss, abs=1e-9)
    assert est.expected_loss == pytest.approx(pt.pair_loss(est.labels, pairs, loss), abs=1e-12)
    assert np.array_equal(est.components.labels, whole.components.labels)
    assert np.array_equal(est.components.is_proven, whole.components.is_proven)
    assert np.array_equal(est.components.sizes, whole.components.sizes)
    assert est.proven == whole.proven
    assert est.bound(0.1).value == pytest.approx(whole.bound(0.1).value, abs=1e-9)


def members(est):
    found = {}
    for name, own in zip(est.similarity.names, est.ids.tolist(), strict=True):
        found.setdefault(own, set()).add(name)
    return found


def check_ledger(before, after, ever):
    """Every identifier once, of the kind that its members show, and the records that came or left."""
    was, now, changes = members(before), members(after), after.changes
    assert sorted(changes.id.tolist()) == sorted({*was, *now})
    assert pt.canonical(after.ids).tolist() == after.labels.tolist()
    assert not (set(now) - set(was)) & ever  # never given again
    counts = Counter(changes.kind.tolist())
    assert len(was) == len(changes) - counts["new"]
    assert len(now) == len(changes) - counts["gone"]
    new, gone = set(now) - set(was), set(was) - set(now)
    for own, kind, records in changes:
        old, fresh = was.get(own, set()), now.get(own, set())
        assert set(records) == old ^ fresh
        if own in new or own in gone:
            expected = {"new" if own in new else "gone"}
        elif old == fresh:
            expected = {"kept"}
        elif any(was[other] & fresh for other in gone):
            expected = {"merged"}
        elif any(now[other] & old for other in new):
            expected = {"split"}
        else:
            expected = {"grown" if len(fresh) >= len(old) else "shrunk"}
        assert {kind} == expected
    for own in new:  # the identifiers that its records had are those of larger or older parts
        assert all(other in now for other in was if was[other] & now[own])
    for own in gone:  # all of its records that are left are where a larger or older part decides
        for other in now:
            shared = len(was[own] & now[other])
            assert not shared or (other in was and (-len(was[other] & now[other]), other) < (-shared, own))
    return ever | set(was) | set(now)


def check_stream(name, seed, steps):
    loss, default = LOSSES[name]
    rng = np.random.default_rng(seed)
    register, est = begin(rng, loss, default)
    ever = set(est.ids.tolist())
    for _ in range(steps):
        before = est
        est = step(register, est)
        check_equal_to_solving_at_once(register, est, loss, default)
        ever = check_ledger(before, est, ever)


@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_updates_equal_solving_at_once_and_the_ledger_adds_up(name, seed):
    check_stream(name, seed, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(50))
def test_long_streams_equal_solving_at_once(name, seed):
    check_stream(name, seed, 20)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_order_and_grouping_of_updates_do_not_matter(seed):
    """All pairs at once, or in two random parts: the same loss, the same components."""
    rng = np.random.default_rng(seed)
    register, est = begin(rng, pt.Binder(), 0.0)
    fresh = register.add_records(3)
    more = list(register.some_pairs(8).items())
    order = rng.permutation(len(more))
    at_once = pt.update(est, as_table(dict(more)), records=fresh)
    in_parts = est
    for part in (order[: len(order) // 2], order[len(order) // 2 :]):
        in_parts = pt.update(in_parts, as_table(dict(more[k] for k in part)), records=fresh)
    assert in_parts.similarity.names == at_once.similarity.names
    assert in_parts.expected_loss == pytest.approx(at_once.expected_loss, abs=1e-9)
    assert np.array_equal(in_parts.components.labels, at_once.components.labels)


@pytest.mark.parametrize("seed", range(6))
def test_updates_under_constraints(seed):
    """Constraints stay with their records, also when numbers shift, and more of them solve what they touch."""
    rng = np.random.default_rng(seed)
    rules = pt.Constraints(together=[("r0", "r1")], apart=[("r2", "r3")], max_size=3)
    register, est = begin(rng, pt.Binder(), 0.0, rules)
    register.pairs = {pair: p for pair, p in register.pairs.items() if "r1" not in pair or "r0" in pair}
    est = pt.estimate(
        pt.as_similarity(as_table(register.pairs), names=register.records), search=ONE_JOB, loss="binder",
        constraints=rules, rng=1,
    )  # fmt: skip
    register.records.remove("r0")
    register.pairs = {pair: p for pair, p in register.pairs.items() if "r0" not in pair}
    est = pt.update(est, removed=["r0"])
    assert est.constraints.together == []
    assert est.constraints.apart == [["r2", "r3"]]
    more = pt.Constraints(together=[("r1", "r3")])
    est = pt.update(est, constraints=more)
    place = {name: k for k, name in enumerate(est.similarity.names)}
    assert est.labels[place["r1"]] == est.labels[place["r3"]] != est.labels[place["r2"]]
    assert est.sizes.max() <= 3
    both = pt.Constraints(together=[("r1", "r3")], apart=[("r2", "r3")], max_size=3)
    check_equal_to_solving_at_once(register, est, pt.Binder(), 0.0, both)


def test_sources_stay_with_their_records_and_new_ones_have_theirs():
    columns = ["source_dataset_l", "unique_id_l", "source_dataset_r", "unique_id_r", "match_probability"]
    first = pd.DataFrame([("a", 1, "b", 1, 0.9), ("a", 2, "b", 2, 0.9)], columns=columns)
    pairs = pt.as_similarity(first)
    est = pt.estimate(pairs, "binder", constraints=pt.Constraints(one_per=pairs.sources), rng=1)
    more = pd.DataFrame([("a", 1, "b", 3, 0.95), ("b", 1, "b", 3, 0.99), ("a", 1, "c", 1, 0.9)], columns=columns)
    est = pt.update(est, more, removed=["a-__-2"])
    assert list(est.constraints.one_per) == ["a", "b", "b", "b", "c"]
    labels = dict(zip(est.similarity.names, est.labels.tolist(), strict=True))
    assert labels["b-__-1"] != labels["b-__-3"]
    with pytest.raises(ValueError, match="more_pairs has no sources, but the pairs of the estimate have"):
        pt.update(est, pd.DataFrame([("x", "y", 0.5)], columns=["left", "right", "p"]))


def test_only_what_is_touched_is_solved_again(monkeypatch):
    from partita.search import pair_graph

    solved = []
    run = pair_graph.PairSearch._run
    monkeypatch.setattr(
        pair_graph.PairSearch, "_run", lambda self, *rest: solved.append(self.pairs.n_items) or run(self, *rest)
    )
    table = pd.DataFrame([(2 * k, 2 * k + 1, 0.9) for k in range(50)], columns=["left", "right", "p"])
    est = pt.estimate(pt.as_similarity(table), "binder", rng=1)
    est = pt.update(est, pd.DataFrame([(1, 3, 0.8)], columns=["left", "right", "p"]))
    est = pt.update(est, removed=["99"])
    est = pt.update(est)
    assert solved == [100, 4, 1]
    assert est.ids[:4].tolist() == est.ids[:4].tolist()
    assert est.changes.counts["kept"] == len(est.changes) == 50


def test_identifiers_go_to_the_largest_part_and_among_equals_to_the_older():
    table = pd.DataFrame([("a", "b", 0.9), ("c", "d", 0.9), ("e", "f", 0.9)], columns=["left", "right", "p"])
    first = pt.estimate(pt.as_similarity(table), "binder", rng=1)
    four = pd.DataFrame([(x, y, 0.99) for x in "ab" for y in "cd"], columns=["left", "right", "p"])
    merged = pt.update(first, four)
    assert merged.ids.tolist() == [0, 0, 0, 0, 2, 2]
    assert [tuple(row) for row in merged.changes] == [
        (0, "merged", ("c", "d")),
        (1, "gone", ("c", "d")),
        (2, "kept", ()),
    ]
    apart = pt.update(merged, four.assign(p=0.01))
    assert apart.ids.tolist() == [0, 0, 3, 3, 2, 2]  # 1 is never given again
    assert apart.changes["kind"].tolist() == ["split", "kept", "new"]
    assert apart.changes[apart.changes.kind == "new"].records == (("c", "d"),)
    assert apart.changes[0].id == 0
    assert apart.changes.to_pandas().columns.tolist() == ["id", "kind", "records"]
    assert repr(apart.changes) == "Changes: 1 kept, 1 split, 1 new"


PAIR = pd.DataFrame([("a", "b", 0.9)], columns=["left", "right", "p"])
BAD = {
    "an unknown record is removed": ({"removed": ["z"]}, "removed names 'z', which is not a record"),
    "a pair that is not listed": ({"removed": [("a", "c")]}, r"removed has the pair \('a', 'c'\), which is not listed"),
    "three in a pair": ({"removed": [("a", "b", "c")]}, "an entry is one record, or a pair"),
    "a pair and its record": ({"removed": ["a", ("a", "b")]}, "the record takes its pairs with it"),
    "all are removed": ({"removed": ["a", "b", "c"]}, "nothing is left"),
    "a record twice": ({"records": ["d", "e", "d"]}, "records has 'd' twice"),
    "a removed record has a pair": ({"more_pairs": PAIR, "removed": ["a"]}, "removed names 'a', which has a pair"),
    "a pair of an unknown record": (
        {"more_pairs": PAIR.assign(right="bea"), "records": ["beat"]},
        r"row 0 names 'bea', which is neither known nor among records \(did you mean 'beat'",
    ),
    "a probability above 1": ({"more_pairs": PAIR.assign(p=1.5)}, "row 0: the probability is 1.5"),
    "a pair with itself": ({"more_pairs": PAIR.assign(right="a")}, "row 0 is a pair of 'a' with itself"),
    "rows that disagree": ({"more_pairs": pd.concat([PAIR, PAIR.assign(p=0.5)])}, "gives 'a' and 'b' the probability"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    asked, message = BAD[name]
    est = pt.estimate(pt.as_similarity(PAIR, names=["a", "b", "c"]), "binder", rng=1)
    with pytest.raises(ValueError, match=message):
        pt.update(est, **asked)


def test_what_is_no_estimate_or_no_list_is_a_type_error():
    est = pt.estimate(pt.as_similarity(PAIR), "binder", rng=1)
    for asked, message in (
        ({"more_pairs": np.eye(2)}, "more_pairs must list pairs"),
        ({"records": "abc"}, "records must be a sequence of names"),
        ({"removed": "abc"}, "removed must be a sequence"),
    ):
        with pytest.raises(TypeError, match=message):
            pt.update(est, **asked)
    with pytest.raises(TypeError, match="est must be an estimate from pair probabilities, not list"):
        pt.update([0, 1])


@pytest.mark.parametrize("none", [None, [], ()])
def test_a_day_without_pairs(none):
    before = pt.estimate(pt.as_similarity([("a", "b", 0.9)], names=["a", "b", "c"]), "binder", rng=1)
    after = pt.update(before, none, records=["d"])
    assert after.ids.tolist() == [0, 0, 1, 2]
    assert after.changes.kind.tolist() == ["kept", "kept", "new"]
    if none is not None:
        assert pt.as_similarity(none, names=["a", "b"]).n_pairs == 0
        with pytest.raises(ValueError, match="there are no pairs and no names"):
            pt.as_similarity(none)


def test_the_way_out_to_arrow():
    est = pt.update(pt.estimate(pt.as_similarity(PAIR, names=["a", "b", "c"]), "binder", rng=1), removed=["b"])
    table = est.to_arrow()
    assert table.column_names == ["record", "id", "cluster"]
    assert table.to_pydict() == {"record": ["a", "c"], "id": [0, 1], "cluster": [0, 1]}


def test_rows_of_their_own_equal_rows_that_are_shared(monkeypatch):
    """After many revisions the pairs get rows of their own; before, some rows are shared with what was read."""
    from partita.pairs import revision
    from partita.pairs.revision import RevisedSimilarity

    def after(few):
        monkeypatch.setattr(revision, "FEW_ENTRIES", few)
        register, est = begin(np.random.default_rng(5), pt.Binder(), 0.0)
        for _ in range(8):
            est = step(register, est)
        return est.similarity

    shared, flat = after(1e9), after(0)
    assert isinstance(shared, RevisedSimilarity)
    assert type(flat) is pt.Similarity
    assert (shared.names, shared.n_pairs, shared.n_items) == (flat.names, flat.n_pairs, flat.n_items)
    assert shared.total() == pytest.approx(flat.total(), abs=1e-12)
    for part in ("offsets", "neighbors", "probabilities"):
        assert np.array_equal(getattr(shared, part), getattr(flat, part))
    items = np.arange(shared.n_items)[::-2]
    for one, other in zip(shared.rows_of(items), flat.rows_of(items), strict=True):
        assert np.array_equal(one, other)
