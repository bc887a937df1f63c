"""`maximize` of mixtures: the ICL by formula, changes of moves, the enumerated optimum, and how far runs agree."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln

import partita as pt
from partita.models import GaussianDPM, MixtureDPM, WishartGrid
from support import mixture_reference as reference
from support.table_cases import CASES, model_of

pytestmark = pytest.mark.filterwarnings("ignore:.* no observed cell")
PARTITIONS = [np.array(labels) for labels in reference.partitions(6)]


def log_proportions(sizes, n0):
    """ln p(z | K) of proportions ~ Dirichlet(n0, ..., n0)."""
    k, n = len(sizes), sum(sizes)
    return gammaln(k * n0) - gammaln(k * n0 + n) + sum(gammaln(n0 + m) - gammaln(n0) for m in sizes)


def icl_of(case, labels, n0=1.0):
    groups = [np.flatnonzero(labels == k) for k in np.unique(labels)]
    return log_proportions([len(group) for group in groups], n0) + sum(CASES[case][2](group) for group in groups)


def search_of(case, n0=1.0):
    return model_of(case)._icl_search(CASES[case][0], n0)


@pytest.mark.parametrize("n0", [1.0, 0.3])
@pytest.mark.parametrize("case", CASES)
def test_the_icl_is_that_of_the_formulas(case, n0):
    search = search_of(case, n0)
    for labels in PARTITIONS[::7]:
        np.testing.assert_allclose(search.icl(labels), icl_of(case, labels, n0), rtol=1e-11)


@pytest.mark.parametrize("case", CASES)
def test_the_best_of_all_partitions_is_found(case):
    values = [icl_of(case, labels) for labels in PARTITIONS]
    fit = model_of(case).maximize(CASES[case][0], rng=1)
    np.testing.assert_allclose(fit.icl, max(values), rtol=1e-11)
    np.testing.assert_array_equal(fit.labels, PARTITIONS[int(np.argmax(values))])


@pytest.mark.parametrize("k_max", [1, 2, 3])
def test_no_more_clusters_than_allowed(k_max):
    allowed = [icl_of("mixed", labels) for labels in PARTITIONS if labels.max() < k_max]
    fit = model_of("mixed").maximize(CASES["mixed"][0], k_max, rng=2)
    assert fit.n_clusters <= k_max
    np.testing.assert_allclose(fit.icl, max(allowed), rtol=1e-11)


def changes_of_moves(case, wrong=0.0):
    """The largest difference between the change that the search sees and the recomputed one, over moves and merges."""
    search, worst = search_of(case), 0.0
    for labels in PARTITIONS[3::37]:
        before, k = icl_of(case, labels), labels.max() + 1
        for item in range(6):
            seen = search.native.swap_changes(labels.astype(np.uint32), item) * (1 + wrong)
            assert len(seen) == k + 1
            for target in range(k + 1):
                moved = labels.copy()
                moved[item] = target
                worst = max(worst, abs(seen[target] - (icl_of(case, moved) - before)))
        merges = search.native.merge_changes(labels.astype(np.uint32)).reshape(k, k)
        for one, other in np.ndindex(k, k):
            if one != other:
                merged = np.where(labels == other, one, labels)
                worst = max(worst, abs(merges[one, other] - (icl_of(case, merged) - before)))
    return worst


@pytest.mark.parametrize("case", CASES)
def test_the_change_of_a_move_is_the_recomputed_change(case):
    assert changes_of_moves(case) < 1e-9


def test_a_wrong_change_is_noticed():
    """The seeded fault: changes of moves that are too large by a hundredth."""
    assert changes_of_moves("mixed", wrong=0.01) > 1e-3


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_gaussians(covariance):
    """The ICL of the data themselves, also if the model scales them."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(7, 2, (30, 2))])
    truth = np.repeat([0, 1], [40, 30])
    for standardize in (False, True):
        fit = GaussianDPM(covariance, standardize=standardize).maximize(X, rng=1)
        assert pt.adjusted_rand(fit.labels, truth) > 0.9
        width = X.std(axis=0, ddof=1) if standardize else np.ones(2)
        Y = (X - X.mean(axis=0)) / width if standardize else X
        variances = Y.var(axis=0, ddof=1)
        expected = log_proportions(fit.sizes, 1.0) - len(X) * np.log(width).sum()
        for k in range(fit.n_clusters):
            own = Y[fit.labels == k]
            if covariance == "full":
                expected += reference.log_marginal_full(own, Y.mean(axis=0), 0.5, 5, np.diag(2 * variances))
            else:
                expected += reference.log_marginal_diag(own, Y.mean(axis=0), 0.5, 2.0, variances)
        np.testing.assert_allclose(fit.icl, expected, rtol=1e-11)
        np.testing.assert_allclose(GaussianDPM(covariance, standardize=standardize).icl(X, fit.labels), fit.icl)


def mixed_table(rows=300, clusters=4, seed=5):
    rng = np.random.default_rng(seed)
    truth = rng.integers(clusters, size=rows)
    table = pd.DataFrame(
        {
            "size": rng.normal(0, 6, clusters)[truth] + rng.normal(size=rows),
            "visits": rng.poisson(rng.gamma(1, 12, clusters)[truth]),
            "colour": np.where(rng.random(rows) < 0.8, truth, rng.integers(clusters, size=rows)).astype(str),
        }
    ).mask(rng.random((rows, 3)) < 0.1)
    return table, truth


def test_what_a_fit_holds():
    table, truth = mixed_table()
    table.index = [f"row{i}" for i in range(len(table))]
    model = MixtureDPM({"visits": "count"})
    fit = model.maximize(table, rng=1, n_jobs=2)
    assert fit.icl >= model.icl(table, truth)
    assert len(fit.runs) == 10
    assert fit.times_reached > 1
    assert fit.notes == ("Which items are uncertain is not known: posterior draws of the same model would tell.",)
    np.testing.assert_array_equal(model.maximize(table, rng=1, n_jobs=1).labels, fit.labels)
    series = fit.to_pandas()["cluster"]
    assert series.index[0] == "row0"
    np.testing.assert_allclose(model.icl(table, series.sample(frac=1, random_state=1)), fit.icl, rtol=1e-11)
    for clusters, value in zip(fit.path.n_clusters, fit.path.icl, strict=True):
        np.testing.assert_allclose(model.icl(table, fit.path.cut(int(clusters))), value, rtol=1e-9)
    assert "ICL" in repr(fit)
    assert "<table>" in fit._repr_html_()


def test_a_given_start_is_a_run():
    table, truth = mixed_table()
    fit = MixtureDPM({"visits": "count"}).maximize(table, restarts=2, rng=1, starts=truth)
    assert [run.start for run in fit.runs] == ["given", "seeds"]


def test_a_time_limit_ends_the_search():
    rng = np.random.default_rng(1)
    fit = MixtureDPM().maximize(rng.normal(size=(1500, 6)), restarts=300, rng=1, seconds=0.05)
    assert fit.found.stopped
    assert "stopped early" in fit.notes[0]


def test_an_outlier_is_taken_out_with_care():
    """A downdate of a cluster with an item at 1e9 would be mostly rounding."""
    X = np.append(np.random.default_rng(2).normal(size=30), [1e9, -1e9])[:, None]
    model = GaussianDPM("diag", b=1.0)
    fit = model.maximize(X, rng=1)
    np.testing.assert_allclose(model.icl(X, fit.labels), fit.icl, rtol=1e-12)
    assert fit.labels[-2] not in fit.labels[:-2]


def test_what_is_refused():
    X = np.random.default_rng(1).normal(size=(20, 2))
    with pytest.raises(ValueError, match="hyperprior"):
        GaussianDPM(hyperprior=WishartGrid()).maximize(X)
    with pytest.raises(ValueError, match="k_max"):
        MixtureDPM().maximize(X, k_max=0)
    with pytest.raises(ValueError, match="restarts"):
        MixtureDPM().maximize(X, restarts=0)
    with pytest.raises(ValueError, match="n0"):
        MixtureDPM().maximize(X, n0=-1)
    with pytest.raises(ValueError, match="labels must have 20 labels"):
        MixtureDPM().icl(X, [0, 1])
