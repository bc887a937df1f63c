"""The list of the papers' tables and figures: complete, and true to the pages and results that are committed."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "reproduce"))

from frame import Page  # noqa: E402
from frame.options import Options  # noqa: E402
from frame.overview import Exhibit, Overview, Paper, write_overview  # noqa: E402
from overview import PAPERS  # noqa: E402

RESULTS, PAGES = ROOT / "reproduce" / "results", ROOT / "docs" / "reproduce"
#: Tables and figures of each paper, counted in the papers.
COUNTS = {
    "dahl_johnson_mueller": (4, 0),
    "rastelli_friel": (5, 10),
    "wade_ghahramani": (3, 19),
    "come_latouche": (0, 5),
    "wang_domeniconi_laskey": (7, 3),
}


def numbers(name):
    """Tables 3 and 4 -> 3, 4"""
    return [int(word) for word in name.replace("and", " ").split() if word.isdigit()]


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.script)
def test_every_table_and_figure_is_listed_once(paper):
    for kind, count in zip(("Table", "Figure"), COUNTS[paper.script], strict=True):
        listed = [n for exhibit in paper.exhibits if exhibit.name.startswith(kind) for n in numbers(exhibit.name)]
        assert sorted(listed) == list(range(1, count + 1))


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.script)
def test_what_is_listed_is_on_the_papers_page(paper):
    assert list(Overview(paper, RESULTS, PAGES).gaps()) == []


def test_the_committed_page_is_that_of_the_committed_results(tmp_path):
    for path in [*PAGES.glob("*.md")]:
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    write_overview(PAPERS, RESULTS, tmp_path)
    assert (tmp_path / "overview.md").read_text("utf-8") == (PAGES / "overview.md").read_text("utf-8")


@pytest.fixture
def example(tmp_path):
    page = Page("example", "An example", Options("full", tmp_path, tmp_path, tmp_path, None, "", None))
    page.section("Table 1: radius", differs="Another chain.")
    page.row("radius", 0.5, 0.5)
    page.row("clusters", 4, 5)
    page.row("ours alone", 7)
    page.section("Table 2: all is well")
    page.row("radius", 0.5, 0.5)
    page.write()
    return tmp_path


def verdict(folder, exhibit):
    overview = Overview(Paper("An example", "example", (exhibit,)), folder, folder)
    return overview.verdict(exhibit), list(overview.gaps())


def test_verdicts(example):
    assert verdict(example, Exhibit("Table 1", ("Table 1",))) == (("differs in 1 of 2 numbers", "Another chain."), [])
    assert verdict(example, Exhibit("Table 2", ("Table 2",))) == (("reproduced (1 numbers)", ""), [])
    assert verdict(example, Exhibit("Table 3", reason="Not public.")) == (("not reproducible", "Not public."), [])
    assert verdict(example, Exhibit("Table 3", reason="N.", computed=False))[0] == ("nothing to compute", "N.")


@pytest.mark.parametrize(
    ("exhibit", "gap"),
    [
        (Exhibit("Table 3"), "neither shown nor explained"),
        (Exhibit("Table 3", ("Table 3",)), "the page has no section 'Table 3'"),
        (Exhibit("Figure 1", figure="figure-01"), "the page shows no figure-01.png"),
    ],
)
def test_gaps_are_found(example, exhibit, gap):
    assert verdict(example, exhibit)[1] == [f"example, {exhibit.name}: {gap}"]
