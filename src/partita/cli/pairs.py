"""`partita estimate --pairs` and `--similarity`: the partition to report, from pair probabilities."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita._support.text.write_table import significant
from partita.cli.form import cluster_numbers, item_numbers, one_based
from partita.cli.given import refuse
from partita.cli.inputs import read_data, read_partition, split_names

if TYPE_CHECKING:
    from partita.cli.answer import ExtraOptions
    from partita.cli.constraints import ConstraintOptions
    from partita.cli.options import OutputOptions, SearchOptions
    from partita.estimation.pair_estimate import PairEstimate
    from partita.pairs.probabilities import Similarity
    from partita.proofs.bounds import Bound

ITEMS = "the file of pairs"
PAIRS_FILE = "pairs.csv"
RESULTS = ("labels.csv", PAIRS_FILE, "summary.json", "report.html")
#: What only draws have a use for.
OF_DRAWS = (
    *("burn", "thin", "missing", "variable", "long", "header", "index"),
    *("dask", "workers", "shards", "level", "data", "max_clusters", "max_draws"),
)
PAIRS_PRINTED = 10


@dataclass(frozen=True)
class PairOptions:
    """Pair probabilities in place of draws."""

    pairs: Annotated[
        str | None,
        typer.Option(
            help="Pairs instead of draws: csv, csv.gz, parquet; three columns, those of Splink, or those of --columns.",
            show_default=False,
        ),
    ] = None
    similarity: Annotated[
        str | None,
        typer.Option(help="A matrix of pair probabilities instead of draws: npy, npz, csv.", show_default=False),
    ] = None
    default: Annotated[
        float | None, typer.Option(help="Probability of pairs that are not listed.", show_default="0")
    ] = None

    @property
    def is_given(self) -> bool:
        """Whether there are pair probabilities."""
        return self.pairs is not None or self.similarity is not None

    def read(self, columns: str | None) -> Similarity:
        """The pair probabilities of the file; `columns` names those of the two items and of the probability."""
        from partita.pairs.probabilities import as_similarity

        unlisted = 0.0 if self.default is None else self.default
        if self.pairs is not None and self.similarity is not None:
            raise ValueError("--pairs and --similarity are two ways to give the same: give one of them")
        if self.pairs is not None:
            return as_similarity(self.pairs, default=unlisted, columns=split_names(columns) or None)
        refuse(["columns"], "names the columns of --pairs, and a matrix has none")
        source = str(self.similarity)
        if source.endswith((".npy", ".npz")):
            return as_similarity(source, default=unlisted)
        matrix = read_data(source)
        return as_similarity(matrix.values, names=matrix.distinct_names(), default=unlisted)


def run_pairs(
    pair_options: PairOptions,
    constraining: ConstraintOptions,
    searching: SearchOptions,
    writing: OutputOptions,
    extras: ExtraOptions,
) -> PairEstimate:
    """The whole command for pair probabilities: read, estimate, write, print."""
    from partita.cli.outputs import print_json, whole_folder
    from partita.cli.results import agreement, agreement_sentence

    truth, bound = extras.truth, extras.bound
    refuse(OF_DRAWS, "is for draws, not for pair probabilities")
    place = nullcontext() if writing.out is None else whole_folder(writing.out, force=writing.force, known=RESULTS)
    with place as folder:
        known = None if truth is None else read_partition(truth)
        pairs = pair_options.read(extras.columns)
        reference = None if known is None else known.in_order_of(pairs.names, pairs.n_items, ITEMS)
        best = _estimate(pairs, constraining, searching)
        proof = None if bound is None else best.bound(bound)
        found = {} if reference is None else {"agreement": agreement(best.labels, reference, of_pairs=True)}
        facts = pair_facts(best, proof) | found
        if folder is not None:
            _write(folder, best, proof, facts, reference)
    if writing.json:
        print_json(facts)
    else:
        _print(best, proof)
        if truth is not None:
            print(agreement_sentence(found["agreement"], truth))
        if writing.out is not None:
            print(f"Results are in {writing.out}; open {writing.out / 'report.html'} in a browser.")
    return best


def _estimate(pairs: Similarity, constraining: ConstraintOptions, searching: SearchOptions) -> PairEstimate:
    import partita

    return partita.estimate(
        pairs,
        searching.pair_loss(),
        searching.method,
        searching.settings(),
        rng=searching.seed,
        constraints=constraining.constraints(pairs.names, pairs.n_items, ITEMS),
    )


def pair_facts(best: PairEstimate, bound: Bound | None) -> dict[str, Any]:
    """The facts about an estimate from pair probabilities."""
    from partita.cli.results import found_facts

    pairs = best.similarity
    return found_facts(best, pairs.names, bound) | {
        "n_items": pairs.n_items,
        "n_pairs": pairs.n_pairs,
        "components": {
            "count": best.components.count,
            "largest": int(best.components.sizes.max()),
            "proven": best.components.proven,
        },
    }


def _write(folder: Path, best: PairEstimate, bound: Bound | None, facts: dict[str, Any], truth: Any) -> None:
    """labels.csv, pairs.csv (the doubtful ones), summary.json and report.html."""
    from partita.cli.outputs import write_csv, write_json
    from partita.cli.results import LABELS_FILE, command_line
    from partita.pages.report import report
    from partita.uncertainty.pair_doubts import pair_certainty

    names = _names(best)
    parts = best._parts
    component = best.labels if parts is None else parts.component
    certainty = map(significant, pair_certainty(best).tolist())
    rows = zip(names, cluster_numbers(best.labels), cluster_numbers(component), certainty, strict=True)
    write_csv(folder / LABELS_FILE, ("item", "cluster", "component", "certainty"), rows)
    write_csv(
        folder / PAIRS_FILE, ("left", "right", "estimate", "probability", "doubt", "listed"), _pair_rows(best, 1000)
    )
    write_json(folder / "summary.json", facts | {"command": command_line()})
    report(best, truth=truth, path=folder / "report.html", bound=bound, command=command_line(), one_based=one_based())


def _print(best: PairEstimate, bound: Bound | None) -> None:
    """The answer as a sentence, and the pairs to look at first."""
    from partita.cli.outputs import print_table
    from partita.cli.results import print_warnings
    from partita.pages.pairs import pair_answer, unlisted_note

    print_warnings(best.warnings)
    print(pair_answer(best))
    if bound is not None:
        print(bound)
    rows = [
        (left, right, what, probability if listed == "yes" else f"{probability} (not listed)")
        for left, right, what, probability, _, listed in _pair_rows(best, PAIRS_PRINTED)
    ]
    print_table("Pairs to look at first", ("item", "item", "estimate", "probability"), rows)
    if any("not listed" in row[-1] for row in rows):
        print(unlisted_note(best))


def _names(best: PairEstimate) -> tuple[str, ...]:
    return best.similarity.names or tuple(map(str, item_numbers(len(best.labels))))


def _pair_rows(best: PairEstimate, most: int) -> list[tuple[str, str, str, str, str, str]]:
    from partita.uncertainty.pair_doubts import doubtful_pairs

    names = _names(best)
    return [
        (
            names[pair.left],
            names[pair.right],
            "together" if pair.together else "apart",
            f"{pair.probability:.6g}",
            f"{pair.doubt:.6g}",
            "yes" if pair.listed else "no",
        )
        for pair in doubtful_pairs(best, most)
    ]
