"""Ensembles split over hosts, through Dask: statistics and per-item scores are transferred, base labels are not.

If the ensemble is split by rows, each host has some of the items in all clusterings and returns expected counts. If it
is split by columns, each host has some of the clusterings of all items and returns per-item scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from partita._support.arrays import Floats
from partita._support.validate import check_choice, check_random_state
from partita.distributed.pool import MAX_LOSSES, DaskPool, connected
from partita.ensembles.base_clusterings import Base, as_levels, hard_base, in_column_order, warn_unlabelled
from partita.ensembles.dependence import Dependence, check_powers, check_weighting, dependence, powers_from, weights_of
from partita.ensembles.layout import Layout
from partita.ensembles.nbce import NBCE
from partita.ensembles.responsibilities import (
    SCORE_STEP,
    LocalHost,
    Step,
    label_scores,
    respond,
    to_steps,
    weight_scores,
)

#: How long an answer is awaited before the hosts are looked at.
TURN_SECONDS = 2.0


class HostLostError(ConnectionError):
    """A host of a part of the ensemble is gone."""


class Hosts:
    """The hosts of the parts of an ensemble: `parts` are Dask futures that are in place."""

    def __init__(self, client: Any, parts: Sequence[Any]) -> None:
        from distributed import wait

        self._client, self._parts = client, parts
        wait(parts)  # type: ignore[no-untyped-call]  # until then their hosts are not known
        self._held = client.who_has(parts)
        self._addresses = {address for part in parts for address in self._held[part.key]}

    def check(self) -> None:
        """Raises an error if a host is gone."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        lost = sorted(self._addresses - set(workers))
        if lost or not all(self._held[part.key] for part in self._parts):
            raise HostLostError(
                f"the Dask worker {', '.join(lost) or 'of a part'} is lost, with its part of the ensemble"
            )

    def submit(self, work: Any, *arguments: Any, **options: Any) -> list[Any]:
        """One future of work(part, *arguments) per part, on the host of the part: base labels do not move."""
        return [
            self._client.submit(
                work,
                part,
                *arguments,
                workers=list(self._held[part.key]),
                allow_other_workers=False,
                pure=False,
                **options,
            )
            for part in self._parts
        ]

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """What futures give, in their order."""
        return [self._result(future) for future in futures]

    def _result(self, future: Any) -> Any:
        while True:
            try:
                return future.result(timeout=TURN_SECONDS)
            except TimeoutError:
                self.check()
            except OSError as error:  # the scheduler may not know of it yet
                raise HostLostError("a Dask worker that holds a part of the ensemble cannot be reached") from error
            except Exception:
                self.check()
                raise


class Actors:
    """One object per part: kind(part, *arguments), on the host of the part.

    A host that is lost takes its object's state with it. Dask may make the object anew, without its state, or wait for
    the host without end; so every answer is awaited with an eye on the hosts, and a loss is an error of its own.
    """

    def __init__(self, hosts: Hosts, kind: Any, *arguments: Any) -> None:
        self._hosts = hosts
        self._futures = hosts.submit(kind, *arguments, actor=True)  # an actor exists as long as its future
        self._actors = hosts.results(self._futures)

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """What a method gives on every host; the hosts work at the same time."""
        return self.ask_each(method, [arguments] * len(self._actors))

    def ask_each(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The same, with arguments for each host."""
        try:
            asked = [getattr(actor, method)(*given) for actor, given in zip(self._actors, arguments, strict=True)]
        except RuntimeError as error:  # Dask's, if it knows already that the host is gone
            raise HostLostError(str(error)) from error
        return self._hosts.results(asked)


SPLITS = ("rows", "columns")


def fit_distributed(model: NBCE, parts: Sequence[Any], split: str, client: Any) -> NBCE:
    """Fit NBCE ("vb" or "cvb") to base clusterings that are stored on several hosts.

    The result is the same as that of `model.fit` on the whole ensemble, up to rounding.

    With `weights="dependence"` each host returns a table of the dependence of pairs of its clusterings on its items
    (`dependence`). Of an ensemble that is split by rows, their mean is used. If it is split by columns, no table has
    pairs of clusterings on different hosts, which are taken as independent given the consensus.

    If a worker is lost, its part is sent to another one and the fit begins again, with the same random numbers. A part
    that was given as a future is lost with its worker, which is an error.

    Parameters
    ----------
    model : NBCE
        With inference "vb" or "cvb"; it is fitted in place.
    parts : sequence
        One part per host: (items, clusterings) labels, or a Dask future of them that is already on its host.
    split : "rows" or "columns"
        Whether the parts follow each other or stand side by side.
    client : dask.distributed.Client or str
        A client, or the address of a scheduler.

    Returns
    -------
    NBCE
        The fitted model; its `base_` has the set of labels of each clustering, but not the labels of the items.
    """
    model._check()
    if model.inference == "gibbs":
        raise ValueError("a split ensemble needs inference 'vb' or 'cvb': Gibbs sampling updates one item at a time")
    check_choice(split, "split", SPLITS)
    if not parts:
        raise ValueError("parts is empty: there is nothing to fit")
    with connected(client) as pool:
        return _repeated_if_lost(partial(_fit_once, model, parts, split, pool), model.random_state, parts)


def _repeated_if_lost(fit: Callable[[np.random.Generator], NBCE], random_state: Any, parts: Sequence[Any]) -> NBCE:
    """The fit; from its beginning, with the same random numbers, if a host was lost."""
    rng = check_random_state(random_state)
    again = deepcopy(rng)
    for _ in range(MAX_LOSSES):
        try:
            return fit(rng)
        except HostLostError:
            if any(_is_future(part) and part.status != "finished" for part in parts):
                raise
        rng = deepcopy(again)
    return fit(rng)


def _fit_once(model: NBCE, parts: Sequence[Any], split: str, pool: DaskPool, rng: np.random.Generator) -> NBCE:
    placed = [part if _is_future(part) else pool.share(part, p).future for p, part in enumerate(parts)]
    places = Hosts(pool.client, placed)
    hosts = (RowHosts if split == "rows" else ColumnHosts)(places)
    codes = np.where(hosts.labelled[:, None], 0, -1)
    warn_unlabelled(Base(codes, ()))
    model.weights_, model.dependence_ = hosts.weigh(model.weights), None
    model._fit_variational(hosts, hosts.labelled, rng)
    places.check()  # an object that Dask made anew, without its state, would have given another answer
    model.base_ = Base(np.empty((0, len(hosts.levels)), dtype=np.int8), hosts.levels)
    model.n_features_in_ = len(hosts.levels)
    return model


def _is_future(part: Any) -> bool:
    return hasattr(part, "key")


def read_levels(part: Any) -> tuple[NDArray[Any], ...]:
    """The labels that occur in each clustering; runs on the host."""
    return hard_base(part, "a split ensemble").levels


class RowHost(LocalHost):
    """Some of the items; those without labels are left out."""

    def __init__(self, part: Any, levels: tuple[NDArray[Any], ...]) -> None:
        read = hard_base(part, "a split ensemble", levels)
        self.labelled = read.labelled
        self._base = read.rows(self.labelled)
        super().__init__(self._base)

    def items(self) -> NDArray[np.bool_]:
        return self.labelled

    def dependence(self) -> Floats:
        """The table of pairs; NaN for a clustering with one label on this host, which tells nothing of dependence."""
        matrix = dependence(self._base).matrix
        constant = [len(np.unique(column[column >= 0])) < 2 for column in self._base.codes.T]
        matrix[constant], matrix[:, constant] = np.nan, np.nan
        return matrix

    def weigh(self, weights: Floats) -> None:
        self.layout = Layout(self.layout.sizes, weights)


class RowHosts:
    """Hosts with some of the items each, behind the interface of the variational methods."""

    def __init__(self, hosts: Hosts) -> None:
        self.levels = _union(hosts.results(hosts.submit(read_levels)))
        self._actors = Actors(hosts, RowHost, self.levels)
        self.labelled: NDArray[np.bool_] = np.concatenate(self._actors.ask("items"))
        self.n_items = int(self.labelled.sum())
        self.layout = Layout.plain(np.array([max(len(labels), 1) for labels in self.levels], dtype=np.intp))

    def weigh(self, weights: Any) -> Floats:
        """Sets the weights of the clusterings, and returns them."""
        powers = _powers(weights, self._dependence, self.layout)
        self.layout = Layout(self.layout.sizes, powers)
        self._actors.ask("weigh", powers)
        return powers

    def _dependence(self) -> Floats:
        items = [int(mask.sum()) for mask in self._actors.ask("items")]
        return mean_dependence(self._actors.ask("dependence"), items)

    def linear(self, weights: Floats, log_prior: Floats) -> Step:
        return Step.total(self._actors.ask("linear", weights, log_prior))

    def collapsed(self, step: Step, alpha: float, beta: float, sticks: bool, kept: float) -> Step:
        return Step.total(self._actors.ask("collapsed", step, alpha, beta, sticks, kept))

    def reorder(self, order: NDArray[np.intp]) -> None:
        self._actors.ask("reorder", order)

    def responsibilities(self) -> Floats:
        return np.concatenate(self._actors.ask("responsibilities"))


def mean_dependence(tables: Sequence[Floats], items: Sequence[int]) -> Floats:
    """The mean over hosts, by their numbers of items, of the pairs that they can judge; 0 for those that none can."""
    known = ~np.isnan(tables)
    counted = np.asarray(items, dtype=np.float64)[:, None, None] * known
    total = (counted * np.nan_to_num(np.asarray(tables))).sum(axis=0)
    matrix: Floats = np.divide(total, counted.sum(axis=0), out=np.zeros_like(total), where=known.any(axis=0))
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _powers(weights: Any, table: Callable[[], Floats], layout: Layout) -> Floats:
    """The powers of the clusterings; those of "dependence" and its warning follow from the table of pairs."""
    check_weighting(weights)
    if weights is not None and not isinstance(weights, str):
        return check_powers(in_column_order(weights, None, len(layout.sizes)))
    matrix = table()
    found = Dependence(matrix, weights_of(matrix), np.empty(0, dtype=np.intp))
    return powers_from(found, weights, layout.sizes > 1)


def _union(found: list[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """The labels that occur on any host, in the order that they have if one host has all items."""
    widths = {len(levels) for levels in found}
    if len(widths) > 1:
        raise ValueError(f"the parts have different numbers of clusterings: {sorted(widths)}")
    return tuple(_union_of_column(column) for column in zip(*found, strict=True))


def _union_of_column(column: tuple[NDArray[Any], ...]) -> NDArray[Any]:
    seen = [labels for labels in column if len(labels)] or [column[0]]
    kinds = {labels.dtype.kind for labels in seen}
    if kinds <= set("iufb") or kinds <= set("US"):
        return np.unique(np.concatenate(seen))
    return as_levels(list(dict.fromkeys(label for labels in seen for label in labels.tolist())))


class ColumnHost:
    """Some of the clusterings of all items. It keeps the responsibilities that it last received."""

    def __init__(self, part: Any) -> None:
        self._base = hard_base(part, "a split ensemble")
        self._layout = Layout.plain(self._base.sizes)
        self._gamma: Floats = np.empty((0, 0))

    def levels(self) -> tuple[NDArray[Any], ...]:
        return self._base.levels

    def items(self) -> NDArray[np.bool_]:
        return self._base.labelled

    def keep(self, items: NDArray[np.bool_]) -> None:
        self._base = self._base.rows(items)
        self._labels = self._base.memberships()

    def linear_scores(self, weights: Floats) -> Floats:
        return np.asarray(self._labels @ to_steps(weights, SCORE_STEP))

    def collapsed_scores(self, counts: Floats, beta: float) -> Floats:
        observed = self._layout.per_clustering(counts)
        return label_scores(self._base.codes, self._gamma, counts, observed, beta, self._layout)

    def dependence(self) -> Floats:
        return dependence(self._base).matrix

    def weigh(self, weights: Floats) -> None:
        self._layout = Layout(self._base.sizes, weights)

    def counts(self, gamma: Floats) -> Floats:
        self._gamma = gamma
        return np.asarray(self._labels.T @ gamma)

    def reorder(self, order: NDArray[np.intp]) -> None:
        self._gamma = self._gamma[:, order]


class ColumnHosts:
    """Hosts with some of the clusterings each, behind the interface of the variational methods; γ is kept here."""

    def __init__(self, hosts: Hosts) -> None:
        self._actors = Actors(hosts, ColumnHost)
        per_host = self._actors.ask("levels")
        self.levels = tuple(labels for levels in per_host for labels in levels)
        masks = self._actors.ask("items")
        if len({len(mask) for mask in masks}) > 1:
            raise ValueError(f"the parts have different numbers of items: {[len(mask) for mask in masks]}")
        self.labelled: NDArray[np.bool_] = np.any(masks, axis=0)
        self._actors.ask("keep", self.labelled)
        self.n_items = int(self.labelled.sum())
        sizes = [[max(len(labels), 1) for labels in levels] for levels in per_host]
        self.layout = Layout.plain(np.concatenate(sizes).astype(np.intp))
        self._n_clusterings = [len(levels) for levels in per_host]
        ends = np.cumsum([sum(host) for host in sizes])
        self._rows = [slice(end - sum(host), end) for end, host in zip(ends, sizes, strict=True)]
        self._gamma: Floats = np.empty((0, 0))

    def weigh(self, weights: Any) -> Floats:
        """Sets the weights of the clusterings, and returns them."""
        powers = _powers(weights, self._dependence, self.layout)
        self.layout = Layout(self.layout.sizes, powers)
        ends = np.cumsum(self._n_clusterings)[:-1]
        self._actors.ask_each("weigh", [(part,) for part in np.split(powers, ends)])
        return powers

    def _dependence(self) -> Floats:
        """Pairs of clusterings on the same host; those on different hosts have 0."""
        return np.asarray(block_diag(*self._actors.ask("dependence")))

    def linear(self, weights: Floats, log_prior: Floats) -> Step:
        scores = self._sum_scores("linear_scores", [(weights[rows],) for rows in self._rows])
        self._gamma = np.zeros_like(scores)
        return self._update(scores + log_prior, 0.0)

    def collapsed(self, step: Step, alpha: float, beta: float, sticks: bool, kept: float) -> Step:
        scores = self._sum_scores("collapsed_scores", [(step.counts[rows], beta) for rows in self._rows])
        return self._update(scores + weight_scores(self._gamma, step.sizes, alpha, sticks), kept)

    def _sum_scores(self, method: str, arguments: list[tuple[Any, ...]]) -> Floats:
        return np.asarray(np.sum(self._actors.ask_each(method, arguments), axis=0))

    def _update(self, scores: Floats, kept: float) -> Step:
        self._gamma, step = respond(scores, self._gamma, kept)
        return replace(step, counts=np.concatenate(self._actors.ask("counts", self._gamma)))

    def reorder(self, order: NDArray[np.intp]) -> None:
        self._gamma = self._gamma[:, order]
        self._actors.ask("reorder", order)

    def responsibilities(self) -> Floats:
        return self._gamma
