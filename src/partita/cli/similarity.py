"""`partita similarity`: the posterior probability that two items share a cluster."""

from __future__ import annotations

import csv
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, TextIO

import partita as pt
from partita._support.atomic import atomic_file
from partita.cli.given import refuse
from partita.cli.inputs import DRAWS, read_partition
from partita.cli.options import DrawsOptions, Json
from partita.cli.outputs import check_new_file, print_json

MATRICES = (".csv", ".npy")
FIGURES = (".png", ".pdf", ".svg")


def run(
    reading: DrawsOptions,
    out: Annotated[Path | None, "A csv or npy file instead of standard output."] = None,
    figure: Annotated[Path | None, "Plot the matrix to a png, pdf or svg file."] = None,
    labels: Annotated[str | None, "Labels whose clusters order the figure; file.csv:column selects a column."] = None,
    force: Annotated[bool, "Replace existing files."] = False,
    json: Json = False,
) -> None:
    """Posterior probability that two items share a cluster, for all pairs.

    Prints a csv matrix, or writes it with --out; --figure plots it, ordered by the clusters of --labels. The entry of
    two items that no draw labels together is nan (null with --json).

    Example: partita similarity draws.csv --out psm.npy --figure psm.png
    """
    from partita.results.presentation import plain

    if out is None and figure is None:
        refuse(["force"], "is for the files of --out and --figure")
    if figure is None:
        refuse(["labels"], "orders the figure; give --figure too")
    for path, endings in ((out, MATRICES), (figure, FIGURES)):
        if path is not None:
            check_new_file(path, force)
            if path.suffix not in endings:
                raise ValueError(f"{path}: its name must end in {', '.join(endings[:-1])} or {endings[-1]}")
    clusters = None if labels is None else read_partition(labels)
    sample = reading.sample()
    matrix = pt.similarity(sample)
    order = None if clusters is None else clusters.in_order_of(sample.names, sample.n_items, DRAWS)
    with ExitStack() as opened:  # both files appear, or none
        if out is not None:
            _write(opened.enter_context(atomic_file(out)), matrix, sample)
        if figure is not None:
            _draw(opened.enter_context(atomic_file(figure)), matrix, order)
    if json:
        files = {name: str(path) for name, path in (("out", out), ("figure", figure)) if path is not None}
        print_json({"names": _names(sample), **(files or {"similarity": plain(matrix)})})
    elif out is None and figure is None:
        _print_csv(sys.stdout, matrix, sample)


def _names(sample: pt.PartitionSample) -> list[str]:
    """The names of the items, or their numbers as in Python."""
    return list(sample.names or map(str, range(sample.n_items)))


def _write(path: Path, matrix: Any, sample: pt.PartitionSample) -> None:
    from partita._support.npy import write_npy

    if path.suffix == ".npy":
        write_npy(path, matrix)
    else:
        with path.open("w", encoding="utf-8", newline="") as stream:
            _print_csv(stream, matrix, sample)


def _print_csv(stream: TextIO, matrix: Any, sample: pt.PartitionSample) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    names = _names(sample)
    writer.writerow(["item", *names])
    for name, row in zip(names, matrix, strict=True):
        writer.writerow([name, *(f"{value:.6g}" for value in row.tolist())])


def _draw(path: Path, matrix: Any, clusters: Any) -> None:
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(6.4, 5.4), layout="constrained")
    pt.plots.similarity_map(matrix, clusters, ax=drawing.add_subplot())
    drawing.savefig(path, dpi=200, format=path.suffix[1:])
