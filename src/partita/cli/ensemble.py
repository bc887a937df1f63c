"""`partita ensemble`: one clustering from many."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from partita._cells import Cell, parse_cell
from partita._csv import Row, read_rows
from partita.cli.inputs import check_named, numbers_columns, read_labels, read_partition
from partita.cli.options import TruthFile, Writing

METHODS = ("nbce", "bce", "mixture", "cspa", "mcla", "hgpa", "evidence", "consensus")
FILES = ("labels.csv", "summary.json", "draws.npy")
GAPS = {"", "-1", "na", "nan", "none", "null"}


def run(
    base: Annotated[str, typer.Argument(help="Base labels, csv or npy: a row an item, a column a clustering.")],
    writing: Writing,
    method: Annotated[str, typer.Option(help=f"{', '.join(METHODS)}.")] = "nbce",
    k: Annotated[
        int | None, typer.Option("-k", help="Clusters, for all methods but nbce, evidence, consensus.")
    ] = None,
    inference: Annotated[str, typer.Option(help="gibbs, vb or cvb (nbce).")] = "gibbs",
    prior: Annotated[str, typer.Option(help="fsd or tsb (nbce).")] = "fsd",
    truncation: Annotated[int, typer.Option(help="Most clusters (nbce).")] = 100,
    draws: Annotated[int, typer.Option(help="Draws a chain (nbce, gibbs).")] = 500,
    warmup: Annotated[int, typer.Option(help="Sweeps before the first draw (nbce, gibbs).")] = 500,
    chains: Annotated[int, typer.Option(help="Chains (nbce, gibbs).")] = 4,
    loss: Annotated[str, typer.Option(help="Loss of the consensus (nbce with gibbs, consensus).")] = "vi",
    truth: TruthFile = None,
    seed: Annotated[int | None, typer.Option(help="Seed, for the same answer again.", show_default=False)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Combine base clusterings into one. Empty cells, -1, NA and nan are gaps.

    Example: partita ensemble base.csv --method nbce --out run
    """
    from partita.cli.outputs import print_json, whole_folder

    options = {"inference": inference, "prior": prior, "truncation": truncation, "draws": draws}
    options |= {"warmup": warmup, "chains": chains, "loss": loss, "random_state": seed}
    options["progress"] = sys.stderr.isatty() and not quiet
    place = nullcontext() if writing.out is None else whole_folder(writing.out, force=writing.force, known=FILES)
    with place as folder:
        facts, chain = combine(read_base(base), method, k, options)
        if truth is not None:
            facts["agreement"] = _agreement(facts["labels"], read_partition(truth))
        if folder is not None:
            _write(folder, facts, chain)
    if writing.json:
        print_json(facts)
    else:
        _print(facts, writing.out)


def read_base(source: str) -> Any:
    """Labels as numbers or text, gaps as None; npy files as they are.

    A first row of words that occur nowhere below is a header.
    """
    if source.endswith(".npy"):
        return read_labels(source)
    rows = read_rows(source)
    headed = _is_header(rows) or numbers_columns(source, rows)
    if headed:
        check_named(source, rows[0])
    return [[_label(cell) for cell in cells] for _, cells in (rows[1:] if headed else rows)]


def _is_header(rows: list[Row]) -> bool:
    """Words of a header name the columns; a label of the first item that no other item has is no header."""
    below = set().union(*(cells for _, cells in rows[1:]))
    names = [cell for cell in rows[0].cells if cell != ""]
    return len(rows) > 1 and len(names) > 0 and all(isinstance(_label(x), str) and x not in below for x in names)


def _label(cell: str) -> Cell:
    return None if cell.lower() in GAPS else parse_cell(cell)


def combine(base: Any, method: str, k: int | None, options: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """What scripts want to know of the consensus, and the draws if there are any."""
    from partita import ensembles

    if method not in METHODS:
        raise ValueError(f"--method must be one of {', '.join(METHODS)}, but it is {method}")
    if method == "nbce":
        return _nbce(base, options)
    seed = options["random_state"]
    if method == "consensus":
        labels = ensembles.consensus(base, options["loss"], rng=seed)
    elif method == "evidence":
        labels = ensembles.evidence_accumulation(base, k)
    elif k is None:
        raise ValueError(f"--method {method} needs the number of clusters: -k")
    elif method in ("bce", "mixture"):
        model = {"bce": ensembles.BCE, "mixture": ensembles.MixtureModel}[method]
        labels = model(k, random_state=seed).fit_predict(base)
    else:
        labels = getattr(ensembles, method)(base, k, rng=seed)
    return _facts(labels, method, seed), None


def _nbce(base: Any, options: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    from partita.ensembles import NBCE

    model = NBCE(**options).fit(base)
    facts = _facts(model.labels_, "nbce", options["random_state"])
    facts |= {"inference": model.inference, "prior": model.prior, "certainty": model.certainty_.tolist()}
    facts |= {"alpha": model.alpha_, "beta": model.beta_, "perplexity": model.perplexity(base)}
    if model.inference != "gibbs":
        return facts | {"bound": model.bound_}, None
    facts |= {"loss": options["loss"], "expected_loss": model.estimate_.expected_loss}
    return facts, model.chain_.labels.reshape(-1, model.chain_.n_items)


def _facts(labels: Any, method: str, seed: int | None) -> dict[str, Any]:
    import numpy as np

    sizes = np.bincount(labels[labels >= 0])
    return {
        "labels": labels.tolist(),
        "n_clusters": len(sizes),
        "sizes": sizes.tolist(),
        "outliers": int((sizes == 1).sum()),
        "n_items": len(labels),
        "method": method,
        "seed": seed,
    }


def _agreement(labels: list[int], truth: Any) -> dict[str, float]:
    from partita.agreement import adjusted_rand, f1, nmi

    if len(labels) != len(truth):
        raise ValueError(f"--truth has {len(truth)} labels, but there are {len(labels)} items")
    return {"adjusted_rand": adjusted_rand(truth, labels), "nmi": nmi(truth, labels), "f1": f1(labels, truth)}


def _write(folder: Path, facts: dict[str, Any], draws: Any) -> None:
    import numpy as np

    from partita.cli.outputs import write_csv, write_json

    columns = [name for name in ("labels", "certainty") if name in facts]
    header = ["item", *("cluster" if name == "labels" else name for name in columns)]
    rows = ((n, *values) for n, values in enumerate(zip(*(facts[name] for name in columns), strict=True)))
    write_csv(folder / "labels.csv", header, rows)
    write_json(folder / "summary.json", facts)
    if draws is not None:
        np.save(folder / "draws.npy", draws, allow_pickle=False)


def _print(facts: dict[str, Any], out: Path | None) -> None:
    from partita.cli.outputs import print_table

    print(f"{facts['n_items']} items in {facts['n_clusters']} clusters ({facts['method']})")
    shown = ("outliers", "alpha", "beta", "perplexity", "bound", "expected_loss")
    rows = [(name, f"{facts[name]:.6g}") for name in shown if name in facts]
    rows += [(name, f"{value:.6g}") for name, value in facts.get("agreement", {}).items()]
    print_table("Consensus", ("", "value"), rows)
    if out is not None:
        print(f"Results are in {out}.")
