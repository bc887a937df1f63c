"""Ensembles split over hosts, through Dask: statistics and per-item scores travel, base labels do not.

Split by rows, each host has some of the items under all clusterings and answers with expected counts. Split
by columns, each host has some of the clusterings of all items and answers with per-item scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Base, as_base, as_levels, indicators, warn_unlabelled
from .hosts import SCORE_STEP, Here, Step, label_scores, respond, to_steps, weight_scores
from .layout import Floats, Layout
from .nbce import NBCE

SPLITS = ("rows", "columns")


def fit_distributed(model: NBCE, parts: Sequence[Any], split: str, client: Any) -> NBCE:
    """Fit NBCE ("vb" or "cvb") to base clusterings that lie on several hosts.

    The answer is that of `model.fit` on the whole, up to rounding.

    Parameters
    ----------
    model : an `NBCE` with inference "vb" or "cvb"; it is fitted in place
    parts : one part a host: (items, clusterings) labels, or a Dask future of them that is already on its host
    split : "rows" (the parts follow each other) or "columns" (the parts stand side by side)
    client : a `dask.distributed.Client`

    Returns
    -------
    The fitted model; its `base_` knows the labels of each clustering but not the items'.
    """
    model._check()
    if model.inference == "gibbs":
        raise ValueError("a split ensemble needs inference 'vb' or 'cvb': Gibbs sampling takes one item at a time")
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, but it is {split!r}")
    if not parts:
        raise ValueError("parts is empty: there is nothing to fit")
    placed = _place(parts, client)
    hosts = (RowHosts if split == "rows" else ColumnHosts)(placed, client)
    codes = np.where(hosts.labelled[:, None], 0, -1)
    warn_unlabelled(Base(codes, ()))
    model._fit_variational(hosts, hosts.labelled)
    model.base_ = Base(np.empty((0, len(hosts.levels)), dtype=np.int8), hosts.levels)
    return model


def _place(parts: Sequence[Any], client: Any) -> list[Any]:
    """Each part as a future; parts that are still here go to the workers in turn."""
    from distributed import wait

    client.wait_for_workers(1)
    workers = list(client.scheduler_info(n_workers=-1)["workers"])
    placed = [
        part if hasattr(part, "key") else client.scatter(part, workers=[workers[p % len(workers)]], hash=False)
        for p, part in enumerate(parts)
    ]
    wait(placed)  # type: ignore[no-untyped-call]  # only then is it known where they are
    return placed


def _submit(client: Any, work: Any, part: Any, *arguments: Any, **options: Any) -> Any:
    """Work on a part where the part is: base labels must not go to another host, however busy theirs is."""
    here = client.who_has([part])[part.key]
    return client.submit(work, part, *arguments, workers=list(here), allow_other_workers=False, pure=False, **options)


def read_levels(part: Any) -> tuple[NDArray[Any], ...]:
    """The labels that occur, clustering by clustering; runs on the host."""
    return as_base(part).levels


class RowHost(Here):
    """Some of the items; those without labels are left out."""

    def __init__(self, part: Any, levels: tuple[NDArray[Any], ...]) -> None:
        read = as_base(part, levels)
        self.labelled = read.labelled
        super().__init__(read.rows(self.labelled))

    def items(self) -> NDArray[np.bool_]:
        return self.labelled


class RowHosts:
    """Hosts that hold some items each, as the variational methods see them."""

    def __init__(self, parts: list[Any], client: Any) -> None:
        found = client.gather([_submit(client, read_levels, part) for part in parts])
        self.levels = _union(found)
        made = [_submit(client, RowHost, part, self.levels, actor=True) for part in parts]
        self._actors = [future.result() for future in made]
        self._futures = made  # an actor lives as long as its future
        self.labelled: NDArray[np.bool_] = np.concatenate(_ask(self._actors, "items"))
        self.n_items = int(self.labelled.sum())
        self.layout = Layout(np.array([max(len(labels), 1) for labels in self.levels], dtype=np.intp))

    def linear(self, weights: Floats, log_prior: Floats) -> Step:
        return Step.total(_ask(self._actors, "linear", weights, log_prior))

    def collapsed(self, step: Step, alpha: float, beta: float, sticks: bool, kept: float) -> Step:
        return Step.total(_ask(self._actors, "collapsed", step, alpha, beta, sticks, kept))

    def reorder(self, order: NDArray[np.intp]) -> None:
        _ask(self._actors, "reorder", order)

    def responsibilities(self) -> Floats:
        return np.concatenate(_ask(self._actors, "responsibilities"))


def _union(found: list[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """The labels that any host has seen, in the order that one host with everything would give them."""
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
    """Some of the clusterings of all items. It keeps the responsibilities that it was last told."""

    def __init__(self, part: Any) -> None:
        self._base = as_base(part)
        self._gamma: Floats = np.empty((0, 0))

    def levels(self) -> tuple[NDArray[Any], ...]:
        return self._base.levels

    def items(self) -> NDArray[np.bool_]:
        return self._base.labelled

    def keep(self, items: NDArray[np.bool_]) -> None:
        self._base = self._base.rows(items)
        self._labels = indicators(self._base)

    def linear_scores(self, weights: Floats) -> Floats:
        return np.asarray(self._labels @ to_steps(weights, SCORE_STEP))

    def collapsed_scores(self, counts: Floats, beta: float) -> Floats:
        layout = Layout(self._base.sizes)
        return label_scores(self._base.codes, self._gamma, counts, layout.per_clustering(counts), beta, layout)

    def counts(self, gamma: Floats) -> Floats:
        self._gamma = gamma
        return np.asarray(self._labels.T @ gamma)

    def reorder(self, order: NDArray[np.intp]) -> None:
        self._gamma = self._gamma[:, order]


class ColumnHosts:
    """Hosts that hold some clusterings each, as the variational methods see them; γ is kept here."""

    def __init__(self, parts: list[Any], client: Any) -> None:
        self._futures = [_submit(client, ColumnHost, part, actor=True) for part in parts]
        self._actors = [future.result() for future in self._futures]
        per_host = _ask(self._actors, "levels")
        self.levels = tuple(labels for levels in per_host for labels in levels)
        masks = _ask(self._actors, "items")
        if len({len(mask) for mask in masks}) > 1:
            raise ValueError(f"the parts have different numbers of items: {[len(mask) for mask in masks]}")
        self.labelled: NDArray[np.bool_] = np.any(masks, axis=0)
        _ask(self._actors, "keep", self.labelled)
        self.n_items = int(self.labelled.sum())
        sizes = [[max(len(labels), 1) for labels in levels] for levels in per_host]
        self.layout = Layout(np.concatenate(sizes).astype(np.intp))
        ends = np.cumsum([sum(host) for host in sizes])
        self._rows = [slice(end - sum(host), end) for end, host in zip(ends, sizes, strict=True)]
        self._gamma: Floats = np.empty((0, 0))

    def linear(self, weights: Floats, log_prior: Floats) -> Step:
        scores = self._sum_scores("linear_scores", [(weights[rows],) for rows in self._rows])
        self._gamma = np.zeros_like(scores)
        return self._update(scores + log_prior, 0.0)

    def collapsed(self, step: Step, alpha: float, beta: float, sticks: bool, kept: float) -> Step:
        scores = self._sum_scores("collapsed_scores", [(step.counts[rows], beta) for rows in self._rows])
        return self._update(scores + weight_scores(self._gamma, step.sizes, alpha, sticks), kept)

    def _sum_scores(self, method: str, arguments: list[tuple[Any, ...]]) -> Floats:
        asked = [getattr(actor, method)(*given) for actor, given in zip(self._actors, arguments, strict=True)]
        return np.asarray(np.sum([answer.result() for answer in asked], axis=0))

    def _update(self, scores: Floats, kept: float) -> Step:
        self._gamma, step = respond(scores, self._gamma, kept)
        counts = np.concatenate(_ask(self._actors, "counts", self._gamma))
        return Step(counts, step.sizes, step.entropy, step.change)

    def reorder(self, order: NDArray[np.intp]) -> None:
        self._gamma = self._gamma[:, order]
        _ask(self._actors, "reorder", order)

    def responsibilities(self) -> Floats:
        return self._gamma


def _ask(actors: list[Any], method: str, *arguments: Any) -> list[Any]:
    """The answers of all hosts, in their order; they work at the same time."""
    return [answer.result() for answer in [getattr(actor, method)(*arguments) for actor in actors]]
