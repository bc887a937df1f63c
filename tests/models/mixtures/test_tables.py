"""Tables in: types decide the family, names are kept, and what cannot be modelled is refused with its place."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partita as pt
from partita.models import DiscreteBase, MixtureDPM, SplitMergeMoves
from partita.models.mixtures.cells import encode
from partita.models.mixtures.raw import read_raw
from partita.models.mixtures.schema import Schema, choose_schema

TABLE = {
    "size": [1.5, None, 3.0, 2.5],
    "visits": [0, 3, 1, 2],
    "colour": ["red", "blue", None, "red"],
    "ill": [True, False, None, True],
}
FAMILIES = {"size": "gaussian", "visits": "gaussian", "colour": "categorical", "ill": "binary"}


def as_csv(folder):
    path = folder / "table.csv"
    path.write_text("size,visits,colour,ill\n1.5,0,red,yes\n,3,blue,no\n3.0,1,NA,\n2.5,2,red,yes\n")
    return str(path)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table, lambda t: pl.DataFrame(t).lazy()])
def test_the_same_table_in_every_form(make):
    table = read_raw(make(TABLE))
    schema = choose_schema(table, None)
    assert {column.name: column.family for column in schema.columns} == FAMILIES
    cells = encode(table, schema)
    np.testing.assert_array_equal(cells["numbers"], [[1.5, 0], [np.nan, 3], [3, 1], [2.5, 2]])
    np.testing.assert_array_equal(cells["codes"], [[1, 1], [0, 0], [255, 255], [1, 1]])
    assert cells["codes"].dtype == np.uint8


def test_a_csv_file(tmp_path):
    schema = MixtureDPM({"visits": "count"}).describe(as_csv(tmp_path))
    assert str(schema).splitlines() == [
        "size: gaussian",
        "visits: count",
        "colour: categorical (2 levels: blue, red)",
        "ill: categorical (2 levels: no, yes)",
    ]


def test_declared_levels_are_known_even_if_unused():
    for table in (
        pd.DataFrame({"x": pd.Categorical(["a", "b", None], categories=["c", "b", "a"])}),
        pl.DataFrame({"x": pl.Series(["a", "b", None], dtype=pl.Enum(["c", "b", "a"]))}),
    ):
        assert MixtureDPM().describe(table).columns[0].levels == ("c", "b", "a")


def test_names_of_rows_and_columns_are_kept():
    frame = pd.DataFrame(TABLE, index=["ann", "bob", "eve", "dan"])
    chain = MixtureDPM().sample(frame, draws=3, warmup=3, chains=1, rng=1)
    assert chain.names == ("ann", "bob", "eve", "dan")
    assert [column.name for column in Schema.from_array(chain.inputs["schema"]).columns] == list(TABLE)


def test_families_by_order_and_for_all():
    array = np.array([[1, 2.0], [3, 4.0]])
    assert [c.family for c in MixtureDPM(["count", "positive"]).describe(array).columns] == ["count", "positive"]
    assert [c.family for c in MixtureDPM("count").describe(array).columns] == ["count", "count"]


BAD = [
    ({"x": [2.5, 2.5, None], "y": [1, 2, 3]}, None, r"column 'x' has only the value 2.5, .*leaves it out"),
    ({"x": ["a", "a", None]}, None, r"column 'x' has only the level 'a' .*columns=\{'x': 'ignore'\} leaves it out"),
    ({"x": [None, None]}, None, "column 'x' has no cell that is observed"),
    ({"x": [np.nan, np.nan]}, None, "column 'x' has no cell that is observed"),
    ({"x": [datetime.date(2020, 1, 1), None]}, None, r"column 'x' holds dates or times: .* in row 0"),
    ({"x": np.array(["2020-01-01"], dtype="M8[D]")}, None, "column 'x' holds dates or times"),
    ({"x": [None, "2020-01-31", "2020-02-01 12:30"]}, None, "column 'x' holds dates as text: '2020-01-31' in row 1"),
    ({"x": ["31.1.2020", "1.2.2020"]}, "gaussian", "column 'x' holds dates as text: '31.1.2020' in row 0"),
    (np.array([["1.5", "a"], ["2", "b"]]), None, "column 'x0' holds numbers as text: '1.5' in row 0; convert them"),
    ({"x": [1.0, "a"]}, None, "column 'x' mixes numbers and text: 1.0 in row 0 and 'a' in row 1"),
    ({"x": [True, 3]}, None, "column 'x' mixes truth values and numbers: True in row 0 and 3 in row 1"),
    ({"x": [[1], [2]]}, None, "column 'x' holds cells of type list"),
    ({"x": [1, -2]}, "count", "row 1, column 'x': -2 is not a count"),
    ({"x": [1, 2.5]}, "count", "row 1, column 'x': 2.5 is not a count"),
    ({"x": [1, 1e12]}, "count", r"row 1, column 'x': 1e\+12 is not a count"),
    ({"x": [1, 0.0]}, "positive", "row 1, column 'x': 0 is not positive"),
    ({"x": [1.0, np.inf]}, None, r"row 1, column 'x': infinity \(inf\) has no density"),
    ({"x": ["a", "b"]}, "gaussian", "row 0, column 'x': 'a' is not a number, but the column is gaussian"),
    ({"x": ["a", "b", "c"]}, "binary", "column 'x' is to be binary, but it has 3 levels: a, b, c"),
    ({"x": [1.0, 2.0]}, {"y": "count"}, "columns names 'y', which the table does not have"),
    ({"x": [1.0, 2.0]}, {"x": "counts"}, r"columns\['x'\] must be one of .* but it is 'counts'.*count"),
    ({"x": [1.0, 2.0]}, ["count", "count"], "columns has 2 families, but the table has 1 columns"),
    ({"x": [1.0, 2.0]}, "ignore", "every column is ignored"),
    ({"x": [1.0, 2.0], "y": [1.0]}, None, r"the columns have different numbers of cells: \[1, 2\]"),
    ({}, None, r"X has 0 item\(s\)"),
    (np.zeros((3, 0)), None, r"X has 0 feature\(s\)"),
    (np.zeros(3), None, "X must have 2 dimensions"),
    (np.zeros((2, 2), complex), None, "Complex data not supported"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, "X has two columns named 'a'"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "columns", "message"), BAD)
def test_bad_tables_are_refused_with_their_place(table, columns, message):
    with pytest.raises(ValueError, match=message):
        MixtureDPM(columns).sample(table, draws=1, warmup=0, chains=1)


def test_settings_of_columns_are_named():
    with pytest.raises(TypeError, match="columns must give the families of columns by name or in order, not 5"):
        MixtureDPM(5).describe(TABLE)
    with pytest.raises(TypeError, match="full must be None, 'all' or lists of names of columns, but it is 5"):
        MixtureDPM(full=5).sample({"x": [1.0, 2.5]}, draws=1, warmup=0, chains=1)


def test_rows_of_words_and_numbers_keep_their_numbers():
    rows = [[1.5, 3, "a"], [2.5, 1, "b"], [None, 2, "b"]]
    assert [c.family for c in MixtureDPM().describe(rows).columns] == ["gaussian", "gaussian", "categorical"]


def test_dates_and_numbers_as_text_may_be_levels():
    table = {"x": ["2020-01-31", "2020-02-01"], "version": ["1.2.3", "1.2.4"], "size": ["1.5", "2"], "code": ["1", "2"]}
    families = [c.family for c in MixtureDPM({"x": "categorical", "size": "categorical"}).describe(table).columns]
    assert families == ["categorical"] * 4


def test_a_csv_file_is_refused_with_its_line(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("size,visits\n1.5,0\n2,-3\n")
    with pytest.raises(ValueError, match=r"table.csv, line 3, column 'visits': -3 is not a count"):
        MixtureDPM({"visits": "count"}).sample(path, draws=1)
    path.write_text("size,visits\n1.5,0\nx,3\n")
    with pytest.raises(ValueError, match=r"column 'size' mixes numbers and text: 1.5 in .*line 2 and 'x' in .*line 3"):
        MixtureDPM().sample(path, draws=1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"discrete": DiscreteBase(weight=0)}, "weight"),
        ({"discrete": DiscreteBase(shape=-1)}, "shape"),
        ({"discrete": DiscreteBase(rate=0)}, "rate"),
        ({"b": 1e200}, "b must be a positive number from"),
        ({"full": "x"}, "full must be None, 'all' or lists"),
        ({"full": ["x"]}, "full must contain lists"),
        ({"full": [["z"]]}, "full names 'z', which is not a gaussian or positive column"),
        ({"full": [["x"], ["x"]]}, "full names 'x' twice"),
        ({"moves": SplitMergeMoves(-1)}, "split_merge"),
        ({"discount": 1}, "discount"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    table = {"x": [1.0, 2.0, 3.0], "y": [1.0, None, 3.0]}
    with pytest.raises(ValueError, match=message):
        MixtureDPM(**settings).sample(table, draws=1, warmup=0, chains=1)


def test_a_row_without_a_cell_is_told():
    with pytest.warns(UserWarning, match="^row 2 has no observed cell"):
        MixtureDPM().sample({"x": [1.0, 2.0, None], "y": ["a", "b", None]}, draws=2, warmup=0, chains=1)


@pytest.mark.filterwarnings("ignore::partita.MixingWarning")
@pytest.mark.parametrize(
    ("table", "settings"),
    [
        ({"x": [1.0] * 12, "y": [*range(6), *range(50, 56)]}, {"columns": {"x": "gaussian"}, "full": "all"}),
        ({"x": ["once", *["often"] * 11], "y": [*range(6), *range(50, 56)]}, {}),
        (
            {"who": [0, 0, 0, 1, 1, 1, 2, 2], "when": [0.0, 1, 1, 0, 0, 2, 1, 1], "y": [1.0, 2, 3, 9, 8, 7, 2, 2]},
            {"curves": pt.models.Curves("who", "when")},
        ),
    ],
    ids=["constant in full", "a level seen once", "times that repeat"],
)
def test_odd_columns_are_modelled(table, settings):
    chain = MixtureDPM(**settings).sample(table, draws=40, warmup=40, chains=2, rng=1)
    assert np.isfinite(chain.log_density).all()
    assert pt.estimate(chain, rng=1).n_clusters >= 1
