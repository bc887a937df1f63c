"""`partita ensemble`: one clustering from many."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, fields
from typing import Annotated

from partita.cli.base_files import read_base
from partita.cli.combiners import CONSENSUS, METHODS, NBCE, Combiner, as_combiner
from partita.cli.deliver import delivering, presented
from partita.cli.given import check_choice, refuse, was_typed
from partita.cli.inputs import in_order, read_partition
from partita.cli.option import arg, opt
from partita.cli.options import NoiseLabels, OutputOptions, Quiet, Seed, TruthFile
from partita.cli.steps import step

GIBBS_OPTIONS = ("draws", "warmup", "chains")
WEIGHTS = ("dependence", "equal")


@dataclass(frozen=True)
class NbceOptions:
    """The settings of --method nbce."""

    alpha: Annotated[float | None, opt("Concentration of the clusters (nbce).", shown="learned")] = None
    beta: Annotated[float | None, opt("Concentration of the labels (nbce).", shown="learned")] = None
    inference: Annotated[str, "gibbs, vb or cvb (nbce)."] = "gibbs"
    prior: Annotated[str, "fsd or tsb (nbce)."] = "fsd"
    truncation: Annotated[int, "Maximum number of clusters (nbce)."] = 100
    draws: Annotated[int, "Draws per chain (nbce, gibbs)."] = 500
    warmup: Annotated[int, "Sweeps before the first draw (nbce, gibbs)."] = 500
    chains: Annotated[int, "Number of chains (nbce, gibbs)."] = 4


NBCE_OPTIONS = tuple(field.name for field in fields(NbceOptions))


def run(
    base: Annotated[str, arg("Base labels, csv or npy: one row per item, one column per clustering.")],
    writing: OutputOptions,
    *,
    method: Annotated[
        str | None, opt(f"{', '.join(METHODS)}.", shown="consensus, or nbce with one of its options")
    ] = None,
    k: Annotated[
        int | None, opt("Number of clusters (not for nbce; optional for consensus and evidence).", "-k", "--k")
    ] = None,
    weights: Annotated[str, "dependence: dependent clusterings count less; or equal (consensus, nbce)."] = "dependence",
    nbce: NbceOptions,
    loss: Annotated[str, "Loss of the consensus (nbce with gibbs, consensus)."] = "vi",
    items: Annotated[str | None, opt("The column that names the items.", shown="item, node, name or id")] = None,
    missing: Annotated[list[str] | None, "Marker of missing labels, such as -1, beside NA; may be repeated."] = None,
    noise: NoiseLabels = None,
    truth: TruthFile = None,
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Combine base clusterings into one. Empty cells, NA and nan are missing labels; for -1, say which it is.

    A column named item, node, name or id, a first column without a name, or one with a different word for each item
    names the items.

    By default the answer is the clustering that is nearest to all of them (expected variation of information); nbce
    adds probabilities and the certainty of each item.

    Example: partita ensemble base.csv --out run
    """
    combine = chosen_combiner(method)
    refuse_unused(combine, nbce.inference)
    check_choice("weights", weights, WEIGHTS)
    options = asdict(nbce) | {"loss": loss, "random_state": seed, "progress": sys.stderr.isatty() and not quiet}
    options["weights"] = "dependence" if weights == "dependence" else None
    with delivering(writing) as deliver:
        files = {} if truth is None else {"truth": read_partition(truth)}
        read = read_base(base, items, missing, noise)
        files = in_order(files, read.names, read.n_items, base)
        with step(f"combined ({combine.name})", has_progress=options["progress"] and combine is NBCE):
            summary, extras = combine(read, k, options)
        deliver(presented(summary, extras, **files), truth=truth)


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
    if combiner.k == "unused":
        refuse(["k"], f"is not for --method {combiner.name}, which finds the number of clusters itself")
    if combiner is not CONSENSUS and (combiner is not NBCE or inference != "gibbs"):
        refuse(["loss"], "is for --method consensus, and for nbce with --inference gibbs")
    if combiner not in (CONSENSUS, NBCE):
        refuse(["weights"], f"is for --method consensus and nbce, not for {combiner.name}")
    if combiner.name == "evidence":
        refuse(["seed"], "is for methods that use random numbers, and evidence uses none")
