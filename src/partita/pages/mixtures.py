"""The page about the partition of a table of largest exact ICL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from partita._support.hints import plural
from partita.pages.labels import held_labels
from partita.pages.profiles import profile_section
from partita.pages.search_tables import agreement_sentence, icl_sentence, path_table, runs_table
from partita.pages.sentences import sizes_in_words
from partita.pages.tables import Column, Table
from partita.pages.truth import against_truth

if TYPE_CHECKING:
    from partita.models import MixtureFit
    from partita.profiling.profiles import Profiles

ITEMS_LISTED = 2000
NAMES_SHOWN = 12


def mixture_content(
    fit: MixtureFit,
    truth: ArrayLike | None,
    profiles: Profiles | None,
    *,
    title: str,
    command: str | None,
    labels_file: str | None,
    first: int = 0,
) -> dict[str, Any]:
    """Everything the template needs."""
    names = fit.names or tuple(map(str, range(first, len(fit.labels) + first)))
    return {
        "title": title,
        "first": first,
        "warnings": fit.warnings,
        "answer": mixture_answer(fit),
        "settings": list(_settings(fit)),
        "clusters": _clusters(fit, names),
        "profiles": None if profiles is None else profile_section(profiles, first),
        "runs": runs_table(fit),
        "agreement": agreement_sentence(fit),
        "path": path_table(fit.path),
        "items": _items(fit, names, labels_file),
        "labels": held_labels(fit.labels, fit.names),
        **against_truth(truth, fit.labels, fit.names, "the table"),
        "command": command,
    }


def mixture_answer(fit: MixtureFit) -> str:
    """The result as a scientist could paste it into a paper."""
    return (
        f"The {len(fit.labels):,} items fall into {plural(fit.n_clusters, 'cluster')}"
        f" ({sizes_in_words(fit.labels)}). {icl_sentence(fit)}"
    )


def _settings(fit: MixtureFit) -> Iterator[tuple[str, str]]:
    yield "Items", f"{len(fit.labels):,}"
    yield "Criterion", "exact integrated complete-data log likelihood, log p(X, z | K)"
    yield "Cluster proportions", f"Dirichlet({fit.n0:g}, …, {fit.n0:g})"
    yield "Runs", f"{len(fit.runs):,}"


def _clusters(fit: MixtureFit, names: tuple[str, ...]) -> Table:
    rows = []
    for k, size in enumerate(fit.sizes.tolist()):
        members = np.flatnonzero(fit.labels == k)[:NAMES_SHOWN]
        shown = ", ".join(names[i] for i in members) + (", …" if size > NAMES_SHOWN else "")
        rows.append((k, size, size / len(fit.labels), shown))
    columns = (
        Column("Cluster", "cluster"),
        Column("Items", "number"),
        Column("Share", "percent"),
        Column("First items", "text"),
    )
    return Table("clusters", "Clusters", columns, rows)


def _items(fit: MixtureFit, names: tuple[str, ...], labels_file: str | None) -> Table:
    listed = np.argsort(fit.labels, kind="stable")[:ITEMS_LISTED]
    rows = [(names[i], int(fit.labels[i])) for i in listed]
    left_out = "" if len(listed) == len(fit.labels) else f"The first {ITEMS_LISTED:,} of {len(fit.labels):,} items. "
    note = f"{left_out}{f'All labels are in {labels_file}.' if labels_file else ''}".strip()
    return Table("items", "Items", (Column("Item", "text"), Column("Cluster", "cluster")), rows, note or None, True)
