"""Facts that are written in two places agree."""

import re
import tomllib
from pathlib import Path

import version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_written_once():
    """tools/version.py copies it from pyproject.toml to the files that repeat it."""
    assert version.update(write=False) == []
    assert version.version() == PROJECT["project"]["version"]


def test_wheels_are_built_for_the_versions_that_are_announced():
    """One for each version before the stable ABI, one by the stable ABI, and a free-threaded one of the newest."""
    announced = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    tags = [f"cp{version.replace('.', '')}" for version in announced]
    stable = PROJECT["tool"]["scikit-build"]["wheel"]["py-api"]
    wanted = [*tags[: tags.index(stable)], stable, f"{tags[-1]}t"]
    assert PROJECT["tool"]["cibuildwheel"]["build"] == " ".join(f"{tag}-*" for tag in wanted)
    assert PROJECT["project"]["requires-python"] == f">={announced[0]}"


def test_all_is_the_union_of_the_extras_that_can_be_installed_everywhere():
    """Mt-KaHyPar has no wheels for some systems, and is not built from source by pip."""
    extras = PROJECT["project"]["optional-dependencies"]
    assert extras["all"] == [f"partita[{','.join(name for name in extras if name not in ('all', 'hgpa'))}]"]


def test_every_extra_is_checked():
    source = (ROOT / "tools" / "check_extras.py").read_text(encoding="utf-8")
    for extra in PROJECT["project"]["optional-dependencies"]:
        assert f'"{extra}"' in source, f"tools/check_extras.py does not use the extra {extra}"


def test_every_action_is_pinned_by_commit():
    workflows = (ROOT / ".github" / "workflows").glob("*.yml")
    used = [line for path in workflows for line in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))]
    assert used
    for line in used:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}  # v[\d.]+", line), line


def test_the_recipe_has_the_requirements():
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    extras = PROJECT["project"]["optional-dependencies"].items()
    of_extras = [one for name, needed in extras if name != "hgpa" for one in needed if not one.startswith("partita[")]
    for requirement in [*PROJECT["project"]["dependencies"], *of_extras]:
        name, _, least = requirement.partition(">=")
        name = {"matplotlib": "matplotlib-base", "dask": "dask-core"}.get(name, name)  # what conda-forge calls them
        assert re.search(rf"^ +- {name} >={re.escape(least)}$", recipe, flags=re.MULTILINE), requirement


def test_the_paper_cites_only_what_its_bibliography_has():
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    known = set(
        re.findall(r"^@\w+\{([\w-]+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(re.findall(r"(?<![\w.])@([a-z][\w-]+)", paper.split("---", 2)[2])) == known


def test_licences_of_what_is_compiled_in_are_shipped():
    """nanobind and the robin_map in it are linked into the extension; both licences ask for their text."""
    assert PROJECT["project"]["license-files"] == ["LICENSE", "licenses/*.txt"]
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "licenses").glob("*.txt"))]
    assert ["Wenzel Jakob" in texts[0], "Thibaut Goetghebuer-Planchon" in texts[1]] == [True, True]


def test_every_function_of_the_r_package_has_a_help_page():
    exported = re.findall(r"[\w.]+", " ".join(re.findall(r"^export\((.+)\)$", _read("r/NAMESPACE"), re.MULTILINE)))
    pages = [page.read_text("utf-8") for page in (ROOT / "r" / "man").glob("*.Rd")]
    assert set(exported) <= {name for page in pages for name in re.findall(r"\\alias\{(.+?)\}", page)}
    usages = " ".join(page.split(r"\usage{")[1] for page in pages)
    for name in exported:
        assert f"{name}(" in usages, name


def test_help_pages_of_r_are_balanced():
    for page in (ROOT / "r" / "man").glob("*.Rd"):
        text = page.read_text("utf-8")
        assert text.count("{") == text.count("}"), page.name


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")
