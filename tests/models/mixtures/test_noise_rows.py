"""Rows that belong nowhere: the exact posterior with its noise, predictions, resumed runs, and background."""

import numpy as np
import pytest
from scipy import integrate
from scipy.special import betaln, comb, logsumexp
from test_calibration import ALPHA, ITEMS, RANKS, TABLES, draw_labels, draw_table, log_density_of, p_values, statistics
from test_calibration import model_of as calibrated
from test_families import exact_posterior, excess, frequencies

import partita as pt
from partita.models import FiniteMixture, MixtureDPM, SplitMergeMoves
from support import mixture_reference as reference
from support.table_cases import CASES, model_of

pytestmark = pytest.mark.filterwarnings("ignore:.* no observed cell", "ignore::partita.MixingWarning")


def log_prior(sizes, share, alpha=0.7):
    """Of a partition in which noise is alone: over the number s of those that are alone which are noise."""
    n, alone, b = sum(sizes), sizes.count(1), 1 / share - 1
    others = tuple(size for size in sizes if size > 1)
    return logsumexp(
        [
            np.log(comb(alone, s)) + betaln(1 + s, b + n - s) - betaln(1, b)
            + (reference.log_crp(others + (1,) * (alone - s), alpha) if s < n else 0.0)
            for s in range(alone + 1)
        ]
    )  # fmt: skip


@pytest.mark.parametrize("split_merge", [0, 2])
@pytest.mark.parametrize("case", CASES)
def test_a_long_run_has_the_exact_posterior(case, split_merge):
    model = model_of(case, moves=SplitMergeMoves(split_merge), alpha=0.7, noise=0.3)
    chain = model.sample(CASES[case][0], draws=1200, warmup=50, chains=12, rng=5)
    found = frequencies(chain)
    assert excess(found, exact_posterior(case, lambda sizes: log_prior(sizes, 0.3))) < 1.6
    # the seeded fault: another share of noise
    assert excess(found, exact_posterior(case, lambda sizes: log_prior(sizes, 0.6))) > 2


def noisy_ranks(replications, thin, share=0.2):
    """Ranks of the truth, with its share of noise from Beta(1, 4); cells of noise are those of clusters of one row."""
    rng, families, rows = np.random.default_rng(9), TABLES["mixed"], []
    for replication in range(replications):
        drawn = draw_labels(rng)
        noise = rng.random(ITEMS) < rng.beta(1, 4)
        labels = pt.canonical(np.where(noise, ITEMS + np.arange(ITEMS), drawn))
        table = draw_table(rng, labels, families)
        chain = calibrated(families, noise=share).sample(
            table, draws=RANKS, warmup=60, thin=thin, chains=1, rng=replication, n_jobs=1
        )
        s = noise.sum()
        density = log_density_of(labels, table, families) - reference.log_crp(tuple(np.bincount(labels)), ALPHA)
        density += reference.log_crp(tuple(np.bincount(drawn)), ALPHA) + betaln(1 + s, 4 + ITEMS - s) - betaln(1, 4)
        every = [statistics(z, d) for z, d in zip(chain.labels[0], chain.log_density[0], strict=True)]
        own = [*statistics(labels, density), noise.mean()]
        every = [[*row, w] for row, w in zip(every, chain.stats["noise"][0], strict=True)]
        everyone = np.array([own, *every]) + rng.random((RANKS + 1, len(own))) * 1e-9
        rows.append((everyone[0] > everyone[1:]).sum(axis=0))
    return np.array(rows)


def test_ranks_are_uniform():
    assert min(p_values(noisy_ranks(60, 12))) > 0.05 / 5 / 10


def test_a_wrong_share_is_noticed():
    """The seeded fault: four times the share of noise."""
    assert min(p_values(noisy_ranks(60, 12, 0.95))) < 1e-6


@pytest.mark.slow
def test_ranks_are_uniform_in_many_replications():
    assert min(p_values(noisy_ranks(200, 25))) > 0.05 / 5 / 10


def test_new_rows_may_be_noise():
    rng = np.random.default_rng(1)
    x = np.append(rng.normal(0, 1, 30), [12.0, -15.0])
    model = MixtureDPM(noise=0.1)
    chain = model.sample({"x": x}, draws=50, warmup=50, chains=2, rng=2)
    grid = np.concatenate([[-4000.0], np.linspace(-300, 300, 60001), [4000.0]])
    total = integrate.trapezoid(model.predictive_density(chain, {"x": grid}), grid)
    np.testing.assert_allclose(total, 1.0, atol=2e-3)
    found = model.allocation(chain, np.append(np.zeros(30, int), [1, 2]), {"x": [0.0, 60.0]})
    assert found[0, 0] > 0.9
    assert found[1, -1] > 0.9


def test_a_run_goes_on_where_it_was(tmp_path):
    model, table = MixtureDPM(noise=True), background(40)[0]
    options = {"warmup": 5, "chains": 2, "rng": 3}
    whole = model.sample(table, draws=30, **options)
    model.sample(table, draws=12, path=tmp_path / "run", **options)
    resumed = pt.models.resume(tmp_path / "run", 30)
    np.testing.assert_array_equal(whole.labels, resumed.labels)
    np.testing.assert_array_equal(whole.stats["noise"], resumed.stats["noise"])
    np.testing.assert_array_equal(whole.noise, resumed.noise)


def background(rows):
    """Two clusters and a tenth of rows that are anywhere."""
    rng = np.random.default_rng(rows)
    truth = rng.choice([0, 1, -1], rows, p=[0.45, 0.45, 0.1])
    table = {name: rng.normal(6.0 * truth, 0.5) for name in ("x", "y", "z")}
    anywhere = truth < 0
    for cells in table.values():
        cells[anywhere] = rng.uniform(-12, 18, anywhere.sum())
    return table | {"colour": np.where(anywhere, rng.choice(["a", "b"], rows), np.where(truth == 0, "a", "b"))}, truth


def test_rows_that_are_anywhere_are_noise():
    table, truth = background(200)
    chain = MixtureDPM(noise=True).sample(table, draws=200, warmup=200, chains=2, rng=1)
    best = pt.estimate(chain, rng=1)
    sizes = np.bincount(best.labels[best.labels >= 0])
    assert (sizes > 20).sum() == 2
    assert pt.adjusted_rand(best.labels[truth >= 0], truth[truth >= 0]) == 1
    assert (best.labels[truth < 0] < 0).mean() > 0.7
    np.testing.assert_array_equal(chain.noise, best.noise)
    np.testing.assert_allclose(chain.stats["noise"].mean(), chain.noise.mean(), atol=0.01)
    profile = pt.profiles(best, table, rng=1)
    np.testing.assert_allclose(np.sort(profile["x"].mean[sizes > 20]), [0, 6], atol=0.3)


def test_one_cluster_has_hardly_any_noise():
    rng = np.random.default_rng(4)
    chain = MixtureDPM(noise=True).sample(rng.normal(size=(150, 4)), draws=200, warmup=200, chains=2, rng=1)
    assert pt.estimate(chain, rng=1).n_clusters == 1
    assert chain.noise.mean() < 0.03


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"noise": 1.5}, "noise must be True, False or the expected share"),
        ({"noise": True, "components": FiniteMixture()}, "noise needs a Dirichlet process"),
        ({"noise": True, "select": True}, "cannot be used together"),
        ({"noise": True, "full": "all"}, "does not work with missing values"),
    ],
)
def test_what_noise_does_not_go_with(settings, problem):
    with pytest.raises(ValueError, match=problem):
        MixtureDPM(**settings).sample({"x": [1.0, 2, 3], "y": [1.0, 3, None]}, draws=1, warmup=1)


def test_maximize_has_no_noise():
    with pytest.raises(ValueError, match="maximize has no noise"):
        MixtureDPM(noise=True).maximize({"x": [1.0, 2, 3]})
