"""Dependence of base clusterings and the weights that follow from it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import entropy

import partita as pt
from partita.ensembles import NBCE, Ascent, as_base, dependence, kmeans_ensemble
from partita.ensembles.dependence import conditional_dependence, distinct_clusterings, information, weights_of
from partita.ensembles.layout import Layout
from partita.ensembles.nbce_variational import Settings, bound, mean_log_labels
from partita.ensembles.responsibilities import LocalHost
from partita.ensembles.shared_errors import loadings, pair_correlations, shared_errors
from partita.models import Sampling


def noisy_copies(n_clusterings=12, n_items=300, seed=0, noise=0.15):
    """Independent given the truth: four clusters of 40, 30, 20 and 10 %, wrong labels and gaps."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, n_items, p=[0.4, 0.3, 0.2, 0.1])
    codes = np.stack([rng.permutation(4)[truth] for _ in range(n_clusterings)], axis=1)
    wrong = rng.random(codes.shape) < noise
    codes[wrong] = rng.integers(4, size=int(wrong.sum()))
    codes[rng.random(codes.shape) < 0.1] = -1
    return codes, truth


def three_blobs(seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 60)
    return 8.0 * np.array([[0, 0], [1, 0], [0.5, 0.87]])[truth] + rng.normal(size=(180, 2)), truth


def test_information_is_that_of_the_definition():
    base, _ = noisy_copies(3)
    read, given = as_base(base), np.random.default_rng(1).integers(3, size=300)
    shared, own = information(read, given, Layout.plain(read.sizes))
    expected_shared, expected_own = 0.0, 0.0
    for cluster in range(3):
        rows = base[(given == cluster) & (base[:, 0] >= 0) & (base[:, 2] >= 0)][:, [0, 2]]
        joint = np.array([[((rows == [a, b]).all(axis=1)).sum() for b in range(4)] for a in range(4)])
        first, second = entropy(joint.sum(axis=1)), entropy(joint.sum(axis=0))
        expected_shared += len(rows) * (first + second - entropy(joint.ravel()))
        expected_own += len(rows) * first
    assert shared[0, 2] == pytest.approx(expected_shared)
    assert own[0, 2] == pytest.approx(expected_own)


def test_correlations_are_those_of_all_pairs():
    base, _ = noisy_copies(3, n_items=60)
    base[:, 2] = 0  # joins all pairs
    found = pair_correlations(as_base(base))
    seen = base[(base[:, 0] >= 0) & (base[:, 1] >= 0)]
    pairs = np.triu_indices(len(seen), 1)
    joined = [(seen[:, m][:, None] == seen[:, m])[pairs].astype(float) for m in (0, 1)]
    assert found[0, 1] == pytest.approx(np.corrcoef(joined)[0, 1])
    assert found[0, 2] == found[2, 1] == 0.0


def test_loadings_are_those_of_the_pairs_that_share_no_errors():
    """Two of three groups of four share errors: 12 of 66 pairs correlate more than one factor explains."""
    rng = np.random.default_rng(1)
    truth, group = rng.uniform(0.4, 0.9, 12), np.repeat([0, 1, 2], 4)
    alike = (group[:, None] == group) & (group < 2)
    correlations = np.outer(truth, truth) + 0.2 * alike
    np.testing.assert_allclose(loadings(correlations, 1.0 - np.eye(12), 0.02), truth, atol=1e-6)


def copied(copies, noise=0.2, own_noise=0.03, seed=0):
    """Copies of noisy parents: they share the errors of their parent, and have few of their own."""
    rng = np.random.default_rng(seed)

    def changed(labels, share):
        return np.where(rng.random(200) < share, rng.integers(3, size=200), labels)

    truth = rng.integers(3, size=200)
    parents = [changed(truth, noise) for _ in copies]
    return np.column_stack([changed(parents[m], own_noise) for m, n in enumerate(copies) for _ in range(n)]), truth


@pytest.mark.parametrize("copies", [(3, 3, 3, 3), (6, 6), (8, 1, 1, 1, 1), (2,) * 5])
def test_the_weights_are_nearly_those_given_the_truth(copies):
    """Two parents are both near to a consensus: given one of them, its copies look independent. Of one large group the
    consensus is the parent."""
    base, truth = copied(copies)
    given_truth = weights_of(conditional_dependence(as_base(base), truth, np.random.default_rng(0))).sum()
    assert dependence(base).effective == pytest.approx(given_truth, rel=0.2)


def test_one_factor_does_not_explain_runs_of_k_means():
    """They cut the same clusters at similar places: their correlations do not come from one truth and own errors."""
    X, _ = three_blobs()
    base = as_base(kmeans_ensemble(X, 6, rng=0))
    assert shared_errors(base, np.ones(10), np.random.default_rng(0)) is None
    noisy = as_base(copied((2,) * 5)[0])
    assert shared_errors(noisy, np.ones(10), np.random.default_rng(0)) is not None


def test_much_noise_is_no_dependence():
    """The expected-VI consensus of such clusterings has one cluster, given which they share all that they know."""
    base, _ = copied((1,) * 30, noise=0.35, own_noise=0.0)
    assert dependence(base).effective > 27


@pytest.mark.parametrize("n_clusterings", [12, 60])
def test_independent_clusterings_keep_their_weight(n_clusterings):
    base, _ = noisy_copies(n_clusterings)
    found = dependence(base)
    assert found.effective > 0.9 * n_clusterings
    assert not found.copies


def test_copies_count_as_one_and_leave_the_others_alone():
    base, _ = noisy_copies()
    renamed = np.where(base[:, :1] < 0, -1, 3 - base[:, :1])  # a copy with other names for its labels
    copies = np.column_stack([base, base[:, :1], renamed, base[:, :1]])
    alone, together = dependence(base), dependence(copies)
    assert together.copies == [[0, 12, 13, 14]]
    np.testing.assert_allclose(together.weights[[0, 12, 13, 14]], alone.weights[0] / 4, rtol=1e-12)
    np.testing.assert_allclose(together.weights[1:12], alone.weights[1:], rtol=1e-12)
    assert together.effective == pytest.approx(alone.effective)


def test_near_copies_count_as_little_more_than_one():
    rng = np.random.default_rng(3)
    base, _ = noisy_copies()
    near = np.repeat(base[:, :1], 8, axis=1)
    for column in near.T:
        column[rng.choice(300, 3, replace=False)] = 0
    found = dependence(np.column_stack([base, near]))
    assert found.weights[12:].sum() + found.weights[0] < 1.4


def test_runs_of_k_means_are_dependent():
    X, _ = three_blobs()
    found = dependence(kmeans_ensemble(X, 6, rng=0))
    assert found.effective < 6.0
    assert "10 clusterings count as" in repr(found)


def test_copies_change_nothing_for_gibbs():
    """Beyond Monte Carlo error, for which the difference between two halves of the chains is the measure."""
    base, _ = noisy_copies(6, 120)
    copies = np.column_stack([base, base[:, :1], base[:, :1]])
    settings = {"truncation": 12, "sampling": Sampling(draws=200, warmup=100), "random_state": 1}
    one, more = NBCE(**settings).fit(base), NBCE(**settings).fit(copies)
    first, second = (pt.similarity(one.chain_.labels[half].reshape(-1, 120)) for half in (slice(0, 2), slice(2, 4)))
    apart = pt.similarity(one.chain_) - pt.similarity(more.chain_)
    assert np.sqrt((apart**2).mean()) < 2 * np.sqrt(((first - second) ** 2).mean()) + 0.005
    assert one.beta_ == pytest.approx(more.beta_, rel=0.1)


@pytest.mark.parametrize("inference", ["vb", "cvb"])
def test_copies_change_nothing_in_an_update_and_in_the_bound(inference):
    base, _ = noisy_copies(6)
    copies = np.column_stack([base, base[:, :1], base[:, :1]])
    one, more = (LocalHost(as_base(b), dependence(b).weights) for b in (base, copies))
    start = np.random.default_rng(0).normal(size=(24, 5))
    steps = one.linear(start, np.zeros(5)), more.linear(np.vstack([start, np.zeros((8, 5))]), np.zeros(5))
    for _ in range(3):
        if inference == "cvb":
            steps = [host.collapsed(step, 0.8, 0.3, False, 0.0) for host, step in zip((one, more), steps, strict=True)]
        else:
            tables = [
                h.layout.weighted(mean_log_labels(0.3 + s.counts, h.layout))
                for h, s in zip((one, more), steps, strict=True)
            ]
            steps = [host.linear(table, np.zeros(5)) for host, table in zip((one, more), tables, strict=True)]
        np.testing.assert_allclose(one.responsibilities(), more.responsibilities(), atol=1e-7)
    bounds = [bound(step, 0.8, 0.3, host.layout, Settings()) for host, step in zip((one, more), steps, strict=True)]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-8)


@pytest.mark.parametrize("inference", ["gibbs", "vb", "cvb"])
def test_independent_noisy_copies_give_the_truth(inference):
    base, truth = noisy_copies()
    found = NBCE(inference, truncation=20, sampling=Sampling(draws=60, warmup=60), random_state=1).fit(base)
    assert (np.bincount(found.labels_) > 1).sum() == 4  # VB leaves one item alone, with and without weights
    assert pt.adjusted_rand(found.labels_, truth) > 0.97


def test_the_plain_model_warns_of_dependence_with_a_number():
    X, truth = three_blobs()
    base = kmeans_ensemble(X, 6, rng=0)
    with pytest.warns(UserWarning, match=r"10 base clusterings repeat each other: they count as [1-4]\.\d independent"):
        plain = NBCE("vb", weights=None, truncation=30, ascent=Ascent(restarts=2), random_state=1).fit(base)
    found = NBCE("vb", truncation=30, ascent=Ascent(restarts=2), random_state=1).fit(base)
    assert found.n_clusters_ < plain.n_clusters_
    assert pt.adjusted_rand(found.labels_, truth) > pt.adjusted_rand(plain.labels_, truth)


def test_an_ensemble_of_copies_is_its_clustering():
    labels = np.repeat([0, 1, 2], 15)
    found = NBCE("vb", truncation=10, ascent=Ascent(restarts=3), random_state=1).fit(np.column_stack([labels] * 5))
    assert np.array_equal(found.labels_, labels)
    assert found.dependence_.effective == pytest.approx(1.0)


def test_weights_that_are_given():
    pandas = pytest.importorskip("pandas")
    base = np.maximum(noisy_copies(3)[0], 0)
    frame = pandas.DataFrame(base, columns=["a", "b", "c"])
    model = NBCE("vb", truncation=6, ascent=Ascent(restarts=1), random_state=1)
    series = pandas.Series([0.3, 1.0, 0.5], index=["c", "a", "b"])
    assert model.set_params(weights=series).fit(frame).weights_.tolist() == [1.0, 0.5, 0.3]
    assert model.dependence_ is None
    for weights, message in {
        "equal": "weights must be 'dependence'",
        (1.0, 2.0, 1.0): r"weights\[1\] is 2.0",
        (1.0, -1.0, 1.0): r"weights\[1\] is -1.0",
        (0.0, 0.0, 0.0): "all 0",
        (1.0, 1.0): "weights has 2 items, but base has 3",
    }.items():
        with pytest.raises(ValueError, match=message):
            NBCE("vb", weights=weights if isinstance(weights, str) else list(weights)).fit(base)


def test_a_resumed_run_keeps_its_weights(tmp_path):
    base, _ = noisy_copies(4, 60)
    powers = [1.0, 0.5, 0.25, 0.1]
    whole = NBCE(sampling=Sampling(draws=30, warmup=5, chains=2), weights=powers, random_state=1).fit(base)
    NBCE(sampling=Sampling(draws=10, warmup=5, chains=2), weights=powers, random_state=1).fit(
        base, path=tmp_path / "run"
    )
    longer = pt.models.resume(tmp_path / "run", draws=30)
    assert np.array_equal(longer.labels, whole.chain_.labels)
    np.testing.assert_array_equal(longer.log_density, whole.chain_.log_density)


def test_signed_noise_cancels_and_copies_are_shared():
    matrix = np.array([[1.0, 1.0, 0.1], [1.0, 1.0, 0.1], [0.1, 0.1, 1.0]])
    np.testing.assert_allclose(weights_of(matrix), [1 / 2.2, 1 / 2.2, 1 / 1.1])
    assert weights_of(np.array([[1.0, -0.05], [-0.05, 1.0]])).tolist() == [1.0, 1.0]


def test_no_information_beyond_the_consensus_is_no_dependence():
    labels = np.repeat([0, 1], 20)
    other = labels.copy()
    other[0] = 1
    read = as_base(np.column_stack([labels, other]))
    assert distinct_clusterings(read)[0] == [0, 1]
    matrix = conditional_dependence(read, labels, np.random.default_rng(0))
    assert matrix[0, 1] == 0.0


@pytest.mark.parametrize("kind", ["k-means", "noisy copies"])
def test_weights_depend_neither_on_the_order_of_rows_and_columns_nor_on_the_names_of_labels(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 2)) + np.repeat([[0, 0], [5, 5], [0, 6]], 50, axis=0)
    base = np.asarray(kmeans_ensemble(X, k=4, rng=3)) if kind == "k-means" else noisy_copies(8, 150)[0]
    expected = dependence(base)
    for _ in range(4):
        rows, columns = rng.permutation(150), rng.permutation(base.shape[1])
        names = np.append(rng.permutation(base.max() + 1), -1)
        found = dependence(names[base[rows][:, columns]])
        np.testing.assert_allclose(found.weights, expected.weights[columns], rtol=1e-12)
        assert np.array_equal(pt.canonical(found.consensus), pt.canonical(expected.consensus[rows]))


def test_nothing_but_missing_labels_is_said():
    with pytest.raises(ValueError, match="all labels of the 2 items are missing"):
        dependence([[-1, -1], [-1, -1]])
