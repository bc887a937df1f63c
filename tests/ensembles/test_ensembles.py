"""Every ensemble method: recovery without noise, gaps, bad input, and agreement with plain references."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from partita.ensembles import (
    BCE,
    NBCE,
    Ascent,
    MixtureModel,
    as_base,
    consensus,
    cspa,
    evidence_accumulation,
    hgpa,
    kmeans_ensemble,
    mcla,
)
from partita.ensembles.association import shares_together
from partita.ensembles.bce import fit_dirichlet
from partita.ensembles.nbce import together
from partita.ensembles.predictive import partition_mixture, stick_weights
from partita.losses.agreement import adjusted_rand
from partita.models import Sampling

GIBBS = {"sampling": Sampling(draws=60, warmup=60, chains=2), "truncation": 12}
METHODS = {
    "nbce-gibbs-fsd": lambda base, k: NBCE("gibbs", "fsd", random_state=1, **GIBBS).fit_predict(base),
    "nbce-gibbs-tsb": lambda base, k: NBCE("gibbs", "tsb", random_state=1, **GIBBS).fit_predict(base),
    "nbce-vb": lambda base, k: NBCE("vb", truncation=12, ascent=Ascent(restarts=3), random_state=1).fit_predict(base),
    "nbce-cvb-fsd": lambda base, k: NBCE(
        "cvb", "fsd", truncation=12, ascent=Ascent(restarts=3), random_state=1
    ).fit_predict(base),
    "nbce-cvb-tsb": lambda base, k: NBCE(
        "cvb", "tsb", truncation=12, ascent=Ascent(restarts=3), random_state=1
    ).fit_predict(base),
    "mixture": lambda base, k: MixtureModel(k, random_state=1).fit_predict(base),
    "bce": lambda base, k: BCE(k, restarts=4, max_iter=30, random_state=1).fit_predict(base),
    "cspa": lambda base, k: cspa(base, k, rng=1),
    "mcla": lambda base, k: mcla(base, k, rng=1),
    "hgpa": lambda base, k: hgpa(base, k, rng=1),
    "evidence": lambda base, k: evidence_accumulation(base, k),
    "consensus": lambda base, k: consensus(base, rng=1),
}


def pure(n_clusterings=6, size=15, seed=0):
    """Three even clusters, relabelled by each clustering."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], size)
    return np.stack([rng.permutation(3)[truth] for _ in range(n_clusterings)], axis=1), truth


@pytest.fixture(params=METHODS)
def method(request):
    if request.param == "hgpa":
        pytest.importorskip("mtkahypar")
    return METHODS[request.param]


def test_no_noise_gives_the_truth(method):
    base, truth = pure()
    assert np.array_equal(method(base, 3), truth)


@pytest.mark.parametrize(("inference", "prior"), [("gibbs", "fsd"), ("gibbs", "tsb"), ("vb", "fsd"), ("cvb", "tsb")])
def test_no_noise_and_the_true_number_as_truncation_give_the_truth(inference, prior):
    base, truth = pure()
    model = NBCE(
        inference,
        prior,
        truncation=3,
        sampling=Sampling(draws=60, warmup=60, chains=2),
        ascent=Ascent(restarts=4),
        random_state=1,
    )
    assert np.array_equal(model.fit_predict(base), truth)


@pytest.mark.parametrize("inference", ["vb", "cvb"])
def test_the_start_with_the_highest_bound_is_kept(inference):
    rng = np.random.default_rng(3)
    truth = rng.integers(8, size=80)
    noisy = np.stack([rng.permutation(8)[truth] for _ in range(6)], axis=1)
    noisy[rng.random(noisy.shape) < 0.4] = 0
    streams = np.random.default_rng(8).spawn(4)
    alone = [
        NBCE(inference, truncation=12, ascent=Ascent(restarts=1, tol=1e-5), random_state=_spawning(s)).fit(noisy).bound_
        for s in streams
    ]
    assert max(alone) - min(alone) > 1e-3  # else the choice would not matter
    every = Ascent(restarts=4, tol=1e-5)
    together = NBCE(inference, truncation=12, ascent=every, random_state=np.random.default_rng(8)).fit(noisy)
    assert together.bound_ == pytest.approx(max(alone), abs=1e-9)


def _spawning(stream):
    """A generator whose one child is the given stream: the start that it decides is then run alone."""

    class Parent(np.random.Generator):
        def spawn(self, n_children):
            return [stream]

    return Parent(np.random.PCG64(0))


def test_gaps_and_a_clustering_with_one_cluster(method):
    base, truth = pure()
    base = np.column_stack([base, np.zeros(len(base), dtype=int)])
    base[np.random.default_rng(1).random(base.shape) < 0.1] = -1
    assert np.array_equal(method(base, 3), truth)


def test_a_clustering_that_labels_nothing_changes_nothing():
    base, truth = pure()
    found = NBCE("vb", truncation=12, ascent=Ascent(restarts=3), random_state=1).fit_predict(
        np.column_stack([base, np.full(len(base), -1)])
    )
    assert np.array_equal(found, truth)


def test_an_item_without_labels_gets_minus_one_and_a_warning(method):
    base, truth = pure()
    base[4] = -1
    with pytest.warns(UserWarning, match="1 item without a base label .first: row 4"):
        found = np.asarray(method(base, 3))
    assert found[4] == -1
    others = np.delete(np.arange(len(base)), 4)
    assert np.array_equal(found[others], truth[others])


@pytest.mark.parametrize("k", [0, -2, 46])
def test_k_out_of_range_is_refused(k):
    base, _ = pure()
    makers = [
        cspa,
        mcla,
        hgpa,
        evidence_accumulation,
        lambda b, k: BCE(k).fit(b),
        lambda b, k: MixtureModel(k).fit(b),
    ]
    for make in makers:
        with pytest.raises(ValueError, match=f"k must be from 1 to the number of items, 45, but it is {k}"):
            make(base, k)
    with pytest.raises(TypeError, match="whole number"):
        cspa(base, 2.5)


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("pymetis", lambda: cspa(pure()[0], 3)),
        ("pymetis", lambda: mcla(pure()[0], 3)),
        ("mtkahypar", lambda: hgpa(pure()[0], 3)),
        ("sklearn.cluster", lambda: kmeans_ensemble(np.zeros((4, 2)), 2)),
    ],
)
def test_a_missing_package_is_named_with_its_remedy(monkeypatch, package, call):
    monkeypatch.setitem(sys.modules, package, None)
    extra = "hgpa" if package == "mtkahypar" else "ensembles"
    with pytest.raises(ImportError, match=rf"pip install 'partita\[{extra}\]'"):
        call()


def test_no_items_by_items_table_above_the_limit():
    base = np.zeros((20_001, 2), dtype=int)
    for call in (lambda: cspa(base, 2), lambda: evidence_accumulation(base, 2)):
        with pytest.raises(ValueError, match="20001 x 20001"):
            call()
    base[::2] = 1
    assert adjusted_rand(cspa(base, 2, sample=200, rng=0), base[:, 0]) == 1.0


def test_hgpa_says_when_every_partition_cuts_all_and_a_sample_helps():
    """Noise puts a few items of every base cluster into every part: the cut is then the same for all partitions."""
    pytest.importorskip("mtkahypar")
    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=4000)
    base = np.stack([rng.permutation(5)[truth] for _ in range(10)], axis=1)
    noise = rng.random(base.shape) < 0.1
    base[noise] = rng.integers(5, size=int(noise.sum()))
    with pytest.warns(UserWarning, match="cuts 50 of 50 base clusters.*sample=100"):
        whole = hgpa(base, 5, rng=1)
    sampled = hgpa(base, 5, sample=100, rng=1)
    assert adjusted_rand(truth, sampled) > 0.75
    assert adjusted_rand(truth, whole) < 0.5
    assert np.array_equal(sampled, hgpa(base, 5, sample=100, rng=1))


def test_reading_base_clusterings():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["x", None, "y"], "b": [1.0, np.nan, 3.0], "c": [5, -1, 5]})
    assert as_base(frame).codes.tolist() == [[0, 0, 0], [-1, -1, -1], [1, 1, 0]]
    assert as_base(np.asfortranarray([[3, 2**40], [-1, 7]])).codes.tolist() == [[0, 1], [-1, 0]]
    assert as_base([[True, "a"], [False, None]]).sizes.tolist() == [2, 1]
    mixed = as_base([[1, "a"], ["noise", 2], [1.0, "2"]])
    assert mixed.codes.tolist() == [[0, 0], [1, 1], [0, 2]]
    assert [labels.tolist() for labels in mixed.levels] == [[1, "noise"], ["a", 2, "2"]]
    assert as_base([["noise"], [2]], [[1, 2, "noise"]]).codes.tolist() == [[2], [1]]
    wide = as_base(np.arange(300)[:, None])
    assert wide.codes.dtype == np.int16
    assert wide.codes[:, 0].tolist() == list(range(300))


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ([], "empty"),
        ([[0, 1], [0]], "row 1 has 1 labels but row 0 has 2"),
        (np.zeros(3, dtype=int), "1 dimensions"),
        (np.full((3, 2), -1), "base has no labels"),
    ],
)
def test_bad_base_is_refused(base, message):
    with pytest.raises(ValueError, match=message):
        NBCE("vb").fit(base)


def test_bad_parameters_are_refused():
    base, _ = pure()
    bad = {
        "inference must be one of": {"inference": "em"},
        "prior must be one of": {"prior": "crp"},
        "'vb' supports the prior 'fsd' only": {"inference": "vb", "prior": "tsb"},
        "truncation must be at least 1": {"truncation": 0},
        "alpha must be a positive number": {"alpha": -1.0},
        "Gamma prior": {"alpha_prior": (0.0, 1.0)},
    }
    for message, params in bad.items():
        with pytest.raises(ValueError, match=message):
            NBCE(**params).fit(base)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        NBCE().set_params(depth=3)
    with pytest.raises(ValueError, match="not fitted yet"):
        NBCE().predict(base)


def test_an_unknown_label_at_prediction_is_named():
    base, _ = pure()
    model = NBCE("vb", truncation=10, ascent=Ascent(restarts=2), random_state=0).fit(base)
    new = base[:3].copy()
    new[1, 2] = 9
    with pytest.raises(ValueError, match="row 1, column 2: label 9 is not one of the 3 labels"):
        model.predict(new)
    with pytest.raises(ValueError, match=r"base has 2 clusterings, but levels has labels for 6"):
        model.predict(base[:, :2])
    wide = NBCE("vb", truncation=10, ascent=Ascent(restarts=2), random_state=0).fit(base, levels=[range(10)] * 6)
    assert wide.predict(new).shape == (3,)


@pytest.mark.parametrize("inference", ["gibbs", "vb", "cvb"])
def test_fitted_attributes_and_prediction(inference):
    base, truth = pure()
    model = NBCE(inference, random_state=2, ascent=Ascent(restarts=3), **GIBBS).fit(base)
    assert model.n_clusters_ == 3
    assert len(model.outliers_) == 0
    assert model.certainty_.min() > 0.9
    assert np.array_equal(model.predict(base), truth)
    assert np.allclose(model.predict_proba(base).sum(axis=1), 1.0)
    alone = np.full((1, 6), -1)
    assert model.predict(alone).tolist() == [-1]
    if inference == "gibbs":
        assert model.chain_.labels.shape == (2, 60, 45)
        assert np.array_equal(model.estimate_.labels, truth)


def test_scikit_learn_can_clone_and_the_seed_decides():
    base_module = pytest.importorskip("sklearn.base")
    noisy = pure()[0]
    noisy[np.random.default_rng(3).random(noisy.shape) < 0.3] = 0
    model = NBCE("gibbs", random_state=5, **GIBBS)
    twin = base_module.clone(model)
    assert twin.get_params() == model.get_params()
    assert np.array_equal(model.fit(noisy).chain_.labels, twin.fit(noisy).chain_.labels)


def test_perplexity_is_between_one_and_the_number_of_labels():
    base, _ = pure()
    random = np.random.default_rng(0).integers(3, size=(200, 6))
    quick = {"truncation": 10, "ascent": Ascent(restarts=2), "random_state": 0}
    models = [NBCE("vb", **quick), NBCE("cvb", **quick), NBCE("gibbs", random_state=0, **GIBBS)]
    for model in [*models, MixtureModel(3), BCE(3, restarts=2, max_iter=30)]:
        # one of three clusters, then six certain labels: 3^(1/6)
        assert 1.0 < model.fit(base).perplexity(base) < 1.35
    assert 2.5 < NBCE("vb", **quick).fit(random).perplexity(random) < 3.0


def test_mixture_perplexity_is_infinite_for_what_maximum_likelihood_excludes():
    base = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    model = MixtureModel(2, random_state=0).fit(base)
    assert model.perplexity(base) == pytest.approx(np.sqrt(2.0))
    assert model.perplexity([[0, 1]]) == np.inf
    assert MixtureModel(2, smoothing=0.1, random_state=0).fit(base).perplexity([[0, 1]]) < 100


def test_partition_predictive_is_the_gibbs_conditional():
    """p(y_new) = Σ_k p(z = k | Z) Π_m (β + N) / (J β + N), the K − k empty clusters included."""
    codes, z = np.array([[0, 1], [0, 0], [1, -1]]), np.array([0, 0, 1])
    base = as_base(codes)
    mixture = partition_mixture(z, base, 0.7, 0.4, 5, sticks=False)
    new = as_base(np.array([[0, 1]]), base.levels)
    total = (0.14 + 2) / 3.7 * (2.4 / 2.8) * (1.4 / 2.8) + (0.14 + 1) / 3.7 * (0.4 / 1.8) * 0.5
    total += 3 * 0.14 / 3.7 * 0.25
    assert mixture.log_likelihood(new)[0] == pytest.approx(np.log(total))
    sizes = np.array([3.0, 1.0, 0.0])
    assert logsumexp(stick_weights(sizes, 0.8)) == pytest.approx(0.0)


def test_shares_together_count_the_clusterings_that_label_both():
    base = as_base(np.array([[0, 0], [0, 1], [-1, 1]]))
    assert shares_together(base).tolist() == [[1.0, 0.5, 0.0], [0.5, 1.0, 1.0], [0.0, 1.0, 1.0]]


def test_certainty_is_the_mean_similarity_within_the_cluster():
    rng = np.random.default_rng(0)
    draws = rng.integers(3, size=(40, 7))
    labels = np.array([0, 0, 1, 1, 1, 2, 0])
    together_often = (draws[:, :, None] == draws[:, None, :]).mean(axis=0)
    found = together(labels, draws)
    for i in range(7):
        others = [j for j in range(7) if j != i and labels[j] == labels[i]]
        alone = np.mean([(draw == draw[i]).sum() == 1 for draw in draws])
        assert found[i] == pytest.approx(together_often[i, others].mean() if others else alone)


def test_bce_bound_never_falls_and_its_dirichlet_is_the_best():
    base = pure()[0]
    base[np.random.default_rng(3).random(base.shape) < 0.3] = 0
    fit = BCE(3, restarts=3, max_iter=60, random_state=0).fit(base)
    assert np.diff(fit.bounds_).min() >= -1e-8
    draws = np.random.default_rng(1).dirichlet([0.5, 2.0, 4.0], 20_000)
    found = fit_dirichlet(np.ones(3), np.log(draws).sum(axis=0), len(draws))
    np.testing.assert_allclose(found, [0.5, 2.0, 4.0], rtol=0.05)


def test_mixture_likelihood_never_falls_below_one_cluster():
    base = pure()[0]
    base[np.random.default_rng(3).random(base.shape) < 0.3] = 0
    one, three = (MixtureModel(k, random_state=0).fit(base) for k in (1, 3))
    assert three.log_likelihood_ > one.log_likelihood_
    assert one.log_likelihood_ == pytest.approx(one._mixture.log_likelihood(as_base(base)).sum())


def test_kmeans_ensemble_sizes_and_other_clusterers():
    cluster = pytest.importorskip("sklearn.cluster")
    X = np.random.default_rng(0).normal(size=(60, 2))
    base = kmeans_ensemble(X, 4, rng=0)
    assert [len(np.unique(column)) for column in base.T] == [2, 3, 4, 6, 8] * 2
    assert np.array_equal(base, kmeans_ensemble(X, 4, rng=0))
    others = kmeans_ensemble(X, clusterers=[cluster.DBSCAN(eps=0.1), cluster.KMeans(3)], rng=0)
    assert others.min() == -1
    with pytest.raises(ValueError, match="k is 61"):
        kmeans_ensemble(X, 61)
    with pytest.raises(ValueError, match=r"X\[1, 0\] is nan"):
        kmeans_ensemble([[0.0], [np.nan]], 1)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_kmeans_of_data_whose_squares_overflow_is_refused():
    pytest.importorskip("sklearn")
    with pytest.raises(ValueError, match=r"X\[1, 0\] is 1e\+300: k-means needs numbers from -1e\+150 to 1e\+150"):
        kmeans_ensemble([[0.0], [1e300], [2.0]], 2)
    assert kmeans_ensemble([[-1e150], [1e150], [5e149], [-5e149]], 2, n_clusterings=5, rng=1).shape == (4, 5)


def test_resume_goes_on_with_an_ensemble_run(tmp_path):
    from partita.models.chains.sampling import resume

    base = pure()[0]
    model = NBCE("gibbs", random_state=4, **GIBBS).fit(base, path=tmp_path / "run.partita")
    assert np.array_equal(resume(tmp_path / "run.partita").labels, model.chain_.labels)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [(0.5, "whole numbers"), (-2, "not be negative"), (np.inf, "finite"), (-1.5, "whole numbers")],
)
@pytest.mark.parametrize("kind", [float, object])
def test_what_is_no_label_is_named_by_row_and_column(bad, problem, kind):
    """They used to be labels like any other."""
    base = np.array([[-1, 0], [1, 1], [1, 1]], dtype=kind)
    base[1, 1] = bad
    with pytest.raises(ValueError, match=rf"base row 1, column 1, is {bad}.*: labels must .*{problem}"):
        as_base(base)
    with pytest.raises(ValueError, match="base row 1, column 1, is"):
        as_base(pd.DataFrame(base))


@pytest.mark.parametrize("dtype", [complex, "M8[D]"])
def test_labels_of_other_types_are_refused(dtype):
    with pytest.raises(TypeError, match=r"base has type .*; labels are integers, strings, booleans or categories"):
        as_base(np.zeros((3, 2), dtype))


@pytest.mark.parametrize("estimator", [NBCE(inference="vb"), MixtureModel(2), BCE(2)])
def test_a_random_state_of_scikit_learn(estimator):
    base = [[0, 0], [0, 0], [1, 1], [1, 1]]
    labels = [estimator.set_params(random_state=np.random.RandomState(1)).fit_predict(base) for _ in range(2)]
    np.testing.assert_array_equal(*labels)
    with pytest.raises(TypeError, match="random_state must be None, an integer"):
        estimator.set_params(random_state="a").fit(base)
