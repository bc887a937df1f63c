"""The profiles of clusters on the page, and the page about the partition of largest ICL."""

import numpy as np
import pytest

import partita as pt
from partita.models import MixtureDPM
from partita.results.profiles import CLUSTERS_SHOWN, profile_section
from support.pages import figure
from support.pages import table as part

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1], 30)
    colours = np.where(rng.random(60) < 0.9, np.where(truth, "<b>red</b>", "blue"), "green")
    return {"size": rng.normal(8.0 * truth, 1.0), "colour": colours.tolist(), "noise": rng.normal(size=60)}


@pytest.fixture(scope="module")
def fit(table):
    return MixtureDPM().maximize(table, rng=1)


def test_the_section_puts_first_what_tells_most(fit, table):
    told = pt.profiles(fit, table, rng=1)
    page = {"sections": [profile_section(told)]}
    assert [row[0] for row in part(page, "profiles").rows] == [
        "size", "colour: <b>red</b>", "colour: blue", "colour: green", "noise",
    ]  # fmt: skip
    cells = figure(page, "profiles")["cells"]
    assert len(cells) == 5 * fit.n_clusters
    low, high = (cells[k][4] for k in range(2))
    assert int(low[1:3], 16) < int(low[5:7], 16)  # blue below the mean of the column
    assert int(high[1:3], 16) > int(high[5:7], 16)  # orange above it


def test_standardised_means_are_in_deviations_of_the_column(fit, table):
    own = pt.profiles(fit, table, rng=1)["size"]
    size = np.array(table["size"])
    np.testing.assert_allclose(own.standardized, (own.mean - size.mean()) / size.std(), rtol=1e-12)


def test_many_clusters_are_cut(table):
    rng = np.random.default_rng(2)
    fit = MixtureDPM("categorical").maximize({"x": rng.integers(40, size=400).astype(str)}, rng=1)
    many = pt.profiles(fit, {"x": rng.normal(size=400)}, rng=1)
    page = {"sections": [profile_section(many)]}
    assert len(part(page, "profiles").columns) == 4 + min(CLUSTERS_SHOWN, fit.n_clusters)


def test_the_page_of_a_fit(fit, table, tmp_path):
    truth = np.repeat([0, 1], 30)
    told = pt.profiles(fit, table, rng=1)
    path = pt.report(fit, told, truth=truth, path=tmp_path / "page.html", title="A table")
    page = path.read_text(encoding="utf-8")
    assert "The 60 items fall into 2 clusters" in page
    assert "Cluster profiles" in page
    assert "<b>red" not in page
    assert "adjusted Rand index" in page
    with pytest.raises(ValueError, match="data is for estimates from draws, and this is the fit of a mixture"):
        pt.report(fit, data=np.zeros(60), path=tmp_path / "other.html")


def test_the_page_of_an_estimate_has_the_profiles(table, tmp_path):
    chain = MixtureDPM().sample(table, draws=100, warmup=100, chains=2, rng=1)
    best = pt.estimate(chain, rng=1)
    path = pt.report(best, pt.profiles(best, table, rng=1), path=tmp_path / "page.html")
    assert 'id="profiles-section"' in path.read_text(encoding="utf-8")
    bare = pt.report(best, path=tmp_path / "bare.html")
    assert 'id="profiles-section"' not in bare.read_text(encoding="utf-8")
