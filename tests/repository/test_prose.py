"""Prose that people read to the end: short pages, one story of versions, and the field's words instead of ours."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Folders of docs/ that a program writes, and pages that only include a file.
LEFT_OUT = {"reproduce", "api", "gallery", "_tables", "measurements.md", "changelog.md", "security.md"}
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not LEFT_OUT & set(page.relative_to(ROOT).parts)]
TEXTS = [
    ROOT / f"{name}.md"
    for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT", "paper/paper")
]
#: Source files whose messages and docstrings users read.
SOURCES = [
    path
    for pattern in (
        "src/partita/**/*.py",
        "src/partita/**/*.html",
        "r/**/*.R*",
        "docs/extensions/*.py",
        "examples/**/*.py",
        "examples/**/*.ipynb",
    )
    for path in sorted(ROOT.glob(pattern))
]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", re.MULTILINE | re.DOTALL)

#: Words of ours, and what the field says.
DIALECT = {
    r"how sure": "uncertainty, certainty",
    r"\brivals?\b|\bpeers\b": "other methods, other software",
    r"to the letter": "exactly as published",
    r"a (row|column) a (draw|item|cluster|run)": "one row per draw",
    r"worth (few|\w+) independent": "effective sample size",
    r"\b(sets|chains|clusterings) that (cover|arrive|repeat)": "conformal sets, convergence, dependent clusterings",
    r"go(es)? in as (they|it) (are|is)": "can be passed directly",
    r"\bin doubt\b|\bdoubtful items": "uncertain",
    r"not to be had": "not available",
    r"\bproven best\b": "provably optimal",
    r"for ever\b(?!y)": "forever, without end",
    r"takes? you by the hand|without a story": "nothing",
    r"[Bb]eside (other|others|salso|greed)\b": "compared with",
    r"[Cc]heck first\b": "Warning",
    r"take (it|them) as not placed": "report as unassigned",
    r"questions that come up": "frequently asked questions",
    r"\bpairs alone are no answer|wants to be joined": "joining lowers the expected loss",
    r"plain labels have|\bdraws has no draws": "name the argument",
    r"flat in the middle is clear": "say what is clear",
    r"with other work to do|machine (that was )?(busy|loaded)|load of \d": "benchmarks/NOTES.md",
    r"tried (and not used|without gain)": "benchmarks/NOTES.md",
    r"\bdoes no harm\b": "does not matter",
    r"\b(insists?|Waverers?|Sighting)\b": "intensify, boundary item, distinct cluster",
}
#: Words that are only in the pages: code has other uses for them.
OF_PAGES = {
    r"\bhow far\b": "agreement, scaling, distance",
    r"\brefused?s?\b": "raises an error",
    r"\bthe second release|version 0\.2": "nothing has been released",
    r"nothing to do:": "handled automatically",
    r"as long as the ICL says": "as the ICL increases",
    r"\bnow and then\b": "sometimes, at random",
    r"\bnext to no\b": "hardly any",
    r"\bwhat the (data|draws|page) (knows?|says?)\b": "name the quantity",
    r"\ball the same\b": "nevertheless",
    r"\btells? \w+ apart\b|\btold apart\b": "distinguish",
    r"\bgo(es)? on\b": "continue",
    r", too[.,;:)]|(?<!far) too[.;:)]": "also, before the verb",
    r"\bbesides\b": "in addition",
    r"\bstrangers?\b": "unrelated records",
    r"\b(of|from) (ours|yours|theirs)\b": "our, your, their",
    r"\bwith gaps\b(?! of)": "with missing labels",
    r"worth (about )?[\d{]\S* independent": "effective number",
    r"\bhonest(ly)?\b": "nothing: a statement is true or left out",
    r"\bat once, (in|with)\b|\bword for word\b": "together; literally",
    r"\bdoubtful (galax\w+|cells?|pairs?|documents?|records?)": "uncertain",
}
#: British in prose; names in code are American.
AMERICAN = {
    r"\b\w*(?:[cC]olor|[bB]ehavior|[nN]eighbor|[fF]avor|[cC]enter)\w*": "our, centre",
    r"\b(?!conformalized|undersized)\w*(?:analyz|[a-z]{4}iz)(?:e[sdr]?|ing|ations?)\b": "-ise",
    r"\b(?:model|label|travel|cancel)(?:ed|ing)\b|\bgray\b|\bfulfill\w*|\bcatalog\b": "modelled, grey",
}


def prose(path: Path) -> str:
    return CODE.sub(" ", path.read_text(encoding="utf-8")) if path.suffix == ".md" else path.read_text(encoding="utf-8")


def found(path: Path, words: dict[str, str]) -> list[str]:
    return [f"{path.name}: {hit}" for hit in hits(prose(path), words)]


def hits(text: str, words: dict[str, str]) -> list[str]:
    text = re.sub(r"\s+", " ", text)
    return [
        f"...{text[max(0, match.start() - 40) : match.end() + 40]}... ({better})"
        for word, better in words.items()
        for match in re.finditer(word, text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_pages_have_at_most_two_thousand_words(page):
    assert len(page.read_text(encoding="utf-8").split()) <= 2000


def test_readme_and_changelog_are_short_and_tell_one_story():
    readme, changelog = (ROOT / "README.md").read_text("utf-8"), (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 90
    assert len(changelog.splitlines()) <= 90
    assert re.findall(r"^## (.+)$", changelog, re.MULTILINE) == ["0.1.0 (unreleased)"]


def test_readme_has_the_demo_and_the_test_command_that_ci_runs_first():
    readme, ci = (ROOT / "README.md").read_text("utf-8"), (ROOT / ".ci" / "run").read_text("utf-8")
    assert "`make demo`" in readme
    assert "`make test` runs the test suite" in readme
    assert next(line for line in ci.splitlines() if line.startswith("make ")) == "make test"


@pytest.mark.parametrize("path", [*TEXTS, *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_use_the_words_of_the_field(path):
    titles = path.name == "references.md"
    assert found(path, DIALECT | OF_PAGES | ({} if titles else AMERICAN)) == []


def test_messages_and_docstrings_use_the_words_of_the_field():
    assert [hit for path in SOURCES for hit in found(path, DIALECT)] == []


@pytest.mark.parametrize(
    ("planted", "better"),
    [
        ("The page says how\nsure the clusters are.", "uncertainty, certainty"),
        ("Our rivals go in as they are.", "other methods, other software; can be passed directly"),
        ("# Chains that arrive", "conformal sets, convergence, dependent clusterings"),
        ("The edges are read, too.", "also, before the verb"),
        ("columns that tell clusters apart", "distinguish"),
        ("It goes on after a crash.", "continue"),
        ("## How sure", "uncertainty, certainty"),
        ("We minimize the loss by its center.", "our, centre; -ise"),
        ("a modeled column", "modelled, grey"),
        ("the size of a cluster, modelled well, is analysed", ""),
    ],
)
def test_the_dialect_is_seen(planted, better):
    """The oracle can fail."""
    assert [hit.rsplit("(", 1)[1][:-1] for hit in hits(planted, DIALECT | OF_PAGES | AMERICAN)] == [
        word for word in better.split("; ") if word
    ]


#: A citation: the first author, and the year.
NAME = r"[A-Z][a-zà-ÿ]+"
CITED = re.compile(rf"({NAME})(?:(?:, {NAME})*,? (?:&|and) {NAME}| et al\.)?,? \(?((?:19|20)\d\d)\b")
MONTHS = {"January", "February", "March", "June", "October", "November", "Python"}


def uncited(text: str, references: str) -> set[tuple[str, str]]:
    """The works that a text cites and the references lack."""
    listed = {
        (re.search(r"[A-Z]\w+", entry)[0], year)
        for entry, year in re.findall(r"^- (.+?) \((\d{4})\)\.", references, re.M)
    }
    return {work for work in CITED.findall(re.sub(r"\s+", " ", text)) if work[0] not in MONTHS} - listed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_what_pages_cite_is_in_the_references(page):
    references = (ROOT / "docs" / "references.md").read_text("utf-8")
    assert page.name in ("references.md", "alternatives.md") or uncited(prose(page), references) == set()


def test_a_missing_reference_is_seen():
    listed = "- ★ Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis."
    assert uncited("Wade & Ghahramani (2018), Nobody et\nal. (2001)", listed) == {("Nobody", "2001")}


def test_code_is_no_prose():
    (hit,) = found(ROOT / "docs" / "start.md", {r"# Quick start": "anything", r"pip install '": "in a block of code"})
    assert hit.startswith("start.md: ...# Quick start You have")
