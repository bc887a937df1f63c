"""A new user's trial: files as programs write them and users save them; none is read as something else.

Each file was written for this trial, to the letter, apart from those of `test_foreign_files`. What used to be read as
something else is marked so.
"""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.cli.ensemble import read_base
from partita.cli.inputs import read_data, read_partition
from partita.draws.io import read_draws
from partita.draws.sample import as_sample
from partita.draws.sources.layout import check_not_one_partition

DRAWS = np.array(
    [
        [1, 1, 2, 2, 3],
        [1, 1, 2, 2, 2],
        [1, 2, 2, 3, 3],
        [2, 2, 1, 1, 3],
        [1, 1, 1, 2, 2],
        [3, 3, 1, 1, 2],
        [1, 1, 2, 3, 3],
        [1, 1, 2, 2, 2],
    ]
)
CANONICAL = as_sample(DRAWS).to_numpy().tolist()
TOWNS = ("oslo", "Rome", "New York", "São Paulo", "Bern")
COUNTS = ("1", "2", "3", "4", "5")
Z = tuple(f"z[{i}]" for i in range(1, 6))
FRAME = pd.DataFrame(DRAWS, columns=list(TOWNS))


def written(names, rows=DRAWS, first=None, separator=",", quotes=True, corner=True):
    """As R's write.csv and write.table; `first` are the row names."""

    def cell(text):
        return f'"{text}"' if quotes else str(text)

    lines = [] if names is None else [[*[cell("")] * (corner and first is not None), *map(cell, names)]]
    for i, row in enumerate(rows):
        lines.append([*([] if first is None else [cell(first[i])]), *map(str, row)])
    return "".join(separator.join(line) + "\n" for line in lines)


def excel(rows, separator=";"):
    return "\ufeff" + "".join(separator.join(map(str, row)) + "\r\n" for row in rows)


ROWS = [str(i) for i in range(1, 9)]
CHAINS = [0, 0, 0, 0, 1, 1, 1, 1]
BY_CHAIN = [[1 + i // 4, 1 + i % 4, *row] for i, row in enumerate(DRAWS.tolist())]
LONG = [(t, TOWNS[i], label) for t, row in enumerate(DRAWS.tolist(), 1) for i, label in enumerate(row)]

READ = {
    "R, thinned: row names 10, 20, ...": (written(TOWNS, first=[f"{10 * i}" for i in range(1, 9)]), TOWNS, None),
    "R, row names in words": (written(TOWNS, first=[f"draw{i}" for i in range(8)]), TOWNS, None),
    "R, quote=FALSE": (written(TOWNS, first=ROWS, quotes=False), TOWNS, None),
    "R, tabs, col.names=NA": (written(TOWNS, first=ROWS, separator="\t"), TOWNS, None),
    "R, tabs, no corner, quote=FALSE": (
        written(TOWNS, first=ROWS, separator="\t", quotes=False, corner=False),
        TOWNS,
        None,
    ),
    "R, col.names=FALSE": (written(None, first=ROWS, separator=" "), None, None),
    "R, items called 1, 2, ...": (written(COUNTS, first=ROWS), COUNTS, None),
    "R, coda with CHAIN and ITER": (written(["CHAIN", "ITER", *Z], BY_CHAIN, ROWS), Z, CHAINS),
    "R, rstan as.data.frame": (written([*Z, "lp__"], [[*row, -3.5] for row in DRAWS], ROWS), Z, None),
    "R, tidybayes where chains are not known": (
        "i,.chain,.iteration,.draw,.variable,.value\n"
        + "".join(f"{i + 1},NA,NA,{t + 1},z,{DRAWS[t, i]}\n" for i in range(5) for t in range(8)),
        COUNTS,
        None,
    ),
    "MATLAB, save -ascii": ("".join("   " + "   ".join(f"{x:.7e}" for x in row) + "\n" for row in DRAWS), None, None),
    "Julia, writedlm": (written(None, separator="\t"), None, None),
    "pandas, two levels of rows": (
        FRAME.set_index(pd.MultiIndex.from_product([[0, 1], range(4)], names=["chain", "draw"])).to_csv(),
        TOWNS,
        CHAINS,
    ),
    "pandas, stacked": (FRAME.stack().rename_axis(["draw", "item"]).rename("cluster").to_csv(), TOWNS, None),
    "pandas, labels with points": (FRAME.astype(float).to_csv(index=False), TOWNS, None),
    "polars, tabs": (pl.DataFrame(DRAWS, schema=list(TOWNS)).write_csv(separator="\t"), TOWNS, None),
    "polars, unpivot": (
        pl.DataFrame(DRAWS, schema=list(TOWNS)).with_row_index("draw").unpivot(index="draw").write_csv(),
        TOWNS,
        None,
    ),
    "Excel, semicolons, Draw": (excel([["Draw", *TOWNS], *([i, *r] for i, r in enumerate(DRAWS, 1))]), TOWNS, None),
    "Excel, 1,0 for 1": (excel([TOWNS, *([f"{x},0" for x in row] for row in DRAWS)]), TOWNS, None),
}


@pytest.mark.parametrize("kind", READ)
def test_draws(kind):
    text, names, chains = READ[kind]
    found = read_draws(io.BytesIO(text.encode()))
    assert found.to_numpy().tolist() == CANONICAL
    assert found.names == names
    assert (None if found.chains is None else found.chains.tolist()) == chains


#: What is refused, and how the message says what to do; those marked were read as something else.
REFUSED = {
    "R, items called 1, 2, ..., no quotes (was a draw)": (
        written(COUNTS, quotes=False),
        "1, 2, ..., 5: a header of column numbers, or the first draw; specify it with header=True or header=False",
    ),
    "items in the rows (was 5 draws of 8 items)": (
        written([f"draw{i}" for i in range(8)], DRAWS.T, TOWNS),
        "its columns are draws; draws have one row per draw and one column per item, so transpose it first",
    ),
    "the index of CODA files (was draws of two items)": (
        "z[1] 1 8\nz[2] 9 16\nz[3] 17 24\n",
        "is the index of CODA files, not draws",
    ),
    "a long table of pandas with its index (was items index, variable, value)": (
        "index,variable,value\n" + "".join(f"{t},{town},{label}\n" for t, town, label in LONG),
        "if it has one row per draw and item, use long=('index', 'variable', 'value'); if each column is an item,",
    ),
    "JSON (was draws of words)": ("[[1,1,2],[1,2,2]]\n", "is JSON, not csv"),
    "lines of JSON (was draws of words)": ('{"z":[1,1,2]}\n{"z":[1,2,2]}\n', "is JSON, not csv"),
    "edges i, j (was draws of two items)": ("i,j\n1,2\n2,3\n", "edges of a network, not draws"),
    "one partition (was draws of one item)": ("x\n1\n1\n2\n", "has one column: one label per item, not draws"),
    "one partition of R (was draws of one item)": ('"","x"\n"1",1\n"2",2\n', "has one column: one label per item"),
    "Turing": ("iteration,chain,z[1],z[2],lp\n1,1,1,2,-3.5\n", "has the variables z, lp; name the one that holds"),
    "a matrix of NIMBLE": (written([f"z[{i}, 1]" for i in range(1, 6)], first=ROWS), "has two indices in z[1, 1]"),
    "Excel, empty columns": (
        excel([[*TOWNS, "", ""], *([*row, "", ""] for row in DRAWS)]),
        "a label must not be missing",
    ),
    "Excel, a title": (excel([["My draws", "", ""], ["a", "b", "c"], [1, 1, 2]]), "a label must not be missing"),
    "data": ("x,y\n1.5,2.5\n3.5,1.25\n", "labels must be whole numbers"),
    "our runs.csv": ("run,start,sweeps,clusters,loss\n0,draw,1,2,0.5\n1,draw,1,2,0.5\n", "must be whole numbers"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_draws_is_refused(kind):
    content, sentence = REFUSED[kind]
    with pytest.raises(ValueError) as refused:
        read_draws(io.BytesIO(content if isinstance(content, bytes) else content.encode()))
    assert sentence in str(refused.value)


def test_a_user_can_choose():
    """Each message that asks for a choice is followed by a call that makes it."""
    numbered = REFUSED["R, items called 1, 2, ..., no quotes (was a draw)"][0].encode()
    assert read_draws(io.BytesIO(numbered), header=True).names == COUNTS
    assert read_draws(io.BytesIO(numbered), header=False).n_draws == 9
    melted = REFUSED["a long table of pandas with its index (was items index, variable, value)"][0].encode()
    assert read_draws(io.BytesIO(melted), long=("index", "variable", "value")).names == TOWNS
    assert read_draws(io.BytesIO(b"x\n1\n1\n2\n"), variable="*").n_items == 1
    assert read_draws(io.BytesIO(b"draw1,draw2\n1,1\n1,2\n"), variable="*").names == ("draw1", "draw2")
    check_not_one_partition(np.zeros((3, 1), int), "draws of one item as we write them")


DATA = "x,y\n" + "".join(f"{i / 2},{i * i % 7}\n" for i in range(6))


def table(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return str(path)


def test_row_numbers_are_no_variable(tmp_path):
    """They were, if they had a name, or if R wrote no header."""
    expected = read_data(table(tmp_path, DATA)).values
    frame = pd.read_csv(io.StringIO(DATA))
    unnamed = frame.to_csv().replace(",x,y", "Unnamed: 0,x,y", 1)
    assert np.array_equal(read_data(table(tmp_path, unnamed)).values, expected)
    no_header = "".join(f'"{i}" {line.replace(",", " ")}\n' for i, line in enumerate(DATA.splitlines()[1:], 1))
    assert np.array_equal(read_data(table(tmp_path, no_header)).values, expected)
    for name in ("index", "X", "nr"):
        counted = table(tmp_path, frame.to_csv(index_label=name))
        with pytest.raises(ValueError, match=f"'{name}' counts the rows and may not be a variable"):
            read_data(counted)
        assert np.array_equal(read_data(counted, "x,y").values, expected)
        assert read_data(counted, f"{name},x").values.shape == (6, 2)
    assert read_data(table(tmp_path, frame.to_csv(index_label="time"))).values.shape == (6, 3)  # may well count


def test_row_numbers_are_no_base_clustering(tmp_path):
    with pytest.raises(ValueError, match="'index' counts the rows"):
        read_base(table(tmp_path, "index,m1,m2\n" + "".join(f"{i},{i % 2},{i % 3}\n" for i in range(6))))


def test_words_between_spaces_are_not_one_label(tmp_path):
    """A table that R wrote with quote=FALSE was a column of labels, each with its row name."""
    with pytest.raises(ValueError, match="its lines are 4 words each, which could be 4 cells or one"):
        read_partition(table(tmp_path, "item cluster certainty\n1 ann 0 0.5\n2 bob 1 0.5\n"))
    trees = "species\n" + "Quercus alba\nQuercus alba\nUlmus minor\n" * 2
    assert list(read_partition(table(tmp_path, trees)).values)[:2] == ["Quercus alba"] * 2


@pytest.mark.parametrize("gap", ["NA", "NaN", "null", '""'])
def test_a_missing_label_is_no_label(tmp_path, gap):
    """NA was a cluster of its own."""
    with pytest.raises(ValueError, match="line 3: the label is missing"):
        read_partition(table(tmp_path, f"item,cluster\na,1\nb,{gap}\nc,2\n"))
