"""Two posteriors compared: the statistics against their definitions, the size and the power of the test."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from test_conformal import sticky

from partita.datasets import make_draws
from partita.draws.sample import as_sample
from partita.estimation.convergence import MixingWarning
from partita.losses.losses import LOSSES
from partita.search.settings import Search
from partita.uncertainty import compare
from partita.uncertainty.batches import Batches, block_draws, relabelled_groups
from partita.uncertainty.compare import compare_posteriors
from support import reference as ref

QUICK = Search(runs=1, max_draws=20, n_jobs=1)


def p_values(replications, stay=0.0, moved=0.0, seed=1, n_draws=200):
    """p-values of two halves of the same draws; in the second, some items move to another cluster more often."""
    rng = np.random.default_rng(seed)
    found, by_items = [], []
    for _ in range(replications):
        draws = make_draws(12, 2 * n_draws, 3, rng=rng)
        first, second = sticky(draws[:n_draws], stay, rng), sticky(draws[n_draws:], stay, rng).copy()
        second[:, :2] = np.where(rng.random((n_draws, 1)) < moved, 3, second[:, :2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixingWarning)
            compared = compare_posteriors(first, second, permutations=99, search=QUICK, rng=rng)
        found.append(compared.p_value)
        by_items.append(compared.items.p_value.min())
    return np.array(found), np.array(by_items)


def test_energy_distance_is_that_of_the_definition():
    draws = [make_draws(7, 12, 3, rng=seed) for seed in (1, 2)]
    samples = as_sample(draws[0]), as_sample(draws[1])
    blocks = Batches((block_draws(samples[0], 4), block_draws(samples[1], 4)))
    groups = relabelled_groups(4, 3, np.random.default_rng(1))
    energies = compare._energies(compare._block_distances(samples, blocks, LOSSES["vi"](), 1), groups)
    whole = np.concatenate(draws).reshape(8, 3, 7)  # blocks of three draws
    for row, energy in zip(groups, energies, strict=True):
        sides = [whole[row > 0], whole[row < 0]]

        def mean(x, y):
            pairs = [(s, t) for s in range(4) for t in range(4) if x is not y or s != t]
            return np.mean([ref.vi(p, q) for s, t in pairs for p in x[s].tolist() for q in y[t].tolist()])

        expected = 2 * mean(*sides) - mean(sides[0], sides[0]) - mean(sides[1], sides[1])
        assert energy == pytest.approx(expected)


def test_items_differ_by_their_rows_of_similarity(monkeypatch):
    monkeypatch.setattr(compare, "INDEPENDENT", 0)  # no gaps between blocks
    draws = [make_draws(7, 60, 3, rng=seed) for seed in (1, 2)]
    compared = compare_posteriors(*draws, search=QUICK, rng=1)
    used = compared.n_blocks * compared.block_length[0]
    psm = [np.mean([row[:, None] == row for row in d[-used:]], axis=0) for d in draws]
    expected = np.sqrt(((psm[0] - psm[1]) ** 2).sum(axis=1) / 6)
    np.testing.assert_allclose(compared.items.difference, expected, atol=1e-6)
    pair = compared.pairs(1)[0]
    i, j = map(int, pair["items"])
    full = [np.mean([row[:, None] == row for row in d], axis=0) for d in draws]
    gap = np.abs(full[0] - full[1])
    assert gap[i, j] == pytest.approx(gap.max())
    assert (pair["first"], pair["second"]) == pytest.approx((full[0][i, j], full[1][i, j]))
    assert compared.to_pandas().shape == (7, 4)


@pytest.mark.parametrize("stay", [0.0, 0.7])
def test_size_of_the_test(stay):
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)
    whole, items = p_values(40, stay)
    assert (whole <= 0.05).mean() <= limit
    assert (items <= 0.05).mean() <= limit


def test_the_simulation_finds_blocks_of_scattered_draws(monkeypatch):
    def scattered(*arguments):
        blocks = block_draws(*arguments)
        return np.sort(blocks, axis=None).reshape(blocks.shape[::-1]).T

    monkeypatch.setattr(compare, "block_draws", scattered)
    whole, _ = p_values(40, stay=0.7)
    assert (whole <= 0.05).mean() > 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


def test_different_posteriors_are_told_apart():
    whole, items = p_values(10, moved=0.4)
    assert (whole <= 0.05).mean() >= 0.8
    assert (items <= 0.05).mean() >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("stay", [0.0, 0.7])
def test_size_is_five_percent(stay):
    whole, items = p_values(2000, stay)
    assert 0.04 <= (whole <= 0.05).mean() <= 0.06
    assert (items <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.slow
def test_power_rises():
    """The power curve of docs/uncertainty.md."""
    power = [(p_values(200, moved=moved)[0] <= 0.05).mean() for moved in (0.0, 0.05, 0.1, 0.2, 0.3)]
    assert (np.diff(power) > -0.05).all()
    assert power[-1] > 0.9


def test_items_are_matched_by_name():
    draws = make_draws(5, 100, 2, rng=1)
    first = as_sample(draws, names=list("abcde"))
    turned = as_sample(draws[:, ::-1], names=list("edcba"))
    compared = compare_posteriors(first, turned, rng=1)
    assert compared.distance == pytest.approx(compare_posteriors(first, first, rng=1).distance)
    np.testing.assert_array_equal(compared.estimates[0].labels, compared.estimates[1].labels)
    with pytest.raises(ValueError, match="not in b: 'e'; not in a: 'x'"):
        compare_posteriors(first, as_sample(draws, names=list("abcdx")))
    with pytest.raises(ValueError, match="b has 4 items, but a has 5"):
        compare_posteriors(draws, draws[:, :4])


def test_constant_draws_are_the_same_or_not():
    same = compare_posteriors([[0, 0, 1]] * 50, [[0, 0, 1]] * 50, search=QUICK, rng=1)
    assert (same.distance, same.p_value) == (0, 1)
    assert (same.items.p_value == 1).all()
    other = compare_posteriors([[0, 0, 1]] * 50, [[0, 1, 1]] * 50, search=QUICK, rng=1)
    assert other.p_value <= 0.01
    assert other.estimate_distance == pytest.approx(ref.vi([0, 0, 1], [0, 1, 1]))
    assert "the posteriors differ" in repr(other)


def test_what_is_not_significant_is_not_called_equal():
    draws = make_draws(6, 400, 2, doubt=0.3, rng=4)
    found = compare_posteriors(draws[::2], draws[1::2], search=QUICK, rng=1)
    assert found.p_value > 0.05
    assert found.verdict() == f"no significant difference at the 5 % level (p = {found.p_value:.3g})"
    assert found.distance < 0
    assert "; unbiased, so negative near 0" in repr(found)


def test_bad_input_is_named():
    good = make_draws(3, 50, 2, rng=1)
    with pytest.raises(ValueError, match="b has 3 draws per chain, too few for 5 blocks"):
        compare_posteriors(good, good[:3])
    with pytest.raises(ValueError, match="those of b have weights"):
        compare_posteriors(good, as_sample([[0, 0, 1], [0, 1, 1]], [1, 3]))
    with pytest.raises(ValueError, match="a has missing labels"):
        compare_posteriors(as_sample([[0, -1, 1]] * 9, missing=-1), good)
    with pytest.warns(MixingWarning, match="too few or too dependent for 5 independent blocks"):
        compare_posteriors(good[:6], good[:6], search=QUICK, rng=1)
