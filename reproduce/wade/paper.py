"""The numbers of Wade & Ghahramani (2018), Section 6."""

from math import log

BITS = 1 / log(2)  # the paper's radii of VI are in nats

# Tables 1 and 2, by example and estimate: expected Binder, Binder from the truth, expected VI, VI from the truth
TABLES = {
    1: {
        "Binder": (0.062, 0.045, 0.816, 0.643),
        "VI": (0.064, 0.044, 0.77, 0.569),
        "modified VI": (0.064, 0.049, 0.779, 0.620),
    },
    2: {
        "Binder": (0.088, 0.056, 1.068, 0.764),
        "VI": (0.099, 0.056, 1.03, 0.646),
        "modified VI": (0.099, 0.062, 1.033, 0.648),
    },
}
CLUSTERS = {1: {"Binder": 9, "VI": 4, "modified VI": 4}, 2: {"Binder": 12, "VI": 5, "modified VI": 4}}
RADII = {1: {"Binder": 0.097, "VI": 0.841 * BITS}, 2: {"Binder": 0.188, "VI": 0.985 * BITS}}
# clusters of the upper, lower and horizontal bounds; in Example 2 the text leaves one stable cluster out of its count
BOUNDS = {
    1: {"Binder": ([4], [18], [8, 11]), "VI": ([4], [16], [11])},
    2: {"Binder": ([4, 4], [19], None), "VI": ([3], [16], None)},
}
DISTINCT = {1: 9_999, 2: 10_000}
MOVED = {1: 1, 2: None}
# figures of an example: the estimates; for each loss the ball as points and as matrices
FIGURES = {1: (7, {"Binder": (9, 11), "VI": (10, 12)}), 2: (8, {"Binder": (13, 15), "VI": (14, 16)})}

# Table 3: expected Binder and expected VI
GALAXY = {"Binder": (0.218, 1.014), "VI": (0.237, 0.939)}
GALAXY_CLUSTERS = {"Binder": 7, "VI": 3, "modified VI": 3}
GALAXY_RADIUS = 1.267 * BITS
GALAXY_BOUNDS = {"upper": [2], "lower": [15], "horizontal": None}
GALAXY_SINGLETONS = 4
GALAXY_DISTINCT = 9_636
# how many times less the modified VI takes than the exact one, by R's mcclust.ext
SPEED_UP = {"example": 600, "galaxy": 2600}
