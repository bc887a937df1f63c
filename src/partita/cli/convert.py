"""`partita convert`: draws converted from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import partita as pt
from partita.cli.options import DrawsOptions, Json, Silent
from partita.cli.outputs import check_new_file, print_json


def run(
    reading: DrawsOptions,
    out: Annotated[Path, "The file to write; its extension determines the format."],
    force: Annotated[bool, "Replace an existing file."] = False,
    quiet: Silent = False,
    json: Json = False,
) -> None:
    """Convert draws between formats; several files become the chains of one file.

    Example: partita convert chain1.csv chain2.csv --burn 500 --thin 5 --out draws.npz
    """
    check_new_file(out, force)
    sample = reading.sample()
    pt.write_draws(out, sample)
    if json:
        facts = {name: getattr(sample, name) for name in ("n_draws", "n_items", "n_unique", "n_chains")}
        print_json({"out": str(out), **facts})
    elif not quiet:
        print(f"{out}: {sample.n_draws:,} draws of {sample.n_items:,} items, {sample.n_unique:,} distinct")
