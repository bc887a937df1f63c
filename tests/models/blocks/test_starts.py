"""The embedding that spectral starts cluster, against NumPy's singular vectors."""

import numpy as np
import pytest
import scipy.sparse as sp

from partita.models.blocks.starts import embed, spectral_starts

GROUPS = np.repeat(np.arange(4), 40)


def planted(seed):
    """Four groups of a directed network: each links mostly to the next one."""
    rng = np.random.default_rng(seed)
    chance = np.where(GROUPS[:, None] + 1 == GROUPS, 0.4, 0.03) + 0.3 * ((GROUPS[:, None] == 3) & (GROUPS == 0))
    return sp.csr_array((rng.random((160, 160)) < chance).astype(float))


def normalised(matrix):
    """D^(−1/2) A D'^(−1/2) with degrees raised by their mean, written out."""
    dense = matrix.toarray()
    rows, columns = dense.sum(axis=1), dense.sum(axis=0)
    return dense / np.sqrt(np.outer(rows + max(rows.mean(), 1), columns + max(columns.mean(), 1)))


@pytest.mark.parametrize("seed", range(3))
def test_the_embedding_is_that_of_the_leading_singular_vectors(seed):
    matrix = planted(seed)
    left, values, _ = np.linalg.svd(normalised(matrix))
    exact = (left * values)[:, :4]
    points = embed(matrix, 4, np.random.default_rng(1))
    assert points.shape == (160, 4)
    assert np.abs(np.linalg.norm(points, axis=0) / values[:4] - 1).max() < 0.01
    assert np.abs(points @ points.T - exact @ exact.T).max() < 0.02 * np.abs(exact @ exact.T).max()


def test_a_matrix_of_small_rank_has_fewer_dimensions_and_no_nan():
    ones = sp.csr_array(np.ones((30, 30)))
    points = embed(ones, 5, np.random.default_rng(1))
    assert np.isfinite(points).all()
    assert np.linalg.norm(points - points[0], axis=1).max() < 1e-3
    empty = embed(sp.csr_array((30, 30)), 5, np.random.default_rng(1))
    assert np.isfinite(empty).all()


def test_spectral_starts_separate_planted_groups():
    labels = spectral_starts(planted(5), [8, 12], np.random.default_rng(1))
    assert labels.shape == (2, 160)
    for found in labels:
        largest = [np.bincount(GROUPS[found == k]).max() for k in range(found.max() + 1)]
        assert sum(largest) > 0.95 * len(GROUPS)
