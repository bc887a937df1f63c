"""The scripts that run the papers' analyses again: each in its smallest size, and the quick ones where time allows."""

import csv
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support import forks

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path.name for path in (ROOT / "reproduce").glob("*.py"))
FRAMED = [name for name in SCRIPTS if "frame.Page(" in (ROOT / "reproduce" / name).read_text(encoding="utf-8")]
sys.path.insert(0, str(ROOT / "reproduce"))

from frame import Page, differ  # noqa: E402
from frame.options import Options, _without_folders  # noqa: E402


def options(folder, size="full"):
    return Options(size, folder / "data", folder / "draws", folder / "out", None, "python reproduce/x.py", None)


@pytest.fixture
def run(pytestconfig):
    """Runs a script; a warning is an error, unless the tests ignore it as well."""
    filters = [f"-W{rule}" for rule in ("error", *(pytestconfig.getoption("pythonwarnings") or ()))]

    def run(name, folder, *arguments):
        command = [sys.executable, *filters, str(ROOT / "reproduce" / name), *arguments, "--out", str(folder)]
        finished = forks.command(*command, timeout=None)
        assert finished.returncode == 0, finished.stderr
        (page,), (table,) = folder.glob("*.md"), folder.glob("*.csv")
        return page, read(table)

    return run


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


SMALLEST = "come_latouche.py"  # takes least time


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n == SMALLEST else pytest.mark.slow) for n in FRAMED])
def test_smallest_size(run, name, tmp_path):
    page, rows = run(name, tmp_path, "--smoke")
    assert rows
    for figure in tmp_path.rglob("*.png"):
        assert f"]({figure.relative_to(tmp_path).as_posix()})" in page.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rastelli_friel.py", "wade_ghahramani.py"])
def test_without_data(run, name, tmp_path):
    page, _ = run(name, tmp_path, "--smoke", "--data", str(tmp_path / "none"), "--draws", str(tmp_path / "none"))
    assert "Left out: the data folder (`--data`) has no" in page.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMED)
def test_quick_size(run, name, tmp_path):
    assert run(name, tmp_path, "--quick")[1]


@pytest.mark.parametrize(
    ("ours", "paper", "error", "expected"),
    [
        (0.0624, 0.062, None, False),
        (0.0626, 0.062, None, True),
        (0.0626, 0.062, 0.001, False),
        (4, 4, None, False),
        (4, 5, None, True),
        (4, 5, 0.5, False),
        (4.0, None, None, False),
        ("8, 11", "8, 11", None, False),
        (float("nan"), 1.0, None, True),
    ],
)
def test_when_numbers_differ(ours, paper, error, expected):
    assert differ(ours, paper, error, decimals=3) is expected


def test_page(tmp_path, capsys):
    page = Page("example", "An example", options(tmp_path))
    page.section("Long", "Text.", differs="It is ours.")
    page.row("radius", 0.5, 0.5)
    page.row("clusters", 4, 5)
    page.section("Wide", decimals=1)
    page.row("VI", 1.25, 1.9, 0.04, column="n = 40", differs="Another chain.")
    page.write()
    text = (tmp_path / "out" / "example.md").read_text(encoding="utf-8")
    assert "| clusters | 4 |  | 5 | It is ours. |" in text
    assert "| radius | 0.500 |  | 0.500 |  |" in text
    assert "| VI | 1.2 ± 0.0 (1.9) |" in text
    assert "- VI, n = 40: Another chain." in text
    row = read(tmp_path / "out" / "example.csv")[1]
    date, machine, command = row.pop("made").split("; ")
    assert date == datetime.now(UTC).date().isoformat()
    assert "cores" in machine
    assert command == options(tmp_path).command
    assert row == {
        "section": "Long",
        "quantity": "clusters",
        "column": "",
        "ours": "4",
        "error": "",
        "paper": "5",
        "note": "It is ours.",
    }


def test_sections_that_are_not_run_again_stay_as_they_are(tmp_path):
    page = Page("example", "An example", options(tmp_path))
    for title in ("One: a table", "One: another", "Two"):
        page.section(title, "Text.", differs="It is ours.")
        page.row("radius", 1.5, 1.0, 0.1)
        page.text("Below.")
    page.write()
    before = (tmp_path / "out" / "example.md").read_text(encoding="utf-8").split("\n\n## ")
    rows_before = read(tmp_path / "out" / "example.csv")

    page = Page("example", "An example", options(tmp_path))
    page.as_before("One")
    page.section("Two", "Text.", differs="It is ours.")
    page.row("radius", 2.5, 1.0, 0.1)
    page.write()
    after = (tmp_path / "out" / "example.md").read_text(encoding="utf-8").split("\n\n## ")
    rows_after = read(tmp_path / "out" / "example.csv")
    assert "2 of 3 sections are as an earlier run left them." in after[0]
    assert after[1:3] == before[1:3]
    assert rows_after[:2] == rows_before[:2]
    assert "| radius | 2.500 |" in after[3]
    assert rows_after[2]["ours"] == "2.5"


def test_a_full_run_needs_a_sentence_where_numbers_differ(tmp_path):
    for size in ("quick", "full"):
        page = Page("example", "An example", options(tmp_path, size))
        page.section("Table")
        page.row("clusters", 4, 5)
        if size == "quick":
            page.write()
        else:
            with pytest.raises(SystemExit, match="Table: clusters"):
                page.write()


def test_the_command_shows_no_folder():
    given = ["--graphs", "3", "--data", "/there", "--out=/here", "--quick", "--keep", "x"]
    assert _without_folders(given) == ["--graphs", "3", "--quick"]


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "reproduce").rglob("*.png")), ids=lambda path: path.name)
def test_committed_figures_are_small_and_shown(path):
    assert path.stat().st_size <= 100_000
    page = (ROOT / "docs" / "reproduce" / f"{path.parent.name}.md").read_text(encoding="utf-8")
    assert f"{path.parent.name}/{path.name}" in page
