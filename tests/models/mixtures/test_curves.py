"""Curves and regressions: marginal likelihoods against the multivariate t, the exact posterior, and long tables."""

import functools
import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.interpolate import BSpline
from scipy.special import logsumexp

import partita as pt
from partita.models import Curves, DiscreteBase, MixtureDPM, Sampling, SplitMergeMoves
from support import mixture_reference as reference
from support import table_reference as tables

RATIOS = (0.0, 0.5, 2.0, 8.0, 32.0)
C, A, ALPHA = 0.4, 1.5, 0.9
pytestmark = pytest.mark.filterwarnings("ignore::partita.MixingWarning")


def small_table():
    """Five subjects with one to four visits, one outcome complete, one with gaps, and a static column."""
    rng = np.random.default_rng(4)
    visits = [4, 2, 1, 3, 3]
    subject = np.repeat(["e", "b", "a", "d", "c"], visits)
    month = np.concatenate([np.sort(rng.choice(8.0 * np.arange(9) / 8, n, replace=False)) for n in visits])
    late = np.isin(subject, ["d", "c"])
    pain = 3 - np.where(late, 0.5, 0.0) * month + 0.4 * rng.normal(size=len(month))
    mood = np.where(rng.random(len(month)) < 0.3, np.nan, rng.normal(size=len(month)) + late)
    sex = np.where(late, "m", "f")
    return pd.DataFrame({"subject": subject, "month": month, "pain": pain, "mood": mood, "sex": sex})


TABLE = small_table()
SUBJECTS = ["e", "b", "a", "d", "c"]
CURVES = Curves("subject", "month", degree=2, knots=1, c=C)


def splines(times):
    low, high = TABLE.month.min(), TABLE.month.max()
    inner = np.quantile(np.asarray(TABLE.month), [0.5])
    return BSpline.design_matrix(times, np.concatenate([[low] * 3, inner, [high] * 3]), 2).toarray()


@functools.cache
def log_curves(outcome, group, ratios=RATIOS):
    """ln p of the curves of some subjects: a multivariate t for each ratio, straight from the model."""
    seen = TABLE[TABLE[outcome].notna()]
    design, y = splines(seen.month.to_numpy()), seen[outcome].to_numpy()
    center = y.mean()
    beta = center + np.linalg.solve(design.T @ design + C * np.eye(4), design.T @ (y - center))
    b = ((y - design @ beta) ** 2).sum() / max(len(y) - 4, 1)
    own = seen[seen.subject.isin([SUBJECTS[i] for i in group])]
    if own.empty:
        return 0.0
    design = splines(own.month.to_numpy())
    low, high = TABLE.month.min(), TABLE.month.max()
    line = np.column_stack([np.ones(len(own)), (own.month - (low + high) / 2) / ((high - low) / 2)])
    same = own.subject.to_numpy()[:, None] == own.subject.to_numpy()
    logs = []
    for ratio in ratios:
        scale = np.eye(len(own)) + ratio * same * (line @ line.T) + design @ design.T / C
        logs.append(stats.multivariate_t.logpdf(own[outcome], design @ beta, b / A * scale, df=2 * A))
    return logsumexp(logs) - np.log(len(ratios))


SEX = np.array([0, 0, 0, 1, 1])


def log_cluster(group, **more):
    return sum(log_curves(name, tuple(group.tolist()), **more) for name in ("pain", "mood")) + tables.log_levels(
        SEX[group], 2, 0.6
    )


def groups_of(labels):
    return [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]


def model(**more):
    return MixtureDPM(curves=CURVES, alpha=ALPHA, c=C, a=A, discrete=DiscreteBase(weight=0.6), **more)


def test_the_log_density_is_that_of_the_formulas():
    chain = model().sample(TABLE, draws=60, warmup=5, chains=1, rng=1)
    assert chain.names == tuple(SUBJECTS)
    for labels, value in zip(chain.labels[0, ::6], chain.log_density[0, ::6], strict=True):
        groups = groups_of(labels)
        expected = reference.log_crp(tuple(map(len, groups)), ALPHA) + sum(map(log_cluster, groups))
        np.testing.assert_allclose(value, expected, rtol=1e-9)


def posterior(**more):
    partitions = [np.array(labels) for labels in reference.partitions(5)]
    logs = [
        reference.log_crp(tuple(map(len, groups_of(labels))), ALPHA)
        + sum(log_cluster(group, **more) for group in groups_of(labels))
        for labels in partitions
    ]
    return partitions, np.exp(logs - logsumexp(logs))


def excess(chain, partitions, exact):
    powers = 10 ** np.arange(5)
    keys = np.array(partitions) @ powers
    order = np.argsort(keys)
    places = order[np.searchsorted(keys[order], chain.labels.astype(np.int64) @ powers)]
    found = np.array([np.bincount(row, minlength=len(keys)) for row in places]) / chain.n_draws
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    return np.abs(found.mean(axis=0) - exact).sum() / (np.sqrt(2 / np.pi) * error.sum())


@pytest.mark.parametrize("split_merge", [0, 2])
def test_a_long_run_has_the_exact_posterior(split_merge):
    partitions, exact = posterior()
    chain = model(moves=SplitMergeMoves(split_merge)).sample(TABLE, draws=1500, warmup=50, chains=12, rng=2)
    assert excess(chain, partitions, exact) < 1.6


def test_wrong_random_effects_are_noticed():
    """The seeded fault: the reference has no lines of subjects."""
    partitions, exact = posterior(ratios=(0.0,))
    chain = model().sample(TABLE, draws=1500, warmup=50, chains=12, rng=2)
    assert excess(chain, partitions, exact) > 2


def test_one_ratio_by_numerical_integration():
    """∫∫ N(y | β0 + β, s²) p(β | s²) p(s²) of a constant curve, on a grid."""
    y, beta, b = np.array([0.3, -0.5, 1.1]), 0.1, 0.8
    m, log_variance = np.meshgrid(np.linspace(-25, 25, 2001), np.linspace(-6, 8, 401))
    variance = np.exp(log_variance)
    density = stats.norm.pdf(m, beta, np.sqrt(variance / C)) * stats.invgamma.pdf(variance, A, scale=b) * variance
    for value in y:
        density *= stats.norm.pdf(value, m, np.sqrt(variance))
    expected = np.log(np.trapezoid(np.trapezoid(density, m[0], axis=1), log_variance[:, 0]))
    scale = np.eye(3) + np.ones((3, 3)) / C
    np.testing.assert_allclose(
        stats.multivariate_t.logpdf(y, np.full(3, beta), b / A * scale, df=2 * A), expected, rtol=1e-5
    )


def test_maximize_and_new_subjects():
    partitions, _ = posterior()
    search = model()
    fit = search.maximize(TABLE, rng=1)
    assert fit.icl == pytest.approx(max(search.icl(TABLE, labels) for labels in partitions), rel=1e-11)
    fitted = model(sampling=Sampling(200, 100), random_state=1).fit(TABLE)
    new = pd.DataFrame(
        {"subject": ["x", "x"], "month": [1.0, 5.0], "pain": [2.0, 0.1], "mood": [np.nan, 1.0], "sex": "m"}
    )
    assert fitted.predict_proba(new).shape == (1, fitted.n_clusters_ + 1)
    assert np.isfinite(fitted.score_samples(new)).all()


def growth(subjects=45, seed=1, classes=3, visits=6):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(classes), subjects // classes)
    rows = [
        (f"s{i}", month, 10 + [0.0, 1.5, -1.0][truth[i]] * month + rng.normal(0, 1), truth[i] + rng.normal(0, 0.3))
        for i in range(len(truth))
        for month in np.sort(rng.uniform(0, 10, rng.integers(2, visits + 1)))
    ]
    return pd.DataFrame(rows, columns=["id", "month", "size", "dose"]), truth


def test_classes_are_found_and_first_visits_tell_them():
    table, truth = growth()
    model = MixtureDPM({"dose": "ignore"}, curves=Curves("id", "month"), sampling=Sampling(200, 300), random_state=1)
    fitted = model.fit(table)
    assert pt.adjusted_rand(fitted.labels_, truth) > 0.85
    first = table[table.month < 5]
    known = [int(name[1:]) for name in first.id.unique()]
    assert pt.adjusted_rand(fitted.predict(first), truth[known]) > 0.5


@pytest.mark.parametrize("spread", [0.0, 2.0])
def test_one_class_is_one_cluster(spread):
    """Also if subjects differ by a line of their own."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(10):
        subject, month = np.repeat(np.arange(40), 5), np.tile(np.arange(5.0), 40)
        own = rng.normal(0, spread, (40, 2))[subject]
        y = 3 + 0.5 * month + own[:, 0] + 0.5 * own[:, 1] * (month - 2) + rng.normal(0, 1, 200)
        chain = MixtureDPM(curves=Curves("i", "t")).sample(
            {"i": subject, "t": month, "y": y}, draws=150, warmup=150, chains=2, rng=rng
        )
        found.append(pt.estimate(chain, rng=1).n_clusters)
    assert np.mean(np.array(found) == 1) >= 0.9


def test_the_order_of_rows_and_dates_do_not_matter():
    table, _ = growth()
    wide = Curves("id", "month", outcomes=["size"])
    settings = {"draws": 40, "warmup": 40, "chains": 2, "rng": 1}
    chain = MixtureDPM(columns={"dose": "ignore"}, curves=wide).sample(table, **settings)
    mixed = table.sample(frac=1, random_state=1).sort_values(
        "id", key=lambda s: s.map(chain.names.index), kind="stable"
    )
    again = MixtureDPM(columns={"dose": "ignore"}, curves=wide).sample(mixed, **settings)
    np.testing.assert_array_equal(chain.labels, again.labels)
    dates = [
        str(np.datetime64("2020-01-01T00:00") + np.timedelta64(int(m * 30.4375 * 86400), "s")) for m in table.month
    ]
    dated = MixtureDPM(columns={"dose": "ignore"}, curves=wide).sample(table.assign(month=dates), **settings)
    assert pt.adjusted_rand(dated.labels[0, -1], chain.labels[0, -1]) > 0.5


def test_profiles_have_mean_curves():
    table, _ = growth()
    curves = Curves("id", "month", outcomes=["size"])
    fit = MixtureDPM(columns={"dose": "ignore"}, curves=curves).maximize(table, rng=1)
    profiles = pt.profiles(fit, table, columns={"dose": "ignore"}, curves=curves, rng=1)
    own = profiles["size"]
    assert own.information > 0.5
    assert own.mean.shape == (fit.n_clusters, 25)
    assert (own.low < own.high).all()
    steep = int(np.argmax(own.mean[:, -1]))
    np.testing.assert_allclose(own.mean[steep, [6, 18]], [13.75, 21.25], atol=1.5)  # a quarter, three quarters


def test_selection_of_an_outcome():
    table, _ = growth()
    table["noise"] = np.random.default_rng(1).normal(size=len(table))
    chain = MixtureDPM(columns={"dose": "ignore"}, curves=Curves("id", "month"), select=True).sample(
        table, rng=1, draws=200
    )
    assert chain.inclusion["size"] > 0.9
    assert chain.inclusion["noise"] < 0.2


def test_regressions_of_clusters():
    rng = np.random.default_rng(1)
    x, kind = rng.uniform(-3, 3, 200), rng.random(200) < 0.5
    y = np.where(kind, 2 * x, 4 - x) + 0.3 * rng.normal(size=200)
    x[::40] = np.nan
    colour = ["red", "blue"] * 100
    table = {"x": x, "y": y, "colour": colour}
    fit = MixtureDPM(curves="y ~ x").maximize(table, rng=1)
    assert fit.n_clusters == 2
    seen = ~np.isnan(x)
    assert pt.adjusted_rand(fit.labels[seen], kind[seen]) > 0.6
    slopes = pt.profiles(fit, table, curves="y ~ x", rng=1)["y"].mean[:, 1]
    np.testing.assert_allclose(np.sort(slopes), [-1, 2], atol=0.2)


def test_a_run_is_resumed(tmp_path):
    whole = model().sample(TABLE, draws=30, warmup=10, chains=2, rng=1)
    model().sample(TABLE, draws=10, warmup=10, chains=2, rng=1, path=tmp_path / "run")
    np.testing.assert_array_equal(pt.resume(tmp_path / "run", 30).labels, whole.labels)


def test_later_visits_of_new_subjects_are_predicted_better_than_by_the_mean_curve():
    """Their density given the first visits, against the normal marginal of each time."""
    rng = np.random.default_rng(4)
    who, when = np.repeat(np.arange(60), 6), np.tile(np.arange(6.0), 60)
    y = 5 + np.where(who % 2, 1.5, -0.5) * when + rng.normal(0, 1.5, 60)[who] + rng.normal(0, 1, 360)
    table = pd.DataFrame({"who": who, "when": when, "y": y})
    old, new = table[who < 40], table[who >= 40]
    sampling = Sampling(draws=60, warmup=100, chains=2)
    fitted = MixtureDPM(curves=Curves("who", "when"), sampling=sampling, random_state=1).fit(old)
    found = fitted.score_samples(new) - fitted.score_samples(new[new.when < 3])
    by_time, later = old.groupby("when").y, new[new.when >= 3]
    alone = stats.norm.logpdf(later.y, by_time.mean()[later.when], by_time.std()[later.when])
    assert (found.sum() - alone.sum()) / len(later) > 0.4


def test_what_is_refused():
    table = {"id": ["a", "a", "b"], "t": [0.0, 1.0, 0.0], "y": [1.0, 2.0, 3.0], "word": ["u", "v", "u"]}

    def refused(match, curves=None, columns=None, **change):
        with pytest.raises(ValueError, match=match):
            MixtureDPM(columns, curves=curves or Curves("id", "t")).sample({**table, **change}, draws=2, rng=1)

    refused("'patient', which the table does not have", Curves("patient", "t"))
    refused("a different value in each row", id=["a", "b", "c"])
    refused("no numeric column varies", y=[1.0, 1.0, 3.0], columns={"word": "ignore"})
    refused("varies within 'id'")
    refused("time of the row is missing", t=[0.0, None, 1.0], columns={"word": "ignore"})
    refused("subject of the row is missing", id=["a", None, "b"], columns={"word": "ignore"})
    with pytest.raises(ValueError, match="needs curves="):
        MixtureDPM({"y": "curve", "word": "ignore"}).sample(table)
    with pytest.raises(ValueError, match="like 'y ~ x1"):
        MixtureDPM(curves="y").sample(table)
    with pytest.raises(ValueError, match="'t' has only one value, so that 'y' cannot depend on it"):
        MixtureDPM(curves="y ~ t").sample({**table, "t": [1.0, 1.0, None]})


def test_a_time_that_does_not_vary_within_subjects_is_none():
    table = {
        "i": np.repeat([1, 2, 3], 4),
        "arm": np.repeat([0, 1, 0], 4),
        "y": np.random.default_rng(1).normal(size=12),
    }
    with pytest.raises(ValueError, match="'arm' does not vary within 'i'"):
        MixtureDPM(curves=Curves(id="i", time="arm")).describe(table)


def test_dates_do_not_depend_on_the_time_zone_of_the_machine(monkeypatch):
    """A day of 23 hours in some of them."""
    dates = ["2026-03-01", "2026-03-29", "2026-04-30"]
    table = {"i": np.repeat(list("abcd"), 3), "date": dates * 4, "y": np.random.default_rng(1).normal(size=12)}
    found = []
    for zone in ("UTC", "Europe/Rome", "Pacific/Auckland"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        found.append(MixtureDPM(curves=Curves(id="i", time="date")).maximize(table, rng=1).icl)
    monkeypatch.undo()
    time.tzset()
    assert found[0] == found[1] == found[2]
