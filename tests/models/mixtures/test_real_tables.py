"""Tables that people have, from csv files to clusters and reports: votes with gaps, penguins, eruptions, galaxies."""

import csv
import json
from importlib.resources import files

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app

DATASETS = files("partita.datasets")
VOTES = DATASETS / "house_votes_84.csv"


@pytest.mark.filterwarnings("ignore:row 248 has no observed cell")  # who never voted
def test_the_votes_of_the_house():
    """Two parties, and gaps that no longer have to be filled: absent votes say nothing."""
    rows = [line.split(",") for line in VOTES.read_text(encoding="utf-8").split()]
    columns = dict(zip(rows[0], np.array(rows[1:]).T, strict=True))
    party = columns.pop("party")
    votes = {name: [None if vote == "?" else vote for vote in column] for name, column in columns.items()}
    chain = pt.models.MixtureDPM(components=pt.models.FiniteMixture()).sample(
        votes, draws=60, warmup=100, chains=2, rng=1
    )
    best = pt.estimate(chain, "binder", rng=1)
    largest = np.argsort(-np.bincount(best.labels))[:2]
    shares = [(party[best.labels == k] == "democrat").mean() for k in largest]
    assert min(shares) < 0.15
    assert max(shares) > 0.85
    told = pt.profiles(best, votes, rng=1)
    assert max(told.columns, key=lambda own: own.information).information > 0.4
    assert chain.impute(draws=20, rng=1).n_cells == sum(vote is None for column in votes.values() for vote in column)


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.mark.parametrize(("name", "most"), [("old_faithful", 4), ("galaxies", 8)])
def test_from_csv_to_report(name, most, tmp_path):
    out = tmp_path / "results"
    short = ("--draws", 60, "--warmup", 100, "--chains", 2, "--seed", 1)
    done = run("cluster", DATASETS / f"{name}.csv", "--out", out, *short)
    assert done.exit_code == 0, done.output
    summary = json.loads((out / "summary.json").read_text())
    assert 2 <= summary["n_clusters"] <= most
    assert 'id="profiles-section"' in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore:.* no observed cell")
def test_penguins(tmp_path):
    """Species from the other columns, numbers and categories with gaps, end to end."""
    penguins = pytest.importorskip("palmerpenguins").load_penguins()
    species = penguins.pop("species")
    penguins.drop(columns="year").to_csv(tmp_path / "penguins.csv", index=False, na_rep="NA")
    out = tmp_path / "results"
    done = run("cluster", tmp_path / "penguins.csv", "--maximize", "--out", out, "--seed", 1)
    assert done.exit_code == 0, done.output
    with (out / "labels.csv").open(newline="") as stream:
        labels = np.array([int(row["cluster"]) for row in csv.DictReader(stream)])
    # clusters are of one species each, most of them of one sex
    majority = sum(species[labels == k].value_counts().iloc[0] for k in range(1, labels.max() + 1))
    assert majority / len(species) > 0.9


@pytest.mark.filterwarnings("ignore:.* no observed cell", "ignore::partita.MixingWarning")
def test_hidden_cells_are_predicted_better_than_by_their_column():
    """The likeliest vote and the mean measurement, against those of the column; a tenth of the cells are hidden."""
    penguins = pytest.importorskip("palmerpenguins").load_penguins().drop(columns=["species", "year"])
    rows = [line.split(",") for line in VOTES.read_text(encoding="utf-8").split()]
    votes = {name: cells for name, cells in zip(rows[0], np.array(rows[1:]).T, strict=True) if name != "party"}
    rng, hits, errors = np.random.default_rng(1), [], []
    for table, gap in ((votes, "?"), (penguins, None)):
        known = {name: np.array(cells, object) for name, cells in table.items()}
        shown = {name: np.where((cells == gap) | (cells != cells), None, cells) for name, cells in known.items()}
        hidden = {name: (rng.random(len(cells)) < 0.1) & (cells != None) for name, cells in shown.items()}  # noqa: E711
        shown = {name: np.where(hidden[name], None, cells) for name, cells in shown.items()}
        chain = pt.models.MixtureDPM().sample(
            {name: list(cells) for name, cells in shown.items()}, draws=100, warmup=200, chains=2, rng=1
        )
        for cell in chain.impute(draws=100, rng=1).summary():
            name, row = cell["column"], cell["row"]
            if not hidden[name][row]:
                continue
            seen = [other for other in shown[name] if other is not None]
            truth = known[name][row]
            if "probability" in cell:
                hits.append((cell["value"] == truth, max(set(seen), key=seen.count) == truth))
            else:
                errors.append(np.square([cell["value"] - truth, np.mean(seen) - truth]) / np.var(seen))
    (model, mean), (likeliest, commonest) = np.mean(errors, axis=0), np.mean(hits, axis=0)
    assert model < 0.6 * mean
    assert likeliest > commonest + 0.1
