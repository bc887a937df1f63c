"""Hyperparameters have ranges, every log density is a number, and empty data are refused: no crash, no endless loop."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln

import partita as pt
from partita.models import (
    FiniteMixture,
    GammaAlpha,
    GaussianDPM,
    LatentBlockModel,
    PowerAlpha,
    SplitMergeMoves,
    StochasticBlockModel,
    WishartGrid,
    as_bipartite,
    as_graph,
)
from partita.models.networks.graph import Graph
from support import forks
from support.block_reference import sbm_icl
from support.mixture_reference import log_crp, log_marginal_diag

X = np.random.default_rng(1).normal(size=(30, 2))
SHORT = {"draws": 5, "warmup": 3, "chains": 1, "n_jobs": 1, "rng": 1}


def in_a_child(code, seconds=300):
    done = forks.run(code, timeout=seconds)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


# ---- empty data


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_an_empty_matrix_is_refused_by_every_function(shape):
    code = f"""
import numpy as np, scipy.sparse as sp
from partita.models import LatentBlockModel
for matrix in (np.zeros({shape}), sp.csr_array({shape}), __import__("pandas").DataFrame(np.zeros({shape}))):
    model = LatentBlockModel()
    rows, columns = (np.zeros(n, int) for n in {shape})
    for call in (model.sample, model.maximize, model.fit, model.fit_predict, lambda m: model.icl(m, rows, columns)):
        try:
            call(matrix)
        except ValueError as error:
            assert "matrix is empty: it has {shape[0]} rows and {shape[1]} columns" in str(error), error
        else:
            raise SystemExit("an empty matrix was taken")
"""
    in_a_child(code)


def test_an_empty_graph_is_refused_by_every_function():
    model = StochasticBlockModel()
    for graph in (np.zeros((0, 0)), as_graph_of_nothing(), []):
        calls = (model.sample, model.maximize, model.fit, model.fit_predict, lambda g: model.icl(g, []))
        for call in calls:
            with pytest.raises(ValueError, match="empty"):
                call(graph)
    for function in (pt.models.louvain, pt.models.affiliation_vb, pt.models.variational_em):
        with pytest.raises(ValueError, match="empty"):
            function(np.zeros((0, 0)), rng=1)
    with pytest.raises(ValueError, match="minimum of 1"):
        GaussianDPM().sample(np.zeros((0, 2)))
    with pytest.raises(ValueError, match="base is empty"):
        pt.ensembles.NBCE().fit(np.zeros((0, 2), int))


def as_graph_of_nothing():
    return Graph(sp.csr_array((0, 0)), sp.csr_array((0, 0)), ())


def test_graphs_that_were_made_by_hand_are_checked_too():
    empty = Graph(sp.csr_array((0, 3)), sp.csr_array((0, 3)), (), (0, 1, 2))
    with pytest.raises(ValueError, match="matrix is empty"):
        as_bipartite(empty)
    with pytest.raises(ValueError, match="graph is empty"):
        as_graph(as_graph_of_nothing())


# ---- the finite mixture with as many clusters as items


def test_as_many_clusters_as_items():
    """Read log V(n + 1), beyond its table (ASan); the posterior of two items is exact."""
    data = np.array([[0.0], [9.0]])
    model = GaussianDPM("diag", components=FiniteMixture(), mu0=0.0, c=1.0, a=2.0, b=1.0)
    chain = model.sample(data, draws=20_000, warmup=100, chains=1, rng=1)
    log_v = FiniteMixture().log_v(2)

    def marginal(x):
        n, mean = len(x), np.mean(x)
        b = 1.0 + 0.5 * ((x - mean) ** 2).sum() + 0.5 * n / (1 + n) * mean**2
        return gammaln(2 + n / 2) - gammaln(2) + 0.5 * math.log(1 / (1 + n)) - (2 + n / 2) * math.log(b)

    apart = log_v[2] + marginal(data[:1, 0]) + marginal(data[1:, 0])
    together = log_v[1] + math.log(2) + marginal(data[:, 0])
    exact = 1 / (1 + math.exp(together - apart))
    assert abs((chain.n_clusters == 2).mean() - exact) < 5 * math.sqrt(exact * (1 - exact) / 5_000)


# ---- large concentrations


@pytest.mark.parametrize("alpha", [1e-50, 0.5, 20.0, 1e3, 1e5, 1e6, 1.1e6, 1e8, 1e12, 1e16, 1e50, 1e100])
def test_the_log_density_of_any_concentration_is_right(alpha):
    """At 1e50 it was +2130: differences of log Gamma had lost all their digits."""
    model = GaussianDPM("diag", alpha=alpha, mu0=0.0, c=1.0, a=2.0, b=1.0)
    chain = model.sample(X, **SHORT)
    labels = chain.labels[0, -1]
    clusters = [X[labels == k] for k in range(labels.max() + 1)]
    exact = log_crp([len(cluster) for cluster in clusters], alpha)
    exact += sum(log_marginal_diag(cluster, 0.0, 1.0, 2.0, 1.0) for cluster in clusters)
    assert chain.log_density[0, -1] == pytest.approx(exact, rel=1e-9, abs=1e-6)
    if alpha >= 1e50:
        assert len(clusters) == len(X)


@pytest.mark.parametrize(
    "alpha",
    [
        "GammaAlpha(1e100, 1e-100)", "GammaAlpha(1e-100, 1e100)", "GammaAlpha(1e100, 1e100)",
        "GammaAlpha(1e-100, 1e-100)", "GammaAlpha(1e10, 1e-5)", "GammaAlpha(1e15, 1)", "GammaAlpha(1, 1e-100)",
        "PowerAlpha((0.01, 1e100))",
    ],
)  # fmt: skip
@pytest.mark.parametrize("discount", [0.0, 0.5])
def test_samplers_end_at_the_ends_of_the_ranges(alpha, discount):
    code = f"""
import numpy as np
from partita.models import GammaAlpha, GaussianDPM, PowerAlpha
X = np.random.default_rng(1).normal(size=(30, 2))
chain = GaussianDPM(alpha={alpha}, discount={discount}).sample(X, draws=20, warmup=5, chains=1, rng=1)
assert np.isfinite(chain.log_density).all() and np.isfinite(chain.alpha).all()
"""
    in_a_child(code)


def test_a_large_gamma_variate_has_its_mean_and_spread():
    """alpha | shape s, rate r beside n items is about Gamma(s, r) when s is large: mean s / r, sd sqrt(s) / r."""
    shape = 1e12
    chain = GaussianDPM(alpha=GammaAlpha(shape, 1.0)).sample(X, draws=4000, warmup=5, chains=1, rng=1)
    z = (chain.alpha.ravel() - shape) / math.sqrt(shape)
    assert abs(z.mean()) < 5 / math.sqrt(4000)
    assert z.std() == pytest.approx(1.0, abs=0.06)


OUT_OF_RANGE = [
    lambda: GammaAlpha(1.7e308, 0.5),
    lambda: GammaAlpha(1.0, 1e-200),
    lambda: PowerAlpha((1e-5, 2.0)),
    lambda: PowerAlpha(power=1e200),
    lambda: WishartGrid(u=(0.01, 30.0)),
    lambda: WishartGrid(v=(0.1, 1e200)),
    lambda: FiniteMixture(weight=1e9),
    lambda: FiniteMixture(rate=1e5),
    lambda: GaussianDPM(alpha=1e101).sample(X, **SHORT),
    lambda: GaussianDPM(kappa0=1e101).sample(X, **SHORT),
    lambda: GaussianDPM(nu0=1e9).sample(X, **SHORT),
    lambda: GaussianDPM(scale=1e101).sample(X, **SHORT),
    lambda: GaussianDPM(scale=math.inf).sample(X, **SHORT),
    lambda: GaussianDPM(scale=math.nan).sample(X, **SHORT),
    lambda: GaussianDPM(scale=[[1.0, math.inf], [math.inf, 1.0]]).sample(X, **SHORT),
    lambda: GaussianDPM(mu0=1e101).sample(X, **SHORT),
    lambda: GaussianDPM("diag", a=1e9).sample(X, **SHORT),
    lambda: GaussianDPM("diag", b=1e-101).sample(X, **SHORT),
    lambda: GaussianDPM("diag", c=[1.0, 1e101]).sample(X, **SHORT),
    lambda: GaussianDPM(moves=SplitMergeMoves(1e7)).sample(X, **SHORT),
    lambda: GaussianDPM(moves=SplitMergeMoves(restricted_scans=10**7)).sample(X, **SHORT),
    lambda: StochasticBlockModel(n0=1e9),
    lambda: StochasticBlockModel(eta0=1e-101),
    lambda: StochasticBlockModel(edges="counts", b0=1e101),
    lambda: LatentBlockModel(zeta0=1e9),
    lambda: StochasticBlockModel(k_prior=1e9).sample(np.eye(4)[::-1], **SHORT),
    lambda: StochasticBlockModel(k_prior=[1.0] * 20_000).sample(np.eye(4)[::-1], **SHORT),
    lambda: pt.ensembles.NBCE(alpha=1e9).fit([[0, 1], [1, 0]]),
    lambda: pt.ensembles.NBCE(beta=1e-101).fit([[0, 1], [1, 0]]),
    lambda: pt.ensembles.NBCE(alpha_prior=(math.inf, 1.0)).fit([[0, 1], [1, 0]]),
    lambda: pt.ensembles.NBCE(truncation=10**7).fit([[0, 1], [1, 0]]),
]


@pytest.mark.parametrize("call", OUT_OF_RANGE, ids=range(len(OUT_OF_RANGE)))
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_hyperparameters_out_of_their_ranges_are_refused(call):
    with pytest.raises(ValueError, match=r"must|needs|far more"):
        call()


@pytest.mark.parametrize("scale", [math.inf, -1.0, 1e101, [[1.0, math.inf], [math.inf, 1.0]]])
def test_a_scale_out_of_its_range_is_told_the_range(scale):
    with pytest.raises(ValueError, match=r"scale must .* from 1e-100 to 1e\+100"):
        GaussianDPM(scale=scale).sample(X, **SHORT)


@pytest.mark.parametrize("covariance", ["full", "diag"])
@pytest.mark.parametrize("scale", [1e155, 1e200, 1e300])
def test_a_log_density_that_is_no_number_is_an_error_that_names_the_hyperparameters(covariance, scale):
    base = {"scale": 1.0} if covariance == "full" else {"b": 1.0}
    model = GaussianDPM(covariance, alpha=0.37, mu0=0.0, **base)
    words = r"the log density is (nan|-?inf): .*alpha=0\.37|X is too large for its variances to be computed"
    with pytest.raises(ValueError, match=words):
        model.sample(X * scale, **SHORT)


@pytest.mark.parametrize("n0", [1e-100, 1.0, 1e8])
@pytest.mark.parametrize("eta0", [1e-100, 1.0, 1e8])
def test_block_models_have_numbers_at_the_ends_of_the_ranges(n0, eta0):
    A = (np.random.default_rng(1).random((8, 8)) < 0.4).astype(float)
    np.fill_diagonal(A, 0)
    labels = np.array([0, 0, 1, 1, 2, 2, 2, 0])
    model = StochasticBlockModel(n0=n0, eta0=eta0)
    exact = sbm_icl(A, labels, directed=True, loops=False, n0=n0, first=eta0, second=1.0)
    assert model.icl(A, labels) == pytest.approx(exact, rel=1e-6, abs=1e-5)
    assert np.isfinite(model.sample(A, **SHORT).log_density).all()
    assert np.isfinite(model.maximize(A, rng=1).icl)
