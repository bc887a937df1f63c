"""The page about a latent block model of a matrix: clusters of rows and of columns, and the blocks they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.hints import plural
from partita.models.networks.fit import Blocks
from partita.models.networks.lbm import LatentBlockFit
from partita.pages.block_tables import blocks_table
from partita.pages.networks import EDGE_MODELS, NAMES_SHOWN, NODES_LISTED
from partita.pages.search_tables import PATH_LISTED, agreement_sentence, icl_sentence, runs_table
from partita.pages.sentences import sizes_in_words
from partita.pages.tables import Column, Table

WIDTH, HEIGHT, LEFT, TOP = 640, 420, 46, 26  # of the picture, and its margins for the numbers of clusters
NARROW = 14  # units below which a cluster has no number
#: Rows or columns of the matrix: the word, the labels and the names.
Side = tuple[str, NDArray[np.int64], Sequence[Any]]


def matrix_content(
    fit: LatentBlockFit, *, title: str, command: str | None, labels_file: str | None, first: int = 0
) -> dict[str, Any]:
    """Everything the template needs."""
    sides: tuple[Side, Side] = (
        ("row", fit.rows, fit.graph.names),
        ("column", fit.columns, fit.graph.column_names or range(len(fit.columns))),
    )
    pairs = [(k, m) for k in range(fit.n_clusters[0]) for m in range(fit.n_clusters[1])]
    names = ("Rows", "Columns", "Edges", "Cells")
    return {
        "title": title,
        "first": first,
        "warnings": fit.warnings,
        "answer": matrix_answer(fit),
        "settings": list(_settings(fit)),
        "row_clusters": _clusters(*sides[0]),
        "column_clusters": _clusters(*sides[1]),
        "blocks": blocks_table(fit.blocks(), pairs, names, counts=fit.edges.counts),
        "picture": _picture(fit.rows, fit.columns, fit.blocks(), first),
        "runs": runs_table(fit),
        "agreement": agreement_sentence(fit),
        "path": _path(fit),
        "row_members": _members(*sides[0], labels_file),
        "column_members": _members(*sides[1], labels_file),
        "command": command,
    }


def matrix_answer(fit: LatentBlockFit) -> str:
    """The result as a scientist could paste it into a paper."""
    rows, columns = fit.n_clusters
    return (
        f"The {len(fit.rows):,} rows fall into {plural(rows, 'cluster')} ({sizes_in_words(fit.rows, 'rows')}) and the"
        f" {len(fit.columns):,} columns into {plural(columns, 'cluster')}"
        f" ({sizes_in_words(fit.columns, 'columns')}). {icl_sentence(fit)}"
    )


def _settings(fit: LatentBlockFit) -> Iterator[tuple[str, str]]:
    yield "Rows", f"{len(fit.rows):,}"
    yield "Columns", f"{len(fit.columns):,}"
    yield "Edges", f"{fit.graph.adjacency.nnz:,}"
    yield "Edge model", EDGE_MODELS[fit.edges.kind]
    if fit.graph.missing.nnz:
        yield "Missing cells", f"{fit.graph.missing.nnz:,}"


def _clusters(word: str, labels: NDArray[np.int64], names: Sequence[Any]) -> Table:
    rows = []
    for k in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == k)
        shown = ", ".join(str(names[i]) for i in members[:NAMES_SHOWN])
        rows.append((k, len(members), shown + (", …" if len(members) > NAMES_SHOWN else "")))
    columns = (Column("Cluster", "cluster"), Column(f"{word.capitalize()}s", "number"), Column("First names", "text"))
    return Table(f"{word}-clusters", f"Clusters of {word}s", columns, rows)


def _members(word: str, labels: NDArray[np.int64], names: Sequence[Any], labels_file: str | None) -> Table:
    listed = np.argsort(labels, kind="stable")[:NODES_LISTED]
    rows = [(str(names[i]), int(labels[i])) for i in listed]
    left_out = "" if len(listed) == len(labels) else f"The first {NODES_LISTED:,} of {len(labels):,} {word}s. "
    note = f"{left_out}{f'All labels are in {labels_file}.' if labels_file else ''}".strip()
    columns = (Column(word.capitalize(), "text"), Column("Cluster", "cluster"))
    return Table(f"{word}s", f"The cluster of each {word}", columns, rows, note, search=True)


def _path(fit: LatentBlockFit) -> Table:
    rows = [(*map(int, counts), float(icl)) for counts, icl in zip(fit.path.n_clusters, fit.path.icl, strict=True)]
    columns = (Column("Row clusters", "number"), Column("Column clusters", "number"), Column("ICL", "log"))
    return Table("path", "Greedy merges down to one cluster of each", columns, rows[:PATH_LISTED])


def _picture(rows: NDArray[np.int64], columns: NDArray[np.int64], blocks: Blocks, first: int) -> dict[str, Any]:
    """Rectangles as large as the blocks, darker for larger means, and the numbers of the clusters beside them."""
    down, across = _edges(rows, HEIGHT) + TOP, _edges(columns, WIDTH) + LEFT
    top = float(blocks.mean.max()) or 1.0
    cells = [
        (
            *(across[m], down[k], across[m + 1] - across[m], down[k + 1] - down[k]),
            float(np.sqrt(blocks.mean[k, m] / top)),
            f"rows {k + first}, columns {m + first}: {blocks.mean[k, m]:.3g}",
        )
        for k in range(len(down) - 1)
        for m in range(len(across) - 1)
    ]
    return {
        "width": WIDTH + LEFT + 1,
        "height": HEIGHT + TOP + 1,
        "cells": [(*(round(float(value), 1) for value in cell[:4]), round(cell[4], 3), cell[5]) for cell in cells],
        "heads": [(round(float(at), 1), TOP - 8, str(m + first)) for m, at in _middles(across)],
        "names": [(LEFT - 8, round(float(at) + 4, 1), str(k + first)) for k, at in _middles(down)],
    }


def _edges(labels: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    """Where each cluster begins and ends on a line of this length."""
    return np.concatenate([[0.0], np.cumsum(np.bincount(labels)) / len(labels) * length])


def _middles(edges: NDArray[np.float64]) -> Iterator[tuple[int, float]]:
    """The number and the middle of each cluster that is wide enough for its number."""
    for k, (start, end) in enumerate(pairwise(edges.tolist())):
        if end - start >= NARROW:
            yield k, (start + end) / 2
