"""Linkage that lives: new, changed and removed pairs and records, with lasting identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Ints, Labels
from partita._support.errors import Argument, ArgumentError
from partita._support.hints import did_you_mean, hinted
from partita._support.names import Names, as_named
from partita._support.validate import seed_and_generator
from partita.estimation.pair_estimate import PairEstimate, checked_method, found_partition, ledger_of
from partita.pairs.losses import ApproximateARI
from partita.pairs.probabilities import Similarity, check_listed, distinct_pairs, open_listed
from partita.pairs.revision import Revision, item_names, part_of_pairs, revise
from partita.pairs.sources.columns import check_wanted
from partita.pairs.sources.listed import ListedPairs
from partita.partitions.labels import canonical
from partita.search import as_method
from partita.search.constraints import Constraints, Resolved, resolve
from partita.search.pair_graph import PairSearch, Parts, bound_of, loss_of_total
from partita.search.pair_proofs import part_of

Mask = NDArray[np.bool_]
#: Names among which a similar one is looked for.
_HINTED = 10_000


@hinted
def update(
    est: PairEstimate,
    more_pairs: Any = None,
    records: Any = None,
    removed: Any = None,
    *,
    constraints: Constraints | None = None,
    columns: Any = None,
    rng: Any = None,
) -> PairEstimate:
    """The estimate after more pairs, other probabilities, more records, removed records or pairs, or more constraints.

    Only components that something touches are solved again, so that the result is that of solving everything at once.
    (Under the approximate ARI everything hangs together, and everything is solved again.) Clusters keep their
    identifiers, `ids`, by largest overlap, the older identifier among equals; none is ever given twice. `changes` says
    what became of each.

    Parameters
    ----------
    est : PairEstimate
        The estimate before.
    more_pairs : table, file, Series or Similarity, optional
        Pairs with their probabilities, as `as_similarity` takes them. A pair that is listed already gets the new
        probability.
    records : sequence of str, optional
        Names of all new records, also of those in no pair. Pairs of records that are neither known nor among these
        are an error. By default all records of the new pairs are added.
    removed : sequence, optional
        Names of records that leave, or pairs of names that are no longer listed.
    constraints : Constraints, optional
        Constraints beside those of the estimate: groups and pairs are added, `one_per` and `max_size` replace what was.
    columns : three str, optional
        The names of the columns of `more_pairs`, as for `as_similarity`.
    rng : int or Generator, optional
        The seed; by default that of the estimate.

    Returns
    -------
    PairEstimate

    Examples
    --------
    >>> import pandas as pd
    >>> from partita import as_similarity, estimate
    >>> table = pd.DataFrame({"left": ["ann", "bob"], "right": ["anne", "rob"], "p": [0.9, 0.8]})
    >>> first = estimate(as_similarity(table), "binder", rng=1)
    >>> more = pd.DataFrame({"left": ["anne", "ann", "cy"], "right": ["anna", "anna", "rob"], "p": [0.9, 0.8, 0.3]})
    >>> second = update(first, more, removed=["bob"])
    >>> dict(zip(second.similarity.names, second.ids.tolist()))
    {'ann': 0, 'anne': 0, 'rob': 1, 'anna': 0, 'cy': 2}
    >>> second.changes
    Changes: 1 grown, 1 shrunk, 1 new
    """
    if not isinstance(est, PairEstimate):
        raise TypeError(f"est must be an estimate from pair probabilities, not {type(est).__name__}")
    asked = _Asked.of(est, more_pairs, records, removed, check_wanted(columns))
    if asked.gone.size == est.similarity.n_items and not asked.new:
        raise ArgumentError(Argument("removed"), " names all records: nothing is left to estimate")
    revision = revise(est.similarity, asked.more, asked.new, asked.new_sources, asked.gone, asked.dropped)
    obeyed, touched = _constraints_after(est, revision, asked.new_sources, constraints)
    seed, generator = seed_and_generator(est.seed if rng is None else rng)
    items, found = _solve(est, revision, obeyed, touched, generator)
    value = loss_of_total(float(found[0].values.sum()), revision.pairs, est.loss)
    best = found_partition(revision.pairs, found, est.loss, est.method, est.search, obeyed, seed, value)
    former = item_names(est.similarity) if asked.gone.size else ()
    gone = tuple(former[i] for i in asked.gone.tolist())
    ledger = ledger_of(est).then(revision.number, best.labels, items, gone, np.flatnonzero(touched))
    return replace(best, _ledger=ledger, _origin=est._origin)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What an update changes, in terms of numbers: former items as they were, new ones after them."""

    more: tuple[Ints, Ints, Any]
    new: Names
    new_sources: tuple[str, ...] | None
    gone: Ints
    dropped: Ints

    @classmethod
    def of(cls, est: PairEstimate, more_pairs: Any, records: Any, removed: Any, wanted: Any) -> _Asked:
        pairs, listed = est.similarity, _listed(more_pairs, est.similarity, wanted)
        given = None if records is None else _record_names(records)
        leave = [] if removed is None else _removed(removed)
        asked_for = [*listed.items, *(given or ()), *(name for one in leave for name in one)]
        place = _places(pairs, set(asked_for))
        new = _new_names(place, given, listed)
        place |= {name: pairs.n_items + number for number, name in enumerate(new)}
        for one in leave:
            for name in one:
                if place.get(name, pairs.n_items) >= pairs.n_items:
                    hint = did_you_mean(name, item_names(pairs)[:_HINTED])
                    raise ArgumentError(Argument("removed"), f" names {name!r}, which is not a record{hint}")
        gone = {one[0] for one in leave if len(one) == 1}
        if both := gone & {*listed.items}:
            raise ArgumentError(
                Argument("removed"), f" names {min(both)!r}, which has a pair in ", Argument("more_pairs")
            )
        number = np.array([place[name] for name in listed.items], np.int64)
        left, right, values = distinct_pairs(listed)
        sources = None
        if listed.sources is not None:
            known = dict(zip(listed.items, listed.sources, strict=True))
            sources = tuple(known.get(name, "") for name in new)
        return cls(
            (number[left], number[right], values),
            new,
            sources,
            np.array(sorted(place[name] for name in gone), np.int64),
            _dropped(pairs, [[place[name] for name in one] for one in leave if len(one) == 2], gone, leave),
        )


def _listed(more_pairs: Any, pairs: Similarity, wanted: Sequence[str] | None) -> ListedPairs:
    if isinstance(more_pairs, Similarity):
        left, right, values = more_pairs.pairs()
        if more_pairs.default not in (0.0, pairs.default):
            raise ArgumentError(
                Argument("more_pairs"), f" has the default {more_pairs.default:g}, but the estimate {pairs.default:g}"
            )
        listed = ListedPairs(left, right, values, item_names(more_pairs), lambda row: f"pair {row}", more_pairs.sources)
    else:
        listed = open_listed([] if more_pairs is None else more_pairs, wanted)
    if not isinstance(listed, ListedPairs):
        raise TypeError("more_pairs must list pairs, one per row; a matrix has no names to find the records by")
    check_listed(listed)
    if len(listed.left) and (listed.sources is None) != (pairs.sources is None):
        which = ("no sources", "have") if listed.sources is None else ("sources", "have none")
        raise ArgumentError(
            Argument("more_pairs"), f" has {which[0]}, but the pairs of the estimate {which[1]}: is it other data?"
        )
    return listed


def _record_names(records: Any) -> Names:
    if isinstance(records, str) or getattr(records, "ndim", 1) != 1:
        raise TypeError("records must be a sequence of names, one per record")
    names = tuple(map(str, records.tolist() if hasattr(records, "tolist") else records))
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ArgumentError(Argument("records"), f" has {twice!r} twice")
    return names


def _removed(removed: Any) -> list[tuple[str, ...]]:
    """Each entry as the names of one record or of the two of a pair."""
    if isinstance(removed, str) or not isinstance(removed, Iterable):
        raise TypeError(f"removed must be a sequence of records, or of pairs of records, not {removed!r}")
    rows = removed.itertuples(index=False) if hasattr(removed, "itertuples") else removed
    found = [tuple(map(str, one)) if isinstance(one, tuple | list | np.ndarray) else (str(one),) for one in rows]
    for one in found:
        if len(one) not in (1, 2):
            raise ArgumentError(Argument("removed"), f" has {one!r}: an entry is one record, or a pair of records")
    return found


def _places(pairs: Similarity, wanted: set[str]) -> dict[str, int]:
    """The numbers of those of some names that are known; one pass over all names, without a dictionary of them."""
    if not wanted:
        return {}
    if pairs.names is None:
        plain = {name for name in wanted if name.isdecimal() and str(int(name)) == name}
        return {name: int(name) for name in plain if int(name) < pairs.n_items}
    names = pairs.names
    return {names[number]: number for number in compress(range(len(names)), map(wanted.__contains__, names))}


def _new_names(place: dict[str, int], given: Names | None, listed: ListedPairs) -> Names:
    """The records that are not known: those that are given, or else those of the pairs."""
    if given is None:
        return tuple(name for name in listed.items if name not in place)
    allowed = set(given)
    unknown = next((name for name in listed.items if name not in place and name not in allowed), None)
    if unknown is not None:
        number = listed.items.index(unknown)
        row = int(np.flatnonzero((listed.left == number) | (listed.right == number))[0])
        hint = did_you_mean(unknown, given[:_HINTED])
        raise ArgumentError(
            f"{listed.place(row)} names {unknown!r}, which is neither known nor among ", Argument("records"), hint
        )
    return tuple(name for name in given if name not in place)


def _dropped(pairs: Similarity, asked: list[list[int]], gone: set[str], leave: list[tuple[str, ...]]) -> Ints:
    """(k, 2): distinct pairs that are to be listed no longer, each of which is listed now."""
    names = [one for one in leave if len(one) == 2]
    ends = np.array(asked, np.int64).reshape(-1, 2)
    row, other, _ = pairs.rows_of(ends[:, 0])
    listed = {*row[other == ends[row, 1]].tolist()}
    for k, one in enumerate(names):
        if k not in listed:
            raise ArgumentError(Argument("removed"), f" has the pair {one!r}, which is not listed")
        if not gone.isdisjoint(one):
            raise ArgumentError(
                Argument("removed"), f" has the pair {one!r} and one of its records: the record takes its pairs with it"
            )
    return np.unique(np.sort(ends, axis=1), axis=0)


def _constraints_after(
    est: PairEstimate, revision: Revision, new_sources: tuple[str, ...] | None, more: Constraints | None
) -> tuple[Constraints | None, Mask]:
    """The constraints after an update, and which items they touch."""
    before, now = est.similarity, revision.pairs
    touched = revision.touched.copy()
    if est.constraints is None and more is None:
        return None, touched
    old = _constraints_now(est.constraints or Constraints(), before, revision, new_sources)
    if more is None:
        return old, touched
    own = resolve(more, now.names, now.n_items, "the records")
    touched |= (np.bincount(own.atom) > 1)[own.atom]
    touched[own.apart.ravel()] = True
    if more.one_per is not None or (more.max_size is not None and more.max_size != old.max_size):
        touched[:] = True
    return (
        Constraints(
            [*old.together, *more.together],
            [*old.apart, *more.apart],
            old.one_per if more.one_per is None else more.one_per,
            old.max_size if more.max_size is None else more.max_size,
        ),
        touched,
    )


def _constraints_now(
    old: Constraints, before: Similarity, revision: Revision, new_sources: tuple[str, ...] | None
) -> Constraints:
    """Constraints on the items that are still there, as the items are numbered or named now; new ones have a source."""
    now = revision.pairs
    named = {x for group in (*old.together, *old.apart) for x in group if isinstance(x, str)}
    place = _places(before, named)

    def groups(of: Sequence[Sequence[Any]]) -> list[list[Any]]:
        numbers = ([int(revision.number[place[x] if isinstance(x, str) else x]) for x in group] for group in of)
        kept = ([i for i in group if i >= 0] for group in numbers)
        return [group if now.names is None else [now.names[i] for i in group] for group in kept if len(group) > 1]

    sources = None
    if old.one_per is not None:
        values = as_named(old.one_per, "one_per").in_order_of(before.names, before.n_items, "the estimate")
        sources = [value for value, number in zip(values, revision.number.tolist(), strict=True) if number >= 0]
        n_new = now.n_items - len(sources)
        sources += [None] * n_new if new_sources is None else [source or None for source in new_sources]
    return Constraints(groups(old.together), groups(old.apart), sources, old.max_size)


def _solve(
    est: PairEstimate, revision: Revision, constraints: Constraints | None, touched: Mask, rng: np.random.Generator
) -> tuple[Labels, tuple[Parts, float | None]]:
    """The items whose components are solved again, and the partition of all with its bound."""
    pairs, parts = revision.pairs, est._parts
    rules = None if constraints is None else resolve(constraints, pairs.names, pairs.n_items, "the records")
    find = checked_method(as_method(est.method), est.search)
    items = np.arange(pairs.n_items)
    if parts is not None and not isinstance(est.loss, ApproximateARI):
        items = np.flatnonzero(_in_touched_components(parts, revision, touched))
    if parts is None or items.size == pairs.n_items:
        return items, find(PairSearch(pairs, est.search, rules), est.loss, rng)
    if not items.size:
        none = np.zeros(0, np.int64)
        found = Parts(none, none, np.zeros(0), np.zeros(0), np.zeros(0, np.bool_), False)
    else:
        own: Resolved | None = None if rules is None else part_of(rules, items)
        found, _ = find(PairSearch(part_of_pairs(pairs, items), est.search, own), est.loss, rng)
    joined = _joined(parts, revision, items, found)
    return items, (joined, bound_of(joined, pairs, est.loss))


def _in_touched_components(parts: Parts, revision: Revision, touched: Mask) -> Mask:
    """Items of components, as they were, of which something is touched or gone; and all new items."""
    stays = revision.number >= 0
    is_touched = np.zeros(len(parts.bounds), np.bool_)
    is_touched[parts.component[~stays]] = True
    now = revision.number[stays]
    is_touched[parts.component[stays][touched[now]]] = True
    again = np.ones(revision.pairs.n_items, np.bool_)
    again[now] = is_touched[parts.component[stays]]
    return again


def _joined(before: Parts, revision: Revision, items: Labels, found: Parts) -> Parts:
    """The former components, and those that were solved again in their place."""
    stays = revision.number >= 0
    labels = np.empty(revision.pairs.n_items, np.int64)
    component = labels.copy()
    labels[revision.number[stays]] = before.labels[stays]
    component[revision.number[stays]] = before.component[stays]
    labels[items] = before.labels.size + found.labels
    component[items] = len(before.bounds) + found.component
    numbered = canonical(component)
    order = component[np.flatnonzero(np.diff(np.maximum.accumulate(numbered), prepend=-1) > 0)]  # as first seen
    values, bounds, proven = (
        np.concatenate([getattr(x, name) for x in (before, found)])[order] for name in Parts.BY_COMPONENT
    )
    return Parts(canonical(labels), numbered, values, bounds, proven, before.interrupted or found.interrupted)
