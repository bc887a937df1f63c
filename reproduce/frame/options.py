"""The command line, and the folders it leads to."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
FOLDERS = ("--data", "--draws", "--out", "--keep")


@dataclass(frozen=True)
class Options:
    """What the command line says.

    `size` is "full", "quick" (two minutes at most) or "smoke" (some seconds); `own` has the script's own arguments.
    """

    size: str
    data: Path
    draws: Path
    out: Path | None
    keep: Path | None
    command: str
    own: argparse.Namespace

    @property
    def results(self) -> Path:
        """Folder of the CSV files."""
        return ROOT / "reproduce" / "results" if self.out is None else self.out

    @property
    def pages(self) -> Path:
        """Folder of the pages; the figures of a page lie in a folder of its name."""
        return ROOT / "docs" / "reproduce" if self.out is None else self.out


def options(doc: str | None, own: Callable[[argparse.ArgumentParser], Any] = lambda parser: None) -> Options:
    """Reads the command line; `own` adds arguments of the script's own to the parser, for `Options.own`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller: at most two minutes on two cores")
    parser.add_argument("--smoke", action="store_true", help="smallest: some seconds, only to see that all parts run")
    parser.add_argument("--data", type=Path, default=SHARED / "data", help="folder of the data sets")
    parser.add_argument("--draws", type=Path, default=SHARED / "reference" / "draws", help="folder of published draws")
    parser.add_argument("--out", type=Path, help="folder for CSV, page and figures")
    parser.add_argument("--keep", type=Path, help="folder that keeps long runs, and gives them back the next time")
    own(parser)
    given = parser.parse_args()
    # the scripts run chains of the papers' lengths, and shorter ones in small sizes; the pages say how long they were
    warnings.simplefilter("ignore", pt.MixingWarning)
    size = "smoke" if given.smoke else "quick" if given.quick else "full"
    out = given.out if given.out is not None or size == "full" else ROOT / "build" / "reproduce" / size
    command = " ".join(["python", f"reproduce/{Path(sys.argv[0]).name}", *_without_folders(sys.argv[1:])])
    return Options(size, given.data, given.draws, out, given.keep, command, given)


def _without_folders(arguments: list[str]) -> list[str]:
    """The command as another machine would give it: folders are left out."""
    shown, skip = [], False
    for argument in arguments:
        if skip or argument.startswith(FOLDERS):
            skip = not skip and argument in FOLDERS
        else:
            shown.append(argument)
    return shown


def kept(options: Options, name: str, make: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """What `make` gives; with --keep it is written to NAME.npz there, and read from it the next time."""
    if options.keep is None:
        return make()
    path = options.keep / f"{name}-{options.size}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **make())
    with np.load(path) as arrays:
        return dict(arrays)
