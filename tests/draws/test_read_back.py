"""Whatever partita writes, partita reads as the same thing: also after another program has rewritten it."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita._support.text.cells import is_word
from partita._support.text.table import read_table
from partita.cli.inputs import LABELS, read_partition
from partita.datasets import make_draws
from partita.draws.io import FORMATS, read_draws, write_draws
from partita.draws.sample import as_sample

SUFFIXES = [form.suffix for form in FORMATS if form.write is not None]
N_DRAWS, N_ITEMS = 24, 6
NAMES = {
    "no names": None,
    "words": ["ann", "bob", "eve", "dan", "kim", "joe"],
    "numbers": ["7", "3", "1", "12", "5", "9"],
    "counts": ["1", "2", "3", "4", "5", "6"],
    "separators": ["a,b", "c;d", "e f", 'g"h', "São", "x[1]x"],
    "indices": [f"z[{i}]" for i in range(1, 7)],
}


def make_sample(names, chains, weighted, gaps):
    draws = make_draws(N_ITEMS, N_DRAWS, n_clusters=3, doubt=0.4, rng=3)
    if gaps:
        draws[::5, 2] = -1
    weights = np.arange(1.0, N_DRAWS + 1) if weighted else None
    shaped = draws.reshape(3, -1, N_ITEMS) if chains else draws
    return as_sample(shaped, weights=weights, names=names, missing=-1 if gaps else None)


def assert_same(found, sample):
    assert found.to_numpy().tolist() == sample.to_numpy().tolist()
    assert found.names == sample.names
    np.testing.assert_allclose(found.draw_weights, sample.draw_weights, rtol=1e-12)
    assert found.n_chains == sample.n_chains  # netCDF has a chain, though it be the only one
    if sample.chains is not None:
        assert found.chains.tolist() == sample.chains.tolist()


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("chains", [False, True], ids=["one", "chains"])
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_read_back(tmp_path, suffix, names, chains, weighted, gaps):
    sample = make_sample(NAMES[names], chains, weighted, gaps)
    path = tmp_path / f"draws{suffix}"
    if suffix == ".npy" and weighted:
        with pytest.raises(ValueError, match="cannot hold weights"):
            write_draws(path, sample)
        return
    write_draws(path, sample)
    expected = as_sample(sample.to_numpy().reshape(3, -1, N_ITEMS) if chains else sample.to_numpy(), missing=-1)
    assert_same(read_draws(path, missing=-1 if gaps else None), expected if suffix == ".npy" else sample)


def rewritten_by_pandas(text, **options):
    return pd.read_csv(io.StringIO(text), keep_default_na=False).to_csv(**options)


def shuffled(text):
    """Rows in another order: R and pandas sort tables, and files keep what that leaves."""
    table = pd.read_csv(io.StringIO(text))
    return table.sample(frac=1, random_state=1).to_csv(index=False)


def rewritten_by_r(text, row_names=True, separator=",", quotes=True):
    """As write.csv and write.table write what read.csv(check.names=FALSE) has read."""
    header, *rows = csv.reader(io.StringIO(text))

    def cell(text):
        return f'"{text}"' if quotes and is_word(text) else text

    corner = ['""'] * (row_names and separator == ",")
    names = [f'"{name}"' if quotes else name for name in header]
    lines = [[*corner, *names], *([*[f'"{i}"'] * row_names, *map(cell, row)] for i, row in enumerate(rows, 1))]
    return "".join(separator.join(line) + "\n" for line in lines)


REWRITERS = {
    "pandas": rewritten_by_pandas,
    "pandas, index=False": lambda text: rewritten_by_pandas(text, index=False),
    "pandas, semicolons": lambda text: rewritten_by_pandas(text, index=False, sep=";"),
    "pandas, tabs": lambda text: rewritten_by_pandas(text, sep="\t"),
    "pandas, all in quotes": lambda text: rewritten_by_pandas(text, index=False, quoting=csv.QUOTE_ALL),
    "polars": lambda text: pl.read_csv(io.StringIO(text)).write_csv(),
    "polars, row numbers": lambda text: pl.read_csv(io.StringIO(text)).with_row_index().write_csv(),
    "polars, tabs": lambda text: pl.read_csv(io.StringIO(text)).write_csv(separator="\t"),
    "R write.csv": rewritten_by_r,
    "R write.csv, row.names=FALSE": lambda text: rewritten_by_r(text, row_names=False),
    "R write.csv2": lambda text: rewritten_by_r(text, row_names=False, separator=";"),
    "R write.table": lambda text: rewritten_by_r(text, separator=" "),
    "R write.table, quote=FALSE": lambda text: rewritten_by_r(text, row_names=False, separator="\t", quotes=False),
    "Windows": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("chains", [False, True], ids=["one", "chains"])
@pytest.mark.parametrize("names", ["words", "indices"])
@pytest.mark.parametrize("program", REWRITERS)
def test_a_csv_file_is_read_after_a_program_has_rewritten_it(tmp_path, program, names, chains, weighted):
    sample = make_sample(NAMES[names], chains, weighted, gaps=False)
    write_draws(tmp_path / "draws.csv", sample)
    again = REWRITERS[program]((tmp_path / "draws.csv").read_text())
    assert_same(read_draws(io.BytesIO(again.encode())), sample)


@pytest.mark.parametrize("program", REWRITERS)
def test_names_that_are_numbers_are_read_or_refused(tmp_path, program):
    """Without quotes 1, 2, ..., 6 may be a draw."""
    sample = make_sample(NAMES["counts"], False, False, False)
    write_draws(tmp_path / "draws.csv", sample)
    again = io.BytesIO(REWRITERS[program]((tmp_path / "draws.csv").read_text()).encode())
    try:
        found = read_draws(again)
    except ValueError as error:
        assert "header=True or header=False" in str(error)  # noqa: PT017
        again.seek(0)
        found = read_draws(again, header=True)
    assert_same(found, sample)


def test_shuffled_draws_are_the_same_draws(tmp_path):
    sample = make_sample(NAMES["words"], True, True, False)
    write_draws(tmp_path / "draws.csv", sample)
    found = read_draws(io.BytesIO(shuffled((tmp_path / "draws.csv").read_text()).encode()))

    def rows(one):
        return sorted(zip(one.draw_weights.round(12), one.to_numpy().tolist(), strict=True))

    assert rows(found) == rows(sample)
    assert found.names == sample.names


@pytest.mark.parametrize("program", [*REWRITERS, "shuffled"])
def test_our_labels_are_read_after_a_program_has_rewritten_them(tmp_path, program):
    """labels.csv: its items are matched by name, whatever the order and the row numbers before them."""
    ours = "item,cluster,certainty\n" + "".join(f"{name},{i % 2},0.5\n" for i, name in enumerate(NAMES["words"]))
    rewrite = shuffled if program == "shuffled" else REWRITERS[program]
    path = tmp_path / "labels.csv"
    path.write_text(rewrite(ours), encoding="utf-8", newline="")
    found = read_partition(str(path)).in_order_of(tuple(NAMES["words"]), N_ITEMS, "the draws")
    assert [int(label) for label in found] == [0, 1, 0, 1, 0, 1]
    assert read_table(path, LABELS).has_header
