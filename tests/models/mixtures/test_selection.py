"""Which columns take part: indicators against enumeration, the search over both, and noise columns."""

import itertools

import numpy as np
import pytest

import partita as pt
from partita.models import DiscreteBase, MixtureDPM, Sampling, SplitMergeMoves
from support import mixture_reference as reference
from support import table_reference as tables

X = np.array([-1.0, -0.6, 1.2, 1.9, 0.1])
Y = np.array([0.3, np.nan, -0.2, 0.5, 0.1])
VISITS = np.array([0.0, 1, 6, 9, np.nan])
COLOUR = np.array([0, 0, 1, -1, 1])
TABLE = {"x": X, "y": Y, "visits": VISITS, "colour": ["a", "a", "b", None, "b"]}
SETTINGS = {"alpha": 0.9, "c": 0.4, "a": 1.5, "b": 0.3, "discrete": DiscreteBase(0.7, 0.2, 0.6)}
MARGINALS = (
    lambda g: tables.log_gaussian(X[g], X.mean(), 0.4, 1.5, 0.3),
    lambda g: tables.log_gaussian(Y[g], np.nanmean(Y), 0.4, 1.5, 0.3),
    lambda g: tables.log_count(VISITS[g], 0.7, 0.2),
    lambda g: tables.log_levels(COLOUR[g], 2, 0.6),
)
SUBSETS = np.array(list(itertools.product([0, 1], repeat=4)))
pytestmark = pytest.mark.filterwarnings("ignore::partita.MixingWarning")


def joint(prior, log_prior=lambda sizes: reference.log_crp(sizes, 0.9)):
    """ln p(X, z, γ) of every partition of the five items and every selection of the four columns."""
    partitions = [np.array(labels) for labels in reference.partitions(5)]
    everyone = np.arange(5)
    logs = np.empty((len(partitions), len(SUBSETS)))
    for i, labels in enumerate(partitions):
        groups = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
        apart = np.array([sum(own(group) for group in groups) for own in MARGINALS]) + np.log(prior)
        together = np.array([own(everyone) for own in MARGINALS]) + np.log1p(-prior)
        logs[i] = log_prior(tuple(map(len, groups))) + (SUBSETS * apart + (1 - SUBSETS) * together).sum(axis=1)
    return partitions, logs


def frequencies(chain, partitions):
    """How often each chain visits each partition and selection, (chains, partitions × selections)."""
    powers = 10 ** np.arange(5)
    keys = np.array(partitions) @ powers
    order = np.argsort(keys)
    places = order[np.searchsorted(keys[order], chain.labels.astype(np.int64) @ powers)]
    # the core has levels and counts first, then complete and incomplete numbers
    drawn = [chain.stats[f"included_{unit}"] for unit in (2, 3, 1, 0)]
    chosen = np.rint(np.stack(drawn, axis=-1)) @ [8, 4, 2, 1]
    cells = (places * 16 + chosen).astype(int)
    return np.array([np.bincount(row, minlength=16 * len(keys)) for row in cells]) / chain.n_draws


def excess(found, exact):
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    return np.abs(found.mean(axis=0) - exact).sum() / (np.sqrt(2 / np.pi) * error.sum())


@pytest.mark.parametrize("split_merge", [0, 2])
@pytest.mark.parametrize("prior", [0.5, 0.3])
def test_a_long_run_has_the_exact_posterior_of_partitions_and_columns(prior, split_merge):
    partitions, logs = joint(prior)
    exact = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    model = MixtureDPM({"visits": "count"}, select=prior, moves=SplitMergeMoves(split_merge), **SETTINGS)
    chain = model.sample(TABLE, draws=2000, warmup=50, chains=12, rng=3)
    assert excess(frequencies(chain, partitions), exact.ravel()) < 1.6
    several = np.array([labels.max() > 0 for labels in partitions])
    expected = exact[several].sum(axis=0) @ SUBSETS
    assert list(chain.inclusion) == ["x", "y", "visits", "colour"]
    np.testing.assert_allclose(list(chain.inclusion.values()), expected, atol=0.02)
    # the seeded fault: another prior probability
    wrong = np.exp((other := joint(0.7)[1]) - other.max())
    assert excess(frequencies(chain, partitions), (wrong / wrong.sum()).ravel()) > 2


def test_the_log_density_is_that_of_the_formulas():
    partitions, logs = joint(0.3)
    chain = MixtureDPM({"visits": "count"}, select=0.3, **SETTINGS).sample(TABLE, draws=50, warmup=5, chains=1, rng=4)
    found = frequencies(chain, partitions)  # checks that every draw is known
    assert found.sum() == pytest.approx(1)
    keys = {labels.tobytes(): i for i, labels in enumerate(partitions)}
    for t in range(0, 50, 7):
        row = keys[chain.labels[0, t].astype(partitions[0].dtype).tobytes()]
        column = int(
            sum(chain.stats[f"included_{u}"][0, t] * w for u, w in zip((2, 3, 1, 0), (8, 4, 2, 1), strict=True))
        )
        np.testing.assert_allclose(chain.log_density[0, t], logs[row, column], rtol=1e-11)


def test_maximize_finds_the_best_partition_and_columns():
    from test_maximum import log_proportions

    _, logs = joint(0.5, lambda sizes: log_proportions(sizes, 1.0))
    model = MixtureDPM({"visits": "count"}, select=True, **SETTINGS)
    fit = model.maximize(TABLE, rng=1)
    np.testing.assert_allclose(fit.icl, logs.max(), rtol=1e-11)
    np.testing.assert_allclose(model.icl(TABLE, fit.labels), fit.icl, rtol=1e-11)
    assert set(fit.inclusion) == set(TABLE)


def noisy_table(noise=6, rows=90):
    rng = np.random.default_rng(2)
    truth = np.repeat([0, 1, 2], rows // 3)
    table = {"size": rng.normal(4 * truth, 1), "colour": [f"c{k}" if rng.random() < 0.9 else "c9" for k in truth]}
    return table | {f"noise{j}": rng.normal(size=rows) for j in range(noise)}, truth


def test_noise_columns_do_not_take_part():
    table, truth = noisy_table()
    chain = MixtureDPM(select=True).sample(table, draws=300, warmup=300, rng=1)
    noise = [value for name, value in chain.inclusion.items() if name.startswith("noise")]
    assert np.mean(noise) < 0.1
    assert chain.inclusion["size"] > 0.95
    assert pt.adjusted_rand(pt.estimate(chain, rng=1).labels, truth) > 0.9


def test_columns_with_one_covariance_are_selected_together():
    table, _ = noisy_table(2)
    chain = MixtureDPM(select=True, full=[["noise0", "noise1"]]).sample(table, draws=100, warmup=100, rng=1)
    assert chain.inclusion["noise0"] == chain.inclusion["noise1"] < 0.2


def test_resumed_chains_are_those_of_an_uninterrupted_run(tmp_path):
    table, _ = noisy_table(2)
    model = MixtureDPM(select=True)
    whole = model.sample(table, draws=60, warmup=20, chains=2, rng=1)
    model.sample(table, draws=30, warmup=20, chains=2, rng=1, path=tmp_path / "run")
    resumed = pt.resume(tmp_path / "run", 60)
    np.testing.assert_array_equal(resumed.labels, whole.labels)
    assert resumed.inclusion == whole.inclusion


def test_new_rows_under_a_selection():
    """The density of a new row is that of the exact mixture over partitions and selections of all rows."""
    new = {"x": [0.7], "y": [0.2], "visits": [4.0], "colour": ["b"]}
    model = MixtureDPM(
        {"visits": "count"}, select=True, sampling=Sampling(3000, 100), random_state=1, mu0=0.1, **SETTINGS
    )
    model.fit(TABLE)
    everyone = {name: [*cells, *new[name]] for name, cells in TABLE.items()}
    without = [np.array(labels) for labels in reference.partitions(5)]

    def total(table, partitions):
        x, y, visits = (np.array(table[name], dtype=float) for name in ("x", "y", "visits"))
        colour = np.array([{"a": 0, "b": 1, None: -1}[cell] for cell in table["colour"]])
        own = (
            lambda g: tables.log_gaussian(x[g], 0.1, 0.4, 1.5, 0.3),
            lambda g: tables.log_gaussian(y[g], 0.1, 0.4, 1.5, 0.3),
            lambda g: tables.log_count(visits[g], 0.7, 0.2),
            lambda g: tables.log_levels(colour[g], 2, 0.6),
        )
        sums = []
        for labels in partitions:
            groups = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
            columns = [np.logaddexp(sum(f(g) for g in groups), f(np.arange(len(x)))) for f in own]
            sums.append(reference.log_crp(tuple(map(len, groups)), 0.9) + sum(columns) - len(own) * np.log(2))
        return np.logaddexp.reduce(sums)

    expected = total(everyone, [np.array(labels) for labels in reference.partitions(6)]) - total(TABLE, without)
    np.testing.assert_allclose(model.score_samples(new)[0], expected, atol=0.03)


def test_what_is_refused():
    with pytest.raises(ValueError, match="select must be"):
        MixtureDPM(select=1.5).sample(TABLE)
    chain = MixtureDPM().sample(TABLE, draws=4, warmup=0, rng=1)
    with pytest.raises(TypeError, match="select=True"):
        _ = chain.inclusion
