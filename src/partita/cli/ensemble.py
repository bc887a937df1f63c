"""`partita ensemble`: one clustering from many."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from partita.cli.base_files import read_base
from partita.cli.combiners import CONSENSUS, METHODS, NBCE, Clusters, Combined, Combiner, as_combiner
from partita.cli.form import cluster_numbers, item_numbers, one_based, table_name
from partita.cli.given import refuse, was_typed
from partita.cli.inputs import read_partition
from partita.cli.options import OutputOptions, Seed, TruthFile

FILES = ("labels.csv", "summary.json", "draws.npy", "report.html")
GIBBS_OPTIONS = ("draws", "warmup", "chains")
WEIGHTS = ("dependence", "equal")
#: Facts that are printed below the answer, and their names in words.
SHOWN = {
    "outliers": "items alone in their cluster",
    "alpha": "alpha",
    "beta": "beta",
    "perplexity": "perplexity",
    "bound": "variational bound",
    "expected_loss": "expected loss",
    "adjusted_rand": "adjusted Rand index with the truth",
    "nmi": "NMI (divided by the larger entropy) with the truth",
    "f1": "F1 (Wang et al. 2010) with the truth",
}


@dataclass(frozen=True)
class NbceOptions:
    """The settings of --method nbce."""

    alpha: Annotated[
        float | None, typer.Option(help="Concentration of the clusters (nbce).", show_default="learned")
    ] = None
    beta: Annotated[float | None, typer.Option(help="Concentration of the labels (nbce).", show_default="learned")] = (
        None
    )
    inference: Annotated[str, typer.Option(help="gibbs, vb or cvb (nbce).")] = "gibbs"
    prior: Annotated[str, typer.Option(help="fsd or tsb (nbce).")] = "fsd"
    truncation: Annotated[int, typer.Option(help="Maximum number of clusters (nbce).")] = 100
    draws: Annotated[int, typer.Option(help="Draws per chain (nbce, gibbs).")] = 500
    warmup: Annotated[int, typer.Option(help="Sweeps before the first draw (nbce, gibbs).")] = 500
    chains: Annotated[int, typer.Option(help="Number of chains (nbce, gibbs).")] = 4


NBCE_OPTIONS = tuple(field.name for field in fields(NbceOptions))


def run(
    base: Annotated[str, typer.Argument(help="Base labels, csv or npy: one row per item, one column per clustering.")],
    writing: OutputOptions,
    *,
    method: Annotated[
        str | None,
        typer.Option(help=f"{', '.join(METHODS)}.", show_default="consensus, or nbce with one of its options"),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", "--k", help="Number of clusters (not for nbce; optional for consensus and evidence)."),
    ] = None,
    weights: Annotated[
        str, typer.Option(help="dependence: dependent clusterings count less; or equal (consensus, nbce).")
    ] = "dependence",
    nbce: NbceOptions,
    loss: Annotated[str, typer.Option(help="Loss of the consensus (nbce with gibbs, consensus).")] = "vi",
    items: Annotated[
        str | None, typer.Option(help="The column that names the items.", show_default="item, node, name or id")
    ] = None,
    truth: TruthFile = None,
    seed: Seed = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Combine base clusterings into one. Empty cells, -1, NA and nan are missing labels.

    A column named item, node, name or id, a first column without a name, or one with a different word for each item
    names the items.

    By default the answer is the clustering that is nearest to all of them (expected variation of information); nbce
    adds probabilities and the certainty of each item.

    Example: partita ensemble base.csv --out run
    """
    from partita.cli.outputs import print_json, whole_folder
    from partita.cli.results import agreement

    writing.refuse_unused()
    combine = chosen_combiner(method)
    refuse_unused(combine, nbce.inference)
    if weights not in WEIGHTS:
        raise ValueError(f"--weights must be one of {', '.join(WEIGHTS)}, but it is {weights}")
    options = asdict(nbce) | {"loss": loss, "random_state": seed, "progress": sys.stderr.isatty() and not quiet}
    options["weights"] = "dependence" if weights == "dependence" else None
    place = nullcontext() if writing.out is None else whole_folder(writing.out, force=writing.force, known=FILES)
    with place as folder:
        read = read_base(base, items)
        found = combine(read, k, options)
        facts = found.facts
        facts["names"] = None if read.names is None else list(read.names)
        known = None if truth is None else read_partition(truth).in_order_of(read.names, read.n_items, base)
        if known is not None:
            labelled = found.summary.labels >= 0
            facts["agreement"] = agreement(found.summary.labels[labelled], known[labelled])
        facts["labels"] = cluster_numbers(facts["labels"])
        if folder is not None:
            _write(folder, found, known)
    if writing.json:
        print_json(facts)
    else:
        _print(found, writing.out)


def chosen_combiner(method: str | None) -> Combiner:
    """The method that the user named; else nbce if one of its options was typed, and else consensus."""
    if method is not None:
        return as_combiner(method)
    return NBCE if any(was_typed(name) for name in NBCE_OPTIONS) else CONSENSUS


def refuse_unused(combiner: Combiner, inference: str) -> None:
    """Options that the method would ignore are an error."""
    if combiner is not NBCE:
        refuse(NBCE_OPTIONS, f"is for --method nbce, not for {combiner.name}")
    elif inference != "gibbs":
        refuse(GIBBS_OPTIONS, f"is for --inference gibbs, not for {inference}")
    if combiner.clusters is Clusters.FOUND:
        refuse(["k"], f"is not for --method {combiner.name}, which finds the number of clusters itself")
    if combiner is not CONSENSUS and (combiner is not NBCE or inference != "gibbs"):
        refuse(["loss"], "is for --method consensus, and for nbce with --inference gibbs")
    if combiner not in (CONSENSUS, NBCE):
        refuse(["weights"], f"is for --method consensus and nbce, not for {combiner.name}")


def _write(folder: Path, found: Combined, truth: Any) -> None:
    from partita.cli.outputs import write_csv, write_json
    from partita.cli.results import LABELS_FILE, command_line
    from partita.draws.npy import write_npy
    from partita.pages.report import report

    facts = found.facts
    items = facts["names"] or item_numbers(facts["n_items"])
    rows = zip(items, facts["labels"], facts["certainty"], strict=True)
    write_csv(folder / LABELS_FILE, ["item", "cluster", "certainty"], rows)
    write_json(folder / "summary.json", facts)
    page: dict[str, Any] = {"title": "Consensus of clusterings", "command": command_line(), "one_based": one_based()}
    page["labels_file"] = table_name(LABELS_FILE)
    report(found.summary, truth=truth, path=folder / "report.html", **page)
    if found.draws is not None:
        write_npy(folder / "draws.npy", found.draws)


def _print(found: Combined, out: Path | None) -> None:
    from partita.cli.outputs import print_table
    from partita.cli.results import print_warnings
    from partita.cli.terminal import printable
    from partita.pages.ensembles import ensemble_answer

    facts = found.facts
    print_warnings(facts.get("warnings", ()))
    print(printable(ensemble_answer(found.summary)))
    values = facts | facts.get("agreement", {})
    print_table(
        "", ("", facts["method"]), [(words, f"{values[name]:.6g}") for name, words in SHOWN.items() if name in values]
    )
    if out is not None:
        print(f"Results are in {out}; open {out / 'report.html'} in a browser.")
