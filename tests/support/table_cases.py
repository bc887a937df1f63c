"""Six items seen through columns of each kind, with gaps, and the log marginal likelihood of a cluster by formula."""

import numpy as np

from partita.models import DiscreteBase, MixtureDPM
from support import mixture_reference as reference
from support import table_reference as tables

NAN = np.nan
SIZE = np.array([-1.2, 0.4, 0.1, NAN, 1.4, 1.1])
WEIGHT = np.array([0.5, 0.7, NAN, 3.0, 2.5, 4.0])
VISITS = np.array([0, 2, 1, 40, NAN, 25.0])
COLOUR = ["red", "red", None, "blue", "green", "blue"]
ILL = [True, False, True, None, False, False]
RATING = np.array([1, 2, NAN, 4, 4, 3.0])
GRADES = np.array([0, 1, -1, 3, 3, 2])
TRUTHS = np.array([1.0, 0.0, 1.0, NAN, 0.0, 0.0])
C, A, SHAPE, WEIGHT_OF_LEVEL = 0.4, 1.5, 0.7, 0.6
SETTINGS = {"c": C, "a": A, "b": 0.3, "discrete": DiscreteBase(SHAPE, 0.2, WEIGHT_OF_LEVEL)}


def codes(values):
    names = sorted({value for value in values if value is not None})
    return np.array([-1 if value is None else names.index(value) for value in values])


def observed_mean(x):
    return np.nanmean(x)


#: name -> (columns of a table, families, ln p of the cells of one cluster)
CASES = {
    "gaussian": ({"x": SIZE}, None, lambda g: tables.log_gaussian(SIZE[g], observed_mean(SIZE), C, A, 0.3)),
    "complete": (
        {"x": np.nan_to_num(SIZE), "y": np.nan_to_num(WEIGHT)},
        None,
        lambda g: sum(
            tables.log_gaussian(np.nan_to_num(x)[g], np.nan_to_num(x).mean(), C, A, 0.3) for x in (SIZE, WEIGHT)
        ),
    ),
    "positive": (
        {"x": WEIGHT},
        "positive",
        lambda g: tables.log_positive(WEIGHT[g], observed_mean(np.log(WEIGHT)), C, A, 0.3),
    ),
    "count": ({"x": VISITS}, "count", lambda g: tables.log_count(VISITS[g], SHAPE, 0.2)),
    "negative-binomial": (
        {"x": VISITS},
        "negative-binomial",
        lambda g: tables.log_negative_binomial(VISITS[g], SHAPE, 0.2),
    ),
    "ordinal": ({"x": RATING}, "ordinal", lambda g: tables.log_ordinal(GRADES[g], GRADES, 4, C, A, A - 1)),
    "categorical": ({"x": COLOUR}, None, lambda g: tables.log_levels(codes(COLOUR)[g], 3, WEIGHT_OF_LEVEL)),
    "binary": ({"x": ILL}, None, lambda g: tables.log_levels(codes(ILL)[g], 2, WEIGHT_OF_LEVEL)),
}
CASES["mixed"] = (
    {"size": SIZE, "weight": WEIGHT, "visits": VISITS, "colour": COLOUR, "ill": ILL},
    {"weight": "positive", "visits": "count"},
    lambda g: (
        CASES["gaussian"][2](g)
        + CASES["positive"][2](g)
        + CASES["count"][2](g)
        + CASES["categorical"][2](g)
        + CASES["binary"][2](g)
    ),
)
CASES["new families"] = (
    {"visits": VISITS, "rating": RATING, "colour": COLOUR},
    {"visits": "negative-binomial", "rating": "ordinal"},
    lambda g: CASES["negative-binomial"][2](g) + CASES["ordinal"][2](g) + CASES["categorical"][2](g),
)
FULL = np.column_stack([np.nan_to_num(SIZE), [0.2, -0.4, 0.3, 1.5, 0.9, 1.1]])
CASES["full"] = (
    {"x": FULL[:, 0], "y": FULL[:, 1], "colour": COLOUR},
    None,
    lambda g: (
        reference.log_marginal_full(FULL[g], FULL.mean(axis=0), C, 2 * A + 1, 0.6 * np.eye(2))
        + CASES["categorical"][2](g)
    ),
)


def model_of(case, **more):
    _, families, _ = CASES[case]
    full = [["x", "y"]] if case == "full" else None
    return MixtureDPM(families, full=full, **{**SETTINGS, **more})
