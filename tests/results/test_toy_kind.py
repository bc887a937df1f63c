"""A seventh kind of result is one class: every view shows it without knowing it."""

import csv
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import partita as pt
from partita._support.shown import Shown
from partita.cli.command import register
from partita.cli.deliver import delivering
from partita.cli.form import first_number
from partita.cli.options import OutputOptions
from partita.results.parts import section
from partita.results.present import present
from partita.results.presentation import COMMON, Note, Presentation, facts
from partita.results.tables import Column, Table

LABELS = np.array([0, 0, 1, -1, 1])
NAMES = ("ann", "bob", "<cy>", "dan", "eve")


@dataclass(frozen=True, eq=False)
class Toy(Shown):
    """Labels with a temperature of each cluster."""

    labels: np.ndarray
    heat: tuple[float, ...]
    interrupted: bool = False
    presented_by = f"{__name__}.ToyPresentation"


@dataclass(frozen=True)
class Thermometer:
    """An extra."""

    unit: str


class ToyPresentation(Presentation):
    kind = "toy"
    noun = "guest"
    heading = "Guests"
    whose = "the party"
    written = ("items", "heat")
    printed: ClassVar = {"heat": 5}
    takes: ClassVar = {f"{__name__}.Thermometer": "thermometer"}
    own = facts("heat | temperature of each cluster")

    @property
    def names(self):
        return NAMES

    @property
    def certainty(self):
        return np.array([0.9, 0.2, 1.0, np.nan, 0.8])

    def more_answer(self):
        yield "It is warm."

    def find_notes(self):
        yield Note("Open a window.")
        yield Note("The thermometer is broken: buy another.", warning=True)

    def more_tables(self):
        columns = (Column("Cluster", "cluster"), Column("Degrees", "mean", "Temperature", key="degrees_celsius"))
        yield Table("heat", "Temperature of the clusters", columns, list(enumerate(self.result.heat)), indexed=True)

    def more_sections(self):
        yield section("heat", "Temperature", "How warm it is.", self.tables["heat"])


@pytest.fixture
def toy():
    return Toy(LABELS, (20.5, 30.0))


def test_python(toy):
    assert toy.notes == ("The thermometer is broken: buy another.", "Open a window.")
    items = toy.to_pandas()
    assert items.loc["<cy>", "cluster"] == 1
    assert np.isnan(items.loc["dan", "certainty"])
    assert toy.to_pandas("heat")["degrees_celsius"].to_dict() == {0: 20.5, 1: 30.0}
    with pytest.raises(ValueError, match="table must be one of clusters, items, heat, but it is 'cold'"):
        toy.to_pandas("cold")


def test_page(toy, tmp_path):
    path = pt.report(toy, Thermometer("°C"), truth=["x", "x", "y", "y", "y"], path=tmp_path / "page.html")
    page = path.read_text(encoding="utf-8")
    held = pt.read_report(path)
    assert held.kind == "toy"
    assert held.title == "Guests"
    assert held.notes == toy.notes
    assert held.answer == (
        "Of the 5 guests, 4 fall into 2 clusters (of 2 and 2 guests). Assignment is uncertain for 1 guest (bob;"
        " certainty below 0.5). It is warm."
    )
    assert held.tables["heat"] == [{"Cluster": 0, "Degrees": 20.5}, {"Cluster": 1, "Degrees": 30.0}]
    assert held.labels.tolist() == LABELS.tolist()
    assert page.index("buy another") < page.index('class="answer"') < page.index("Open a window")
    assert "<cy>" not in page
    assert '<td class="n" data-v="2">2</td>' in page  # clusters are counted from 1
    assert held.write(tmp_path / "again.html").read_text(encoding="utf-8") == page


def test_facts(toy):
    shown = present(toy)
    assert shown.facts.keys() == COMMON.keys() | shown.own.keys()
    assert shown.facts["notes"] == list(toy.notes)
    assert shown.facts["certainty"] == [0.9, 0.2, 1.0, None, 0.8]
    json.dumps(shown.facts, allow_nan=False)


def test_what_does_not_belong_is_refused_by_name(toy, tmp_path):
    for extra, words_ in ((3, "int"), (toy, "Toy")):
        with pytest.raises(TypeError, match=f"{words_} does not belong to the party, which takes Thermometer"):
            pt.report(toy, extra, path=tmp_path / "page.html")
    with pytest.raises(ValueError, match="Thermometer is given twice"):
        pt.report(toy, Thermometer("K"), Thermometer("K"), path=tmp_path / "page.html")
    with pytest.raises(ValueError, match="data is for estimates from draws, and this is the party"):
        pt.report(toy, data=[1, 2, 3, 4, 5], path=tmp_path / "page.html")
    with pytest.raises(ValueError, match="truth has 2 items, but the party has 5"):
        pt.report(toy, truth=[1, 2], path=tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def app():
    def run(writing: OutputOptions, stopped: bool = False) -> None:
        """Show a toy."""
        with delivering(writing) as deliver:
            deliver(present(Toy(LABELS, (20.5, 30.0), stopped), first=first_number()), facts={"more": 1}, text="Bye.")

    made = typer.Typer()
    register(made, "toy", run, writes_labels=True)
    return made


def test_command(app, tmp_path, toy):
    out = tmp_path / "run"
    told = CliRunner().invoke(app, ["--out", str(out)], terminal_width=200)
    assert told.exit_code == 0, told.output
    lines = told.stdout.splitlines()
    assert lines[0] == "Warning: The thermometer is broken: buy another."
    assert lines[1].endswith("It is warm.")
    assert lines[2] == "Note: Open a window."
    assert "Bye." in lines
    assert {path.name for path in out.iterdir()} == {"labels.csv", "heat.csv", "summary.json", "report.html"}
    with (out / "labels.csv").open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert rows[:3] == [["guest", "cluster", "certainty"], ["ann", "1", "0.9"], ["bob", "1", "0.2"]]
    assert rows[4] == ["dan", "-1", ""]
    assert (out / "heat.csv").read_text() == "cluster,degrees_celsius\n1,20.5\n2,30.0\n"
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["notes"] == list(toy.notes) == list(pt.read_report(out / "report.html").notes)
    assert summary["files"] == sorted(path.name for path in out.iterdir())
    printed = json.loads(CliRunner().invoke(app, ["--json"]).stdout)
    assert printed.items() <= summary.items()
    assert printed["labels"] == LABELS.tolist()
    again = CliRunner().invoke(app, ["--out", str(out), "--force", "--zero-based", "--format", "tsv"])
    assert again.exit_code == 0, again.output
    assert (out / "heat.tsv").read_text() == "cluster\tdegrees_celsius\n0\t20.5\n1\t30.0\n"
    (out / "mine.txt").touch()
    refused = CliRunner().invoke(app, ["--out", str(out), "--force"])
    assert refused.exit_code == 2
    assert "mine.txt" in refused.stderr


def test_an_interrupted_command_says_so(app):
    assert CliRunner().invoke(app, ["--stopped"]).exit_code == 130
