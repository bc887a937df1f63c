"""Large csv files and parquet files are read as small ones are, into one array that is not copied."""

import numpy as np
import pandas as pd
import pytest

from partita.cli import large_table
from partita.cli.mixture_table import read_mixed
from partita.models.mixtures.cells import encode
from partita.models.mixtures.schema import choose_schema


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(3000, 3)).round(4), columns=["a", "b", "c"])
    frame["count"] = rng.poisson(3, 3000)
    frame["sex"] = rng.choice(["f", "m"], 3000)
    frame["late"] = frame["c"].astype(object)
    frame.loc[2500, "late"] = "unknown"
    frame.loc[7, "b"] = np.nan
    frame.loc[8, "a"] = -999
    frame["when"] = "2021-03-04"
    frame.insert(0, "id", [f"p{i}" for i in range(3000)])
    frame.to_csv(tmp_path / "table.csv", index=False)
    frame.drop(columns="late").to_parquet(tmp_path / "table.parquet")
    return tmp_path


def same(one, other):
    assert one.names == other.names
    for x, y in zip(one.columns, other.columns, strict=True):
        assert (x.name, x.kind, x.problem, x.texts) == (y.name, y.kind, y.problem, y.texts)
        np.testing.assert_array_equal(x.values, y.values)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_large_csv_is_read_as_text_is(table, monkeypatch, separator):
    path = str(table / "table.csv")
    if separator != ",":
        pd.read_csv(path).to_csv(path, sep=separator, index=False)
    plain = read_mixed(path, {}, ["-999"])
    monkeypatch.setattr(large_table, "LARGE", 0)
    calls, read = [], large_table.read_large
    monkeypatch.setattr("partita.cli.mixture_table.read_large", lambda *given: calls.append(read(*given)) or calls[-1])
    large = read_mixed(path, {}, ["-999"])
    assert calls[0] is not None
    same(plain, large)
    assert plain.line_of(4) == large.line_of(4)
    schema = choose_schema(large, {"late": "ignore", "when": "ignore"})
    numbers = encode(large, schema)["numbers"]
    assert numbers is next(raw.values.base for raw in large.columns if raw.name == "a")


@pytest.mark.parametrize(
    "text",
    [
        "1,2\n3,4\n", '"a","b"\n"1,5","2"\n', "a;b\n1,5;2\n2,5;3\n", "a,b\n1,2\n3\n", "a,b\n1,2\n\n3,4\n",
        ",x\nr,1\ns,2\n", "a,a\n1,2\n3,4\n",
    ],
)  # fmt: skip
def test_what_pyarrow_may_read_otherwise_is_read_as_text(tmp_path, monkeypatch, text):
    path = tmp_path / "odd.csv"
    path.write_text(text)
    outcome = {}
    for large in (1 << 60, 0):
        monkeypatch.setattr(large_table, "LARGE", large)
        try:
            read = read_mixed(str(path), {}, None, as_table=True)
            outcome[large] = [(raw.name, raw.kind, raw.values.tolist(), raw.texts) for raw in read.columns]
        except ValueError as error:
            outcome[large] = str(error)
    assert len({repr(value) for value in outcome.values()}) == 1


def test_parquet_is_read_as_csv_is(table):
    plain = read_mixed(str(table / "table.csv"), {}, None)
    read = read_mixed(str(table / "table.parquet"), {}, None)
    assert read.names == plain.names
    for raw in read.columns:
        own = next(other for other in plain.columns if other.name == raw.name)
        assert (raw.kind, raw.texts) == (own.kind, own.texts)
        np.testing.assert_array_equal(raw.values, own.values)
    with pytest.raises(ValueError, match="marks its missing cells itself"):
        read_mixed(str(table / "table.parquet"), {}, ["-999"])
    (table / "bad.parquet").write_text("a,b\n")
    with pytest.raises(ValueError, match="is not a parquet file"):
        read_mixed(str(table / "bad.parquet"), {}, None)
