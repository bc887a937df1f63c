"""The data inside the package are those of the shared folder, and generated draws are what they promise."""

from __future__ import annotations

import filecmp
from importlib.resources import as_file, files

import numpy as np
import pytest

from partita.datasets import (
    load_galaxies,
    load_house_votes,
    load_karate,
    load_leiden_runs,
    load_old_faithful,
    make_draws,
)
from partita.draws.sample import as_sample

FILES = ("galaxies.csv", "old_faithful.csv", "house_votes_84.csv", "karate_nodes.csv", "karate_edges.csv")


@pytest.mark.parametrize("name", FILES)
def test_files_are_the_verified_ones(shared, name):
    with as_file(files("partita.datasets").joinpath(name)) as path:
        assert filecmp.cmp(path, shared / "data" / name, shallow=False)


def test_galaxies():
    plain, corrected = load_galaxies().data, load_galaxies(corrected=True).data
    assert plain.shape == (82, 1)
    assert np.flatnonzero(plain[:, 0] != corrected[:, 0]).tolist() == [77]
    assert (plain[77, 0], corrected[77, 0]) == (26690, 26960)
    assert (np.diff(corrected[:, 0]) >= 0).all()


def test_old_faithful():
    faithful = load_old_faithful()
    assert faithful.names == ("eruptions", "waiting")
    np.testing.assert_allclose(faithful.data.mean(axis=0), [3.48778, 70.89706], atol=5e-6)


def test_house_votes():
    votes = load_house_votes()
    assert votes.data.shape == (435, 16)
    assert dict(zip(votes.target_names, np.bincount(votes.target), strict=True)) == {
        "republican": 168,
        "democrat": 267,
    }
    assert ((votes.data != -1).all(axis=1)).sum() == 232
    assert set(np.unique(votes.data)) == {-1, 0, 1}
    assert "CC BY 4.0" in votes.source


def test_karate():
    karate = load_karate()
    np.testing.assert_array_equal(karate.data, karate.data.T)
    assert karate.data.sum() == 2 * 78
    assert not karate.data.diagonal().any()
    assert np.bincount(karate.target).tolist() == [17, 17]
    assert karate.data[0].sum() == 16  # Mr. Hi knows 16 members
    assert karate.data[33].sum() == 17  # the officer knows 17


def test_leiden_runs():
    runs = load_leiden_runs()
    assert runs.names[83] == "leiden_2.0_3"
    counts = (runs.data.max(axis=0) + 1).reshape(10, 10)
    assert counts.mean(axis=1)[[0, -1]].tolist() == [6.8, 18.6]
    assert runs.to_pandas().shape == (700, 100)


def test_datasets_are_read_only_and_have_ways_out():
    faithful = load_old_faithful()
    with pytest.raises(ValueError, match="read-only"):
        faithful.data[0, 0] = 0
    assert list(faithful.to_pandas().columns) == ["eruptions", "waiting"]
    assert "Applied Statistics" in faithful._repr_html_()


def test_generated_draws_are_seeded():
    draws = make_draws(40, 600, n_clusters=5, rng=7)
    np.testing.assert_array_equal(draws, make_draws(40, 600, n_clusters=5, rng=np.random.default_rng(7)))
    assert (draws != make_draws(40, 600, n_clusters=5, rng=8)).any()


def test_generated_draws_without_noise_are_one_partition():
    sample = as_sample(make_draws(50, 300, n_clusters=4, doubt=0, split=0, merge=0, rng=1))
    assert (sample.n_unique, sample.n_clusters.tolist()) == (1, [4])


def test_generated_draws_vary_as_asked():
    calm = {"doubt": 0, "split": 0, "merge": 0}
    base = as_sample(make_draws(200, 1, 6, **calm, rng=1)).n_clusters[0]
    assert as_sample(make_draws(200, 50, 6, **{**calm, "split": 0.5}, rng=1)).n_clusters.max() > base
    assert as_sample(make_draws(200, 50, 6, **{**calm, "merge": 0.5}, rng=1)).n_clusters.min() < base
    assert as_sample(make_draws(200, 50, 6, **{**calm, "merge": 1}, rng=1)).n_clusters.max() == 1
    # the share of items away from their base label: doubt x (1 - 1/6), since the rival may be the home
    many = make_draws(3000, 200, 6, **{**calm, "doubt": 0.2}, rng=1)
    home = np.array([np.bincount(item).argmax() for item in many.T])
    assert 0.1 < (many != home).mean() < 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_items": 0}, "n_items must be at least 1, but it is 0"),
        ({"n_draws": 0}, "n_draws must be at least 1, but it is 0"),
        ({"n_clusters": 0}, "n_clusters must be at least 1, but it is 0"),
        ({"doubt": 1.5}, "doubt must be a probability from 0 to 1, but it is 1.5"),
        ({"split": -0.1}, "split must be a probability"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        make_draws(**{"n_items": 3, "n_draws": 3, **options})
