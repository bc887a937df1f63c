"""Parts of the papers' scripts that compute: each against its definition."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduce"))

from dahl.contest import Reached
from dahl.samples import mixture_points
from dahl_johnson_mueller import from_arrays, to_arrays
from wang.data import synthetic, synthetic_truth
from wang.runs import Results, outliers, pair_f1


def test_f1_of_pairs_counts_pairs():
    rng = np.random.default_rng(0)
    found, truth = rng.integers(4, size=30), rng.integers(3, size=30)
    pairs = list(itertools.combinations(range(30), 2))
    together = {pair for pair in pairs if found[pair[0]] == found[pair[1]]}
    same = {pair for pair in pairs if truth[pair[0]] == truth[pair[1]]}
    precision, recall = len(together & same) / len(together), len(together & same) / len(same)
    assert pair_f1(found, truth) == pytest.approx(2 * precision * recall / (precision + recall))


def test_outliers_are_items_alone():
    assert outliers(np.array([0, 1, 1, 2, 3])) == pytest.approx(60.0)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_synthetic_labels_are_wrong_as_often_as_asked(noise):
    base, truth = synthetic(noise, np.random.default_rng(1)), synthetic_truth()
    assert ((base != truth[:, None]).sum(axis=0) == round(noise * len(truth))).all()


def test_rows_that_are_there_are_not_made_again(tmp_path):
    made = []
    for _ in range(2):
        Results(tmp_path / "runs.csv").need(3, "Glass", lambda: made.append(1) or [("NBCE", "f1", 0.5)])
    assert made == [1]
    assert Results(tmp_path / "runs.csv").frame().value.tolist() == [0.5]


def test_a_tie_is_no_win():
    assert Reached(0.9, 1, 0.0).beats(Reached(1.0, 1, 0.0))
    assert not Reached(1.0 - 1e-12, 1, 0.0).beats(Reached(1.0, 1, 0.0))


def test_contests_survive_the_way_to_a_file_and_back():
    contests = {"VI": [{"A": Reached(0.5, 3, 0.1)}, {"A": Reached(0.25, 2, 0.2)}], "ID": [{"A": Reached(1.0, 1, 0.3)}]}
    assert from_arrays(to_arrays(contests)) == contests


def test_points_have_the_asked_shape():
    assert mixture_points(60, 4, np.random.default_rng(0)).shape == (60, 2)
