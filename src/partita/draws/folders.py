"""Folders that partita writes, as draws: a sampler's run or a saved sample. Folders of results contain no draws."""

from __future__ import annotations

from pathlib import Path

from partita.draws.sample import open_sample, sample_source
from partita.draws.sources import Source
from partita.draws.sources.source import array_source
from partita.draws.store import FACTS

MANIFEST, SUMMARY = "manifest.json", "summary.json"


def folder_source(folder: Path) -> Source | None:
    """The draws of a folder written by partita; None for any other folder, whose files may be parts."""
    if (folder / MANIFEST).is_file():
        from partita.models.chains.sampling import read_chain  # here, so that reading a file needs no model

        chain = read_chain(folder)
        return array_source(chain.labels, chain.names)
    if (folder / FACTS).is_file():
        return sample_source(open_sample(folder))
    if (folder / SUMMARY).is_file():
        raise ValueError(
            f"{folder} contains results, not draws: its summary.json names the command that made them, with its draws"
        )
    return None
