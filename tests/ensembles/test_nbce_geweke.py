"""Geweke's joint test of NBCE's sampler: (concentrations, assignment, base labels) forwards, and by the sampler."""

import struct
from typing import NamedTuple

import numpy as np
import pytest

from partita import _core
from support.geweke import differences, first_appearance

ITEMS, N_LABELS, TRUNCATION = 5, np.array([2, 3], np.uint32), 4
SHAPE, RATE = 3.0, 3.0
COLUMNS = 8  # that the core's state has room for


class Parameters(NamedTuple):
    alpha: float
    beta: float
    z: np.ndarray  # number of each item's cluster, below TRUNCATION


def draw_parameters(rng, prior):
    alpha, beta = rng.gamma(SHAPE, 1 / RATE, 2)
    if prior == "fsd":
        weights = rng.dirichlet(np.full(TRUNCATION, alpha / TRUNCATION))
    else:
        sticks = np.append(rng.beta(1, alpha, TRUNCATION - 1), 1.0)
        weights = sticks * np.append(1.0, np.cumprod(1 - sticks[:-1]))
    return Parameters(alpha, beta, rng.choice(TRUNCATION, ITEMS, p=weights))


def draw_codes(rng, parameters):
    columns = []
    for n_labels in N_LABELS:
        theta = rng.dirichlet(np.full(n_labels, parameters.beta), TRUNCATION)
        columns.append([rng.choice(n_labels, p=theta[k]) for k in parameters.z])
    return np.array(columns, np.uint8).T.copy()


FORMAT = f"=Q4QddIQ{ITEMS}IQ{COLUMNS}I"  # sweeps, random numbers, alpha, beta, columns, their items, their sticks


def to_state(rng, parameters):
    columns, sticks = first_appearance(parameters.z)
    room = [*sticks, *[0] * (COLUMNS - len(sticks))]
    concentrations = (parameters.alpha, parameters.beta, len(sticks))
    return struct.pack(FORMAT, 0, *rng.integers(1, 2**63, 4), *concentrations, ITEMS, *columns, COLUMNS, *room)


def from_state(state, prior):
    fields = struct.unpack(FORMAT, state)
    columns, sticks = np.array(fields[9 : 9 + ITEMS]), np.array(fields[10 + ITEMS :])
    return Parameters(fields[5], fields[6], sticks[columns] if prior == "tsb" else first_appearance(columns)[0])


def sweep(rng, parameters, codes, prior, shape):
    gamma = _core.GammaConcentration(shape, RATE), _core.GammaConcentration(SHAPE, RATE)
    sampler = _core.NbceChain8(codes, N_LABELS, np.ones(2), prior == "tsb", TRUNCATION, *gamma, 0, 0)
    sampler.restore(to_state(rng, parameters))
    sampler.advance(1, 0, 1)
    return from_state(sampler.state(), prior)


def summary(parameters, codes):
    alpha, beta, z = parameters
    return [
        alpha,
        np.log(alpha),
        beta,
        np.log(beta),
        len(set(z.tolist())),
        z[0] == z[1],
        codes[0, 0] == codes[1, 0],
        codes[0, 1] == codes[1, 1],
    ]


def forwards(rng, prior, n):
    rows = []
    for _ in range(n):
        parameters = draw_parameters(rng, prior)
        rows.append(summary(parameters, draw_codes(rng, parameters)))
    return np.array(rows, float)


def successive(rng, prior, n, shape=SHAPE):
    parameters = draw_parameters(rng, prior)
    rows = []
    for _ in range(n):
        codes = draw_codes(rng, parameters)
        parameters = sweep(rng, parameters, codes, prior, shape)
        rows.append(summary(parameters, codes))
    return np.array(rows, float)


@pytest.mark.parametrize("prior", ["fsd", "tsb"])
def test_both_ways_give_the_same_joint_distribution(prior):
    rng = np.random.default_rng(5)
    z = differences(forwards(rng, prior, 4000), successive(rng, prior, 8000))
    assert np.abs(z).max() < 4.0, z


def test_a_wrong_prior_is_noticed():
    """The seeded fault: the sampler believes in a larger concentration."""
    rng = np.random.default_rng(5)
    z = differences(forwards(rng, "fsd", 4000), successive(rng, "fsd", 4000, shape=SHAPE + 2.0))
    assert np.abs(z).max() > 6.0
