"""The guides are true: their blocks, applied to a copy of the repository, give a loss and a model that work."""

import os
import re
import shutil
import sys
import sysconfig
import venv
from pathlib import Path
from typing import get_type_hints

import pytest
from sessions import find_blocks

import partita as pt
from partita import _core
from partita.cli.options import SearchOptions
from partita.losses.losses import LOSSES
from support import forks
from support import reference as ref

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "develop"
WATCHDOG = 3600


# --- following a guide ------------------------------------------------------------------------------------------------


def apply_diff(diff: str, folder: Path) -> None:
    """Applies a block `--- file`, hunks separated by `@@`; what a hunk takes as given must stand there exactly once."""
    header, _, body = diff.partition("\n")
    path = folder / header.removeprefix("--- ")
    text = path.read_text(encoding="utf-8")
    for hunk in body.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(before) == 1, f"{header}: {text.count(before)} places have\n{before}"
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


def follow(guide: str, folder: Path) -> None:
    for block in find_blocks((GUIDES / guide).read_text(encoding="utf-8")):
        if block.language == "diff":
            apply_diff(block.code, folder)


def copy_repository(folder: Path) -> Path:
    """The files that git knows, as they are in the working tree."""
    names = run(["git", "ls-files", "-z"], ROOT)
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture
def copy(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: git does not know which files belong to the repository")
    return copy_repository(tmp_path / "partita")


def python_for(copy: Path) -> Path:
    """A Python that imports the package from the copy, and all else from here.

    A path in a .pth file is not searched for .pth files: the editable install of this checkout stays out of it.
    """
    home = copy / "build" / "venv"
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    purelib = sysconfig.get_path("purelib", "venv", {"base": str(home), "platbase": str(home)})
    packages = [entry for entry in sys.path if entry.endswith("site-packages")]
    (Path(purelib) / "copy.pth").write_text("\n".join([str(copy / "src"), *packages]) + "\n")
    return python


def build_core(copy: Path) -> None:
    build, nanobind = (
        copy / "build" / "core",
        run([sys.executable, "-m", "nanobind", "--cmake_dir"], ROOT),
    )
    cmake = Path(sys.executable).with_name("cmake")
    ninja = Path(sys.executable).with_name("ninja")
    configure = [cmake, "-S", copy, "-B", build, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind.strip()}"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    run(configure, copy)
    run([cmake, "--build", build, "--target", "_core"], copy)
    (extension,) = build.glob("_core*.so")
    shutil.copy2(extension, copy / "src" / "partita")


def run(command, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = forks.command(*map(str, command), cwd=folder, timeout=WATCHDOG, env=environment)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def pieces(guide: str, heading: str) -> str:
    """The Python blocks of one section of a guide, in order."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", (GUIDES / guide).read_text(), re.MULTILINE | re.DOTALL)
    return "\n\n".join(block.code for block in find_blocks(section) if block.language == "python")


def test_a_hunk_that_does_not_fit_is_seen(tmp_path):
    (tmp_path / "file").write_text("one\ntwo\ntwo\n")
    apply_diff("--- file\n one\n+more\n", tmp_path)
    assert (tmp_path / "file").read_text() == "one\nmore\ntwo\ntwo\n"
    for missing_or_twice in ("three", "two"):
        with pytest.raises(AssertionError, match="places have"):
            apply_diff(f"--- file\n {missing_or_twice}\n+more\n", tmp_path)


# --- add a loss -------------------------------------------------------------------------------------------------------

NEW_LOSS = """
import partita as pt
draws = pt.datasets.make_draws(20, 60, n_clusters=3, rng=1)
best = pt.estimate(draws, "jaccard", rng=1)
assert best.loss == pt.Jaccard()
assert best.expected_loss <= pt.expected_loss(draws, draws, "jaccard").min()
assert 0 < best.bound(1).value <= best.expected_loss
assert pt.compare_partitions(draws[0], best.labels)["jaccard"] == pt.partition_loss(draws[0], best.labels, "jaccard")
pt.report(best, path="report.html")
assert "Jaccard distance of pairs" in open("report.html").read()
"""


@pytest.mark.slow
def test_a_loss_added_by_the_guide_is_searched_bounded_and_tested(copy):
    follow("add_a_loss.md", copy)
    build_core(copy)
    python = python_for(copy)
    assert Path(run([python, "-c", "import partita; print(partita.__file__)"], copy).strip()).is_relative_to(copy)
    run([python, "-c", NEW_LOSS], copy)
    suite = ["tests/losses/test_losses.py", "tests/estimation/test_estimate.py", "tests/search", "tests/uncertainty"]
    suite.append("src/partita/losses.py")  # its docstring
    said = run([python, "-m", "pytest", "-v", "-m", "not slow", "-p", "no:cacheprovider", *suite], copy)
    new = {
        re.match(r"\S+?\.py", line)[0] for line in said.splitlines() if "jaccard" in line.lower() and "PASSED" in line
    }
    assert {"tests/losses/test_losses.py", "tests/estimation/test_estimate.py", "src/partita/losses.py"} <= new
    assert {"tests/search/test_search_state.py", "tests/search/test_search_reference.py"} <= new
    assert {"tests/uncertainty/test_bounds.py", "tests/uncertainty/test_credible_ball.py"} <= new
    run(
        [python, "-m", "pytest", "-q", "tests/repository/test_guides.py", "-k", "registry", "-p", "no:cacheprovider"],
        copy,
    )


def test_the_diffs_of_the_guide_fit(copy):
    """Quick: every hunk finds its place, and the files it changes are the ones that the guide promises."""
    follow("add_a_loss.md", copy)
    guide = (GUIDES / "add_a_loss.md").read_text(encoding="utf-8")
    files = re.findall(r"^--- (\S+)$", guide, re.MULTILINE)
    assert len(files) == len(set(files)) == 6
    assert "Six files" in guide
    for name in files:
        assert "accard" in (copy / name).read_text(encoding="utf-8")


# --- every list of losses agrees with the registry --------------------------------------------------------------------


def test_the_registry_and_the_plain_formulas():
    assert list(LOSSES) == list(ref.LOSSES)
    assert all(name == kind.name and kind.words and kind.__doc__ for name, kind in LOSSES.items())


def test_the_registry_and_the_core():
    for kind in LOSSES.values():
        assert isinstance(kind()._native(3), _core.Loss)
    with pytest.raises(ValueError, match="no loss without weights named 'vi'"):
        _core.Loss.plain("vi")


def test_the_registry_and_the_public_names():
    names = {kind.__name__ for kind in LOSSES.values()}
    assert names <= set(pt.__all__)
    typed = (ROOT / "src" / "partita" / "__init__.pyi").read_text(encoding="utf-8")
    assert names <= set(re.findall(r"^from partita\.losses\.losses import (\w+) as \1$", typed, re.MULTILINE))


def test_the_registry_and_the_help_of_the_command():
    (told,) = get_type_hints(SearchOptions, include_extras=True)["loss"].__metadata__
    assert set(re.split(r", | or |\.", told)) - {""} == set(LOSSES)


def test_no_other_list_names_every_loss():
    """A list that is written by hand goes stale: all but the places of the guide read the registry."""
    places = set(re.findall(r"^--- (\S+)$", (GUIDES / "add_a_loss.md").read_text(encoding="utf-8"), re.MULTILINE))
    # One falls back to the plain formula; the others list what another program can do.
    places |= {
        "tests/support/enumerated.py",
        "tests/search/test_search_is_best.py",
        "benchmarks/search.py",
        "docs/from_salso.md",
        "docs/develop/add_a_loss.md",
        "tests/repository/test_guides.py",
    }
    quoted = re.compile(r"""(?:["'](?:vi|binder|nvi|id|nid|omari|zero-one)["'][^"'\n]{0,40}\n?\s*){6}""")

    def has_list(text: str) -> bool:
        return bool(quoted.search(text)) or "nid, omari" in text

    found = {
        str(path.relative_to(ROOT))
        for folder in ("src", "tests", "fuzz", "tools", "benchmarks", "docs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md") and has_list(path.read_text(encoding="utf-8"))
    }
    assert found <= places


# --- add a model ------------------------------------------------------------------------------------------------------

MODEL_SECTIONS = ("The state", "The sampler", "The model")


def with_model(copy: Path) -> Path:
    """The guide's model as a module of the package in the copy; the core is the one that is installed."""
    shutil.copy2(_core.__file__, copy / "src" / "partita")
    code = "\n\n".join(pieces("add_a_model.md", section) for section in MODEL_SECTIONS)
    (copy / "src" / "partita" / "models" / "poisson_mixture.py").write_text(code, encoding="utf-8")
    follow("add_a_model.md", copy)
    return python_for(copy)


IMPORTS = """
import numpy as np
import partita as pt
from partita.models import PoissonMixture
from partita.models.poisson_mixture import PoissonState
"""


def exactness() -> str:
    return pieces("add_a_model.md", "The test that matters")


def test_a_model_added_by_the_guide_draws_from_the_exact_posterior(copy):
    python = with_model(copy)
    said = run([python, "-c", IMPORTS + pieces("add_a_model.md", "Try it") + exactness()], copy)
    assert "52 partitions" in said


def test_a_run_of_the_new_model_is_resumed_by_a_fresh_process(copy):
    python = with_model(copy)
    run([python, "-c", IMPORTS + pieces("add_a_model.md", "Try it")], copy)
    assert (
        run([python, "-c", "import partita; print(partita.resume('counts.partita').labels.shape)"], copy)
        == "(2, 200, 30)\n"
    )


def test_the_fault_that_the_guide_names_is_seen(copy):
    python = with_model(copy)
    module = copy / "src" / "partita" / "models" / "poisson_mixture.py"
    sound = module.read_text(encoding="utf-8")
    module.write_text(sound.replace("= np.log(self.alpha)\n", "= 0.0\n"), encoding="utf-8")
    assert module.read_text(encoding="utf-8") != sound
    with pytest.raises(AssertionError, match="AssertionError"):
        run([python, "-c", IMPORTS + exactness()], copy)


@pytest.mark.slow
def test_with_the_new_model_the_suite_of_the_models_passes(copy):
    python = with_model(copy)
    build_core(copy)
    run([python, "-c", IMPORTS + pieces("add_a_model.md", "Try it") + exactness()], copy)
    suite = ["tests/models/test_runs.py", "tests/models/test_chain_names.py", "tests/models/test_mixture_exact.py"]
    run([python, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *suite], copy)
