"""Questions about the columns of a table: codes, identifiers, sentinels, and items that repeat."""

import numpy as np
import pandas as pd
import pytest

from partita.models import MixtureDPM, Sampling

RNG = np.random.default_rng(5)


def notes(table, columns=None):
    return MixtureDPM(columns).describe(table).notes


def test_whole_numbers_of_few_values_are_asked_about():
    table = {"gender": RNG.integers(1, 3, 60), "size": RNG.normal(size=60), "A1": RNG.integers(1, 7, 60)}
    (note,) = notes(table)
    assert note.startswith("gender and A1 have only whole numbers, 6 different ones at most")
    assert "columns={'gender': 'categorical'}" in note
    assert "columns='categorical' all columns" in note
    assert notes(table, {"gender": "binary", "A*": "gaussian"}) == ()
    assert MixtureDPM(sampling=Sampling(draws=2, warmup=2, chains=1), random_state=1).fit(table).schema_.notes == (
        note,
    )


@pytest.mark.parametrize(
    "cells",
    [
        RNG.normal(size=60),
        RNG.integers(0, 100, 60),
        [2, 0, 1, 3, None, 14, 9, 12],  # too few to tell
        [True, False] * 30,
    ],
)
def test_measurements_are_not_asked_about(cells):
    assert notes({"x": cells}) == ()


def test_identifiers_are_pointed_out():
    table = {
        "case": 1000 + RNG.permutation(40),
        "ring": [f"N{i // 1.5:.0f}" for i in range(40)],
        "x": RNG.normal(size=40),
    }
    case, ring = notes(table)
    assert case.startswith("case has a different whole number in each row. Does it name the items?")
    assert "columns={'case': 'ignore'} leaves it out" in case
    assert "ring has 27 categories in 40 rows" in ring
    repeated = {"id": np.append(RNG.permutation(36), [3, 4, 5, 6]), "x": RNG.normal(size=40)}
    assert notes(repeated)[0].startswith("id has 36 different whole numbers in 40 rows. Does it name the items?")
    assert notes({"area": RNG.permutation(10_000)[:40], "x": RNG.normal(size=40)}) == ()
    assert notes({name: cells[:8] for name, cells in table.items()}) == ()


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        ([-999, 3.5, 4.25, 7.5, 6.25], -999),
        ([1.5, 2.25, 3.5, 9999], 9999),
        ([-9, 0, 1, 2, 3, 4, -9, -9], -9),
        ([1, 2, 9, 1, 2, 1, 2, 9, 9], 9),
        ([1, 2, 9, 1, 2, 1, 2], None),  # once, it may be a 9
        ([-9, 0, 5, 9, 13], None),  # in line with the others
        ([-999.5, 3.5, 4.25], None),  # no usual marker
        ([5, 9], None),
    ],
)
def test_numbers_that_mark_missing_cells(cells, value):
    found = [note for note in notes({"x": cells}) if "mark missing" in note]
    if value is None:
        assert found == []
    else:
        n_cells = cells.count(value)
        said = f"{value} is in {n_cells} cell{'s' if n_cells > 1 else ''} of x, far from the other values"
        assert found == [f"{said}. Does it mark missing cells? None in its place makes these cells missing."]


def test_words_that_mark_missing_cells():
    (note,) = notes({"x": ["a", "b", "?", "a"]})
    assert note.startswith("'?' is a level of x. Does it mark missing cells?")


def long_table(n_items, days, ordered=True):
    frame = pd.DataFrame([(300 + i, day, 250 + RNG.normal()) for i in range(n_items) for day in days])
    frame = frame.set_axis(["Chick", "step", "weight"], axis=1)
    return frame if ordered else frame.sample(frac=1, random_state=1).reset_index(drop=True)


def test_items_that_repeat_are_recognised():
    """As R's ChickWeight and sleepstudy: by the order of rows, or by the names of the columns."""
    (note,) = (text for text in notes(long_table(18, range(10))) if "repeats" in text)
    assert note.startswith(
        "Chick repeats, with another step in each row: 180 rows of 18 items. Clusters will be of rows."
    )
    assert "curves=Curves(id='Chick', time='step')" in note
    shuffled = long_table(18, range(10), ordered=False)
    assert not any("repeats" in text for text in notes(shuffled))
    assert any("Subject repeats" in text for text in notes(shuffled.rename(columns={"Chick": "Subject"})))
    some = long_table(18, range(10)).sample(frac=0.8, random_state=1).sort_index()  # chicks that died
    assert any("Chick repeats" in text for text in notes(some))


@pytest.mark.parametrize(
    "table",
    [
        {"site": ["a", "b", "c"] * 20, "year": np.repeat([2007, 2008], 30), "x": RNG.normal(size=60)},
        {"species": np.repeat(["a", "b", "c"], 20), "number": [*range(20)] * 3, "x": RNG.normal(size=60)},
        {f"q{j}": RNG.integers(1, 6, 100) for j in range(8)},
        {"x": RNG.normal(size=60), "y": RNG.normal(size=60)},
    ],
)
def test_other_tables_have_no_items_that_repeat(table):
    assert not any("repeats" in text for text in notes(table))


def test_patterns_give_families_to_several_columns():
    table = {"A1": [1, 2, 1], "A2": [2, 2, 1], "B1": [1, 3, 2], "z[1]": [1.0, 2.0, 4.0]}

    def families(columns):
        return [column.family for column in MixtureDPM(columns).describe(table).columns]

    assert families({"A*": "categorical"}) == ["categorical", "categorical", "gaussian", "gaussian"]
    assert families({"*": "count", "A*": "categorical", "A2": "binary"}) == ["categorical", "binary", "count", "count"]
    assert families({"z[1]": "ignore", "?1": "count"}) == ["count", "gaussian", "count", "ignore"]
    with pytest.raises(ValueError, match="columns names 'C\\*', which matches no column"):
        families({"C*": "count"})
    with pytest.raises(ValueError, match="'A\\*' and '\\?1' give the column 'A1' different families"):
        families({"A*": "count", "?1": "gaussian"})
    with pytest.raises(
        ValueError, match="must be one of gaussian, positive, months, count, negative-binomial, categorical"
    ):
        families({"A*": "graded"})


def test_an_infinite_cell_is_no_whole_number():
    assert not MixtureDPM().describe({"u": [np.inf, -10.0, -10.0]}).notes
