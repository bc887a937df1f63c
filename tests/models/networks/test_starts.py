"""The embedding that spectral starts cluster, against NumPy's singular vectors."""

import numpy as np
import pytest
import scipy.sparse as sp

from partita.models.networks import search
from partita.models.networks.search import Limits, embed, first_partitions, spectral_starts, start_kinds

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


@pytest.mark.parametrize("dense_cells", [0, search.DENSE_CELLS], ids=["sparse", "dense"])
@pytest.mark.parametrize("seed", range(3))
def test_the_embedding_is_that_of_the_leading_singular_vectors(seed, dense_cells, monkeypatch):
    monkeypatch.setattr(search, "DENSE_CELLS", dense_cells)
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


def test_a_start_under_degree_correction_has_the_nodes_of_few_edges_together():
    rng = np.random.default_rng(3)
    weight, group = np.concatenate([np.full(60, 0.2), np.full(540, 1.0)]), np.arange(600) % 4
    chance = np.where(group[:, None] == group, 0.3, 0.003) * np.outer(weight, weight)
    matrix = sp.csr_array((rng.random((600, 600)) < chance).astype(float))
    matrix = sp.csr_array(matrix.maximum(matrix.T))
    labels, kinds = first_partitions(matrix, Limits((600, 1)), 6, [], np.random.default_rng(1), uneven=True)
    assert kinds == ["spectral", "periphery", "communities", "random", "spectral", "periphery"]
    assert labels.shape == (4, 600)
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    fewest = degree < np.sort(degree)[60]
    assert fewest.sum() > 50
    for apart in labels[[1, 3]]:
        assert len(set(apart[fewest].tolist())) == 1
        assert set(apart.tolist()) == set(range(int(apart.max()) + 1))
    assert len(set(labels[0][fewest].tolist())) > 1, "a spectral start has them elsewhere, so the check can fail"


def test_other_networks_have_the_starts_of_their_size():
    assert "periphery" not in start_kinds(1000, 12, 0)
    assert start_kinds(200, 12, 0, uneven=True) == start_kinds(200, 12, 0)
    assert start_kinds(1000, 3, 0, partitions=False, uneven=True) == ["random"] * 3
