"""Parts of the papers' scripts that compute: each against its definition."""

import itertools
import sys
from math import factorial
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "reproduce"))

from dahl import runs as dahl_runs
from dahl.claims import Claim, verdict
from dahl.contest import FOUR, LOSSES, ONE, Reached
from dahl.samples import Design, mixture_points
from dahl.tables import lead, share
from frame.progress import duration
from rastelli import paper
from rastelli.greedy import confusion, moved
from rastelli.modes import log_mass, weigh
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
        Results(tmp_path / "runs.csv.gz").need(3, "Glass", {"NBCE": lambda: made.append(1) or [("f1", 0.5)]})
    assert made == [1]
    assert Results(tmp_path / "runs.csv.gz").frame().value.tolist() == [0.5]


def test_a_tie_is_no_win():
    assert Reached(0.9, 1, 0.0).beats(Reached(1.0, 1, 0.0))
    assert not Reached(1.0 - 1e-12, 1, 0.0).beats(Reached(1.0, 1, 0.0))


def two_models():
    """Four runs win in one of two replications of the first model, and tie in the second model."""
    better, worse = Reached(0.5, 3, 0.1), Reached(0.75, 2, 0.2)
    return {0: [{FOUR: better, ONE: worse}, {FOUR: better, ONE: better}], 1: [{FOUR: worse, ONE: worse}]}


def test_shares_are_means_over_models_of_means_over_replications():
    assert share(two_models(), FOUR, ONE) == pytest.approx((0.25, 0.25))
    assert share(two_models(), ONE, FOUR) == pytest.approx((0.0, 0.0))
    assert lead(two_models(), ONE, FOUR) == pytest.approx((-0.25, 0.25))


@pytest.mark.parametrize(
    ("advantage", "expected"), [(1.0, (1, 0, 0, "")), (0.1, (0, 1, 0, "")), (-1.0, (0, 0, 1, "60 items, VI"))]
)
def test_a_claim_is_decided_beyond_two_errors(advantage, expected):
    claim = Claim("", lambda models: (advantage, 0.1), ("VI",))
    assert verdict(claim, {Design(60, 2, 1, 1): {"VI": {}}}) == expected


def test_contests_survive_the_way_to_a_file_and_back(tmp_path):
    design, found = Design(60, 2, 50, 2), {FOUR: Reached(0.5, 3, 0.1), ONE: Reached(0.625, 2, 0.2)}
    for model in (0, 0, 1):  # a model that was written twice counts once
        dahl_runs.append(dahl_runs.file_of(design, tmp_path, 0), model, dict.fromkeys(LOSSES, found))
    dahl_runs.append(dahl_runs.file_of(design, tmp_path, 1), 1, {"VI": found})
    assert dahl_runs.models_done(dahl_runs.file_of(design, tmp_path, 0)) == {0, 1}
    assert dahl_runs.models_done(dahl_runs.file_of(design, tmp_path, 1)) == set()
    contests = dahl_runs.read_contests(design, tmp_path)
    assert contests["VI"] == {0: [found], 1: [found, found]}
    assert contests["NID"] == {0: [found], 1: [found]}


@pytest.mark.parametrize(("seconds", "words"), [(12.2, "12 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")])
def test_time_left_in_words(seconds, words):
    assert duration(seconds) == words


def test_points_have_the_asked_shape():
    assert mixture_points(60, 4, np.random.default_rng(0)).shape == (60, 2)


@pytest.mark.parametrize("seed", range(5))
def test_moved_is_the_fewest_items_that_must_change_group(seed):
    rng = np.random.default_rng(seed)
    classes, ours, theirs = rng.integers(2, size=6), rng.integers(3, size=6), rng.integers(3, size=6)

    def columns(labels):
        return sorted(tuple(column) for column in confusion(classes, labels)[1].T if column.any())

    with_their_table = (np.array(labels) for labels in itertools.product(range(3), repeat=6))
    fewest = min((ours != labels).sum() for labels in with_their_table if columns(labels) == columns(theirs))
    assert moved(confusion(classes, ours)[1], confusion(classes, theirs)[1]) == fewest


def test_the_papers_tables_hold_every_item():
    assert paper.BLOGS_VI.sum() == paper.BLOGS_VARIATIONAL.sum() == 196
    assert moved(paper.BLOGS_VI, paper.BLOGS_VI) == 0
    assert paper.VOTES_VI.sum(axis=1).tolist() == [267, 168]


def test_mass_of_a_mode_is_the_sum_over_its_labelled_allocations():
    rng = np.random.default_rng(3)
    partitions = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]])
    groups = partitions.max(axis=1) + 1
    density = rng.uniform(1, 2, 5)  # of an allocation without an empty group; with one it is half
    allocations = np.array([factorial(k) for k in groups])  # with an empty group (k + 1)! / 1! of them
    masses = np.concatenate([allocations * density, allocations * (groups + 1) * density / 2])
    drawn = rng.choice(10, 50_000, p=masses / masses.sum())
    log_density = np.log(np.concatenate([density, density / 2]))[drawn]
    assert log_mass(partitions[drawn % 5], log_density) == pytest.approx(np.log(masses.sum()), abs=0.05)


def test_chains_of_one_mode_share_its_weight():
    one, other = np.array([0, 0, 1]), np.array([0, 1, 1])
    assert weigh(np.log([3.0, 1.0, 1.0]), [one, other, other]) == pytest.approx([0.75, 0.125, 0.125])
