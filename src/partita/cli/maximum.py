"""`partita cluster --maximize`: the partition of a table of largest exact ICL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from partita.cli.errors import INTERRUPTED
from partita.cli.form import cluster_numbers, item_numbers, one_based, table_name
from partita.cli.icl_results import search_facts, write_search
from partita.cli.mixture_table import print_schema, read_mixed, typed_notes
from partita.cli.terminal import print_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partita.models import MixtureFit
    from partita.profiling.profiles import Profiles

WRITTEN = ("labels.csv", "profiles.csv", "columns.csv", "path.csv", "runs.csv", "summary.json", "report.html")


def maximize_table(
    data: str,
    out: Path,
    families: Mapping[str, str],
    missing: Sequence[str] | None,
    k_max: int | None,
    restarts: int,
    seed: int | None,
    level: float,
    *,
    as_table: bool,
    force: bool,
    json: bool,
) -> None:
    """Searches, and writes labels, profiles, the merge path, the runs and a report."""
    import partita as pt
    from partita.cli.outputs import print_json, whole_folder
    from partita.cli.results import print_warnings
    from partita.pages.mixtures import mixture_answer

    with whole_folder(out, force=force, known=WRITTEN) as folder:
        table = read_mixed(data, families, missing, as_table=as_table)
        model = pt.models.MixtureDPM(families)
        schema = model.describe(table)
        notes = typed_notes(table, schema, families)
        if not json:
            print_schema(schema, notes)
        fit = model.maximize(table, k_max, restarts, rng=seed)
        described = pt.profiles(fit, table, columns=families, level=level, rng=seed)
        facts = (
            {"n_items": len(fit.labels)}
            | search_facts(fit)
            | {"families": {column.name: column.family for column in schema.columns}, "notes": list(notes)}
        )
        _write(folder, fit, described, facts)
    if json:
        print_json(facts | {"labels": cluster_numbers(fit.labels)})
    else:
        print_warnings(facts["warnings"])
        print_lines(mixture_answer(fit))
        print_lines(described.text(int(one_based())))
        print(f"Results are in {out}; open {out / 'report.html'} in a browser.")
    if fit.interrupted:
        raise typer.Exit(INTERRUPTED)


def write_profiles(folder: Path, described: Profiles) -> None:
    """profiles.csv and columns.csv."""
    from partita.cli.outputs import write_csv

    header = ("cluster", "items", "column", "level", "mean", "low", "high", "observed")
    write_csv(folder / "profiles.csv", header, (_numbered([row[name] for name in header]) for row in described.rows()))
    rows = (tuple(row.values()) for row in described.column_rows())
    write_csv(folder / "columns.csv", ("column", "family", "bits", "observed"), rows)


def _numbered(row: list[Any]) -> list[Any]:
    return [cluster_numbers(row[0]), *row[1:]]


def _write(folder: Path, fit: MixtureFit, described: Profiles, facts: dict[str, Any]) -> None:
    from partita.cli.outputs import write_csv, write_json
    from partita.cli.results import command_line
    from partita.pages.report import report

    names = fit.names or tuple(map(str, item_numbers(len(fit.labels))))
    write_csv(folder / "labels.csv", ("item", "cluster"), zip(names, cluster_numbers(fit.labels), strict=True))
    write_search(folder, fit)
    write_profiles(folder, described)
    write_json(folder / "summary.json", facts | {"command": command_line()})
    page: dict[str, Any] = {"command": command_line(), "labels_file": table_name("labels.csv"), "profiles": described}
    page["one_based"] = one_based()
    report(fit, path=folder / "report.html", title="Clusters of a table", **page)
