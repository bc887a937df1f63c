"""The documentation is true: its code runs, its outputs are as printed, its links lead somewhere."""

import json
import re
import runpy
import shlex
from contextlib import chdir
from itertools import pairwise
from pathlib import Path

import pytest
import reference
from listed_names import split_names
from sessions import FENCE, Session, UnexpectedWarning, find_blocks, find_commands, make_files
from tables import CONTENTS
from typer.main import get_command
from typer.testing import CliRunner

import partita as pt
from partita.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BUILT = {"api", "gallery", "_tables"}  # folders of docs/ that a build writes
SOURCES = [page for page in PAGES if not BUILT & set(page.relative_to(ROOT).parts)]
#: Pages whose code takes longer than a second: `make docs` runs it too, and `make test-all`.
SLOW = {
    "docs/develop/add_a_model.md",
    "docs/ensembles.md",
    "docs/guide/data.md",
    "docs/guide/ensembles.md",
    "docs/guide/how_sure.md",
    "docs/guide/large_data.md",
    "docs/guide/networks.md",
    "docs/guide/settled.md",
    "docs/guide/single_cells.md",
    "docs/guide/stable_topics.md",
    "docs/guide/which_loss.md",
}
#: Pages at the root of the repository that pages of docs/ include.
INCLUDED = [ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md", ROOT / "benchmarks" / "NOTES.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path):
    make_files(tmp_path)
    return tmp_path


def test_slow_pages_are_there():
    assert {name_of(page) for page in SOURCES} >= SLOW


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if name_of(page) in SLOW else ()) for page in SOURCES],
    ids=name_of,
)
def test_code_blocks_run(page, tmp_path):
    """In an empty folder: a reader has no files but those that a page makes."""
    import matplotlib.pyplot as plt

    text = page.read_text(encoding="utf-8")
    session = Session(name_of(page), tmp_path)
    blocks = find_blocks(text)
    for block, following in pairwise([*blocks, None]):
        if block.language == "python" and not block.runs:
            compile(block.code, session.page, "exec")
        if not block.runs:
            continue
        printed = session.run(block).text
        if following and not following.language and not text[block.end : following.start].strip():
            assert printed == following.code, f"{session.page}, line {following.line}: the output is another"
    plt.close("all")


def words_of(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def answer_of_the_picture() -> str:
    """What the report in the picture of README.md says; tools/picture.py stores it."""
    from PIL import Image

    with Image.open(ROOT / "docs" / "images" / "report.png") as picture:
        return words_of(picture.text["answer"])


def test_the_picture_is_of_the_report_that_the_command_line_page_shows():
    assert answer_of_the_picture() in words_of((ROOT / "docs" / "cli.md").read_text("utf-8"))


@pytest.mark.slow
def test_the_picture_is_of_the_demo(tmp_path):
    CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo"), "--quiet"], catch_exceptions=False)
    assert words_of(pt.read_report(tmp_path / "demo" / "report.html").answer) == answer_of_the_picture()


@pytest.mark.slow
@pytest.mark.filterwarnings("error::partita.estimation.convergence.MixingWarning")
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda path: path.stem)
def test_examples_have_chains_that_mix(example):
    import matplotlib.pyplot as plt

    runpy.run_path(str(example))
    plt.close("all")


def commands_of(page: Path) -> list[str]:
    return [command for block in find_blocks(page.read_text(encoding="utf-8")) for command in find_commands(block)]


@pytest.mark.parametrize("page", [page for page in SOURCES if commands_of(page)], ids=name_of)
def test_commands_run(page, folder):
    for command in commands_of(page):
        words = shlex.split(command)[1:]
        if words and words[0] in ("demo", "--install-completion"):
            continue  # the demo is tested by itself
        with chdir(folder):
            done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, f"{command}\n{done.output}"


@pytest.mark.parametrize("page", [*SOURCES, *INCLUDED], ids=name_of)
def test_links_resolve(page):
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    text = re.sub(r"^    .*$", "", prose, flags=re.MULTILINE)  # formulas are indented
    for link in LINK.findall(text):
        target, _, anchor = link.partition("#")
        if "://" in target or link.startswith("mailto:"):
            continue
        if BUILT & set(target.split("/")):
            continue  # Sphinx checks these
        path = page.parent / target if target else page
        assert path.exists(), f"{name_of(page)} links to {link}"
        if anchor:
            assert anchor in _anchors(path), f"{name_of(page)} links to {link}"


#: Options of other programs that pages name.
OTHERS = {
    "--defaults",
    "--parts",
    "--disable-gil",
    "--strict",
    "--repo",
    "--seed",
    "--seconds",
    "--cases",
    "--save",
    "--help",
}


def options_of(command) -> set[str]:
    """All options of a command and of those below it."""
    below = getattr(command, "commands", {}).values()
    own = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    return own.union(*map(options_of, below))


@pytest.mark.parametrize(
    "page", [page for page in [*SOURCES, *INCLUDED] if not {"reproduce", "benchmarks"} & set(page.parts)], ids=name_of
)
def test_options_that_pages_name_exist(page):
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page.read_text(encoding="utf-8")))
    assert named - OTHERS <= options_of(get_command(app))


#: Files that a guide tells readers to write.
WRITTEN = {"src/partita/models/poisson_mixture.py"}


@pytest.mark.parametrize("page", [*SOURCES, *INCLUDED[:-1]], ids=name_of)
def test_files_that_pages_name_are_there(page):
    """Paths in backticks, from the root or from src/partita."""
    named = re.findall(r"`([a-z_]+/[\w/]+\.(?:py|hpp|cpp|md|toml|yml|yaml))`", page.read_text(encoding="utf-8"))
    gone = [path for path in named if not any((root / path).exists() for root in (ROOT, ROOT / "src/partita"))]
    assert set(gone) <= WRITTEN, f"{name_of(page)} names {gone}"


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [page for page in SOURCES if page.is_relative_to(ROOT / "docs")], ids=name_of)
def test_no_output_is_shown_twice(page):
    """Sphinx puts the output of a block below it: what is written by hand would follow as a second copy."""
    text = page.read_text(encoding="utf-8")
    for block, following in pairwise(find_blocks(text)):
        beside = not following.language and not text[block.end : following.start].strip()
        assert not (block.runs and beside), f"{name_of(page)}, line {following.line}"


def test_names_that_are_documented_together_have_an_entry_each():
    entry = ["labels_, bound_ : (n,) array, float", "    What was found.", "other : int", "    More."]
    assert split_names(["Attributes", "----------", *entry]) == [
        *("Attributes", "----------"),
        *("labels_ : (n,) array", "    What was found.", "bound_ : float", "    What was found."),
        *("other : int", "    More."),
    ]
    assert split_names(entry) == entry  # outside of these sections nothing changes


def test_every_public_name_is_in_the_reference_by_its_task(monkeypatch):
    """A name under no heading, or under two, ends the build of the documentation."""
    page = reference.names_of_page()
    assert set(page) == set(reference.INTRODUCTIONS)
    assert "partita.estimate" in page["From draws to an estimate"]
    monkeypatch.setitem(reference.GROUPS, "Reports", "report read_report estimate")
    with pytest.raises(ValueError, match=r"every public name once: \['ReportData', 'estimate'\]"):
        reference.names_of_page()


def test_every_page_is_in_a_table_of_contents():
    """A page that no toctree names is built, and never found."""
    named = {page.resolve() for pattern in CONTENTS.values() for page in (ROOT / "docs").glob(pattern)}
    for page in SOURCES:
        for block in find_blocks(page.read_text(encoding="utf-8")):
            if block.language == "{toctree}":
                named |= {
                    found.resolve()
                    for line in block.code.splitlines()
                    if line and not line.startswith(":")
                    for found in page.parent.glob(f"{line.split('<')[-1].rstrip('>')}.md")
                }
    docs = {page.resolve() for page in SOURCES if page.is_relative_to(ROOT / "docs")}
    assert docs - named == {(ROOT / "docs" / "index.md").resolve()}


def test_the_formats_page_shows_the_version_that_is_written(tmp_path):
    pt.as_sample([[0, 1]]).save(tmp_path / "sample")
    written = json.loads((tmp_path / "sample" / "sample.json").read_text(encoding="utf-8"))["body"]
    shown = re.findall(
        r'"(version|oldest_reader|library)": ("?[\d.]+"?)', (ROOT / "docs/formats.md").read_text("utf-8")
    )
    assert {(name, json.dumps(written[name])) for name, _ in shown[:3]} == set(shown[:3])


def test_no_page_hides_one_of_sphinx():
    """Sphinx writes search.html and genindex.html itself, over a page of that name."""
    taken = {"search.md", "genindex.md", "py-modindex.md"}
    assert not [page for page in (ROOT / "docs").iterdir() if page.name in taken]


@pytest.mark.parametrize(
    ("mark", "code", "fails"),
    [("", "warnings.warn('poor')", True), (" warns", "warnings.warn('poor')", False), (" warns", "pass", True)],
)
def test_a_page_shows_its_warnings_and_marks_them(folder, mark, code, fails):
    block = find_blocks(f"```python{mark}\nimport sys, warnings\n{code}\nprint('beside', file=sys.stderr)\n```\n")[0]
    session = Session("page", folder)
    if fails:
        with pytest.raises(UnexpectedWarning, match=r"page, line 1: (UserWarning: poor|marked)"):
            session.run(block)
    else:
        assert session.run(block).text == "UserWarning: poor\nbeside\n"


#: One spelling each, in code and documentation: years and titles of the journals, and what ICL stands for.
ONE_NAME = {
    r"Dahl, Johnson (?:&|and) M(?:ü|ue)ller[^|\n]{0,3}\b(20\d\d)": {"2022"},
    r"Wade (?:&|and) Ghahramani[^|\n]{0,3}\b(20\d\d)": {"2018"},
    r"stochastic block models (\w+ \w+) the exact integrated": {"based on"},
    r"(?i)\bintegrated\s+(complete-data|completed|classification)\s+(?:log\s+)?likelihood": {"complete-data"},
}


@pytest.mark.parametrize("pattern", ONE_NAME)
def test_papers_and_terms_have_one_name(pattern):
    folders = ("src", "cpp", "docs", "reproduce", "r", "paper")
    files = [
        path
        for folder in folders
        for ext in ("py", "hpp", "cpp", "md", "Rd")
        for path in (ROOT / folder).rglob(f"*.{ext}")
    ]
    found = {
        (path.name, name)
        for path in [ROOT / "README.md", ROOT / "CITATION.cff", *files]
        for name in re.findall(pattern, re.sub(r"\s+", " ", path.read_text(encoding="utf-8")))
    }
    assert found
    assert {(path, name) for path, name in found if name.lower() not in ONE_NAME[pattern]} == set()


def test_a_wrong_block_is_seen(folder):
    """The oracle can fail: an error, a changed output and a command that is no command."""
    block = find_blocks("```python\n1 / 0\n```\n")[0]
    with pytest.raises(ZeroDivisionError):
        Session("page", folder).run(block)
    assert Session("page", folder).run(find_blocks("text\n\n```python\nx = 2\nx + 1\n```\n")[0]).text == "3\n"
    console = find_blocks("```console\n$ partita ball draws.csv | jq .radius\nradius 2\n$ ls\n```\n")[0]
    assert find_commands(console) == ["partita ball draws.csv"]
