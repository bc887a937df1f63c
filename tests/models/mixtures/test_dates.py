"""Dates as months since the first."""

import datetime

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.models import Curves, MixtureDPM
from partita.models.mixtures.cells import encode
from partita.models.mixtures.raw import read_raw
from partita.models.mixtures.schema import choose_schema

DATES = ["2021-03-01", None, "2021-04-30 10:30", "2022-01-31"]
FORMS = {
    "texts": DATES,
    "pandas": pd.Series(pd.to_datetime(DATES, format="ISO8601")),
    "numpy": np.array(["2021-03-01", "NaT", "2021-04-30T10:30", "2022-01-31"], "M8[s]"),
    "datetimes": [None if text is None else datetime.datetime.fromisoformat(text) for text in DATES],
}


@pytest.mark.parametrize("form", FORMS)
def test_months_since_the_first_date(form):
    table = read_raw({"seen": FORMS[form], "x": [1.0, 2, 3, 4]})
    with pytest.raises(ValueError, match=r"'seen': 'months'\} takes months since the first"):
        choose_schema(table, None)
    schema = choose_schema(table, {"seen": "months"})
    assert str(schema.columns[0]).startswith("seen: months since 2021-03-01")
    found = encode(table, schema)["numbers"][:, 0]
    np.testing.assert_allclose(found, np.array([0, np.nan, 60 + 10.5 / 24, 336]) / 30.4375, rtol=1e-12)


def test_new_rows_count_from_the_same_day():
    rng = np.random.default_rng(1)
    days = np.append(rng.integers(0, 30, 20), rng.integers(900, 930, 20)).astype("timedelta64[D]")
    table = {"seen": [str(day) for day in np.datetime64("2020-01-01") + days], "x": rng.normal(size=40)}
    model = MixtureDPM({"seen": "months"}, random_state=1, sampling=pt.models.Sampling(200, 200)).fit(table)
    late = model.predict({"seen": ["2022-07-01", "2020-01-15"], "x": [0.0, 0.0]})
    assert late.tolist() == [model.labels_[-1], model.labels_[0]]


def test_what_is_no_date():
    with pytest.raises(ValueError, match="row 1, column 'seen': '2021-02-30' is not a time"):
        MixtureDPM({"seen": "months"}).describe({"seen": ["2021-02-28", "2021-02-30"]})
    with pytest.raises(ValueError, match="is to be months, but it has no dates"):
        MixtureDPM({"seen": "months"}).describe({"seen": [1.0, 2.0]})


def test_times_of_curves_do_not_depend_on_the_time_zone(monkeypatch):
    """A day of 23 hours in March is a day."""
    import time

    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    table = {"who": ["a", "a", "b", "b"], "day": ["2024-03-30", "2024-04-01"] * 2, "y": [1.0, 2, 3, 5]}
    cells = MixtureDPM(curves=Curves("who", "day")).items(read_raw(table))[2]
    np.testing.assert_allclose(cells["curve_times"], np.array([0, 2, 0, 2]) / 30.4375, rtol=1e-12)
