"""The fuzzer: it repeats and shrinks what it finds, sees crashes, hangs and wrong answers, and findings stay fixed."""

import os
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from fuzz import execution
from fuzz.choices import Choices, choices_of
from fuzz.shrink import shrink
from fuzz.targets import TARGETS
from fuzz.workers import Pool

import partita as pt
from partita._support.settings import SettingsGroup
from support import forks

ROOT = Path(__file__).parents[2]
FOUND = sorted((ROOT / "tests" / "regressions").glob("*.case"))
#: Modules, containers of results and abstract bases, which other functions make or use; Dask is tested apart.
NOT_CALLED = {
    "agreement", "datasets", "distributed", "ensembles", "io", "losses", "models", "partitions", "plots", "sample",
    "search", "uncertainty", "Loss", "MixingWarning", "lower_bound",
    *(kind.__name__ for kind in pt.losses.LOSSES.values() if not fields(kind)),
}  # fmt: skip


def is_result(kind):
    """Whether users are given objects of this class, and make none."""
    return isinstance(kind, type) and hasattr(kind, "_repr_html_")


def outcome_of(script, seconds=20):
    """The outcome of one script in a child process."""
    (result,) = Pool(lambda index: ("test", script), 1, 1, seconds).run(0, 1)
    return result.outcome


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_was_found_stays_fixed(path):
    outcome = outcome_of(path.read_text(encoding="utf-8"))
    assert not outcome.is_finding, outcome


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_writes_the_same_script_again(name):
    first = choices_of(7, 3)
    script = TARGETS[name].write(first)
    assert TARGETS[name].write(Choices(given=first.taken)) == script
    compile(script, "<case>", "exec")


def _groups_settings(kind):
    return isinstance(kind, type) and issubclass(kind, SettingsGroup)


def test_every_public_function_is_attacked():
    scripts = "".join(target.write(choices_of(1, index)) for target in TARGETS.values() for index in range(150))
    attacked = {name for name in pt.__all__ if f"pt.{name}" in scripts or is_result(getattr(pt, name))}
    assert {*pt.__all__} - attacked - NOT_CALLED == set()
    for module, unattacked in (
        (
            pt.models,
            {
                "BipartiteChain",
                "BlockFit",
                "Chain",
                "Graph",
                "HeldOut",
                "Imputation",
                "LatentBlockFit",
                "LayeredFit",
                "NestedFit",
                "NestedLevel",
                "MergePath",
                "MixtureFit",
                "ModelComparison",
                "RivalFit",
                "RunFormatError",
                "RunInUseError",
            },
        ),
        (pt.ensembles, {"Base", "Dependence", "RepeatedRuns", "fit_distributed"}),
        (pt.plots, {"ball_panels", "display_order"}),
    ):
        unattacked |= {name for name in module.__all__ if _groups_settings(getattr(module, name))}  # by their keywords
        unattacked |= {name for name in module.__all__ if is_result(getattr(module, name))}
        names = [name for name in module.__all__ if f"{name}(" not in scripts and name not in unattacked]
        assert [name for name in names if name != "resume"] == [], module.__name__


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("value = 1", "answered"),
        ("pt.partition_loss([0], [0, 1])", "refused"),
        ("import os; os.kill(os.getpid(), 11)", "crash"),
        ("while True: pass", "timeout"),
        ("check_labels([1, 0])", "wrong"),
        ("pt.canonical(type('Odd', (), {'__array__': lambda *_: 1 / 0})())", "exception"),
        ("[][0]", "not built"),
    ],
)
def test_each_kind_of_outcome_is_seen(script, kind):
    assert outcome_of(script, seconds=2).kind == kind


def test_a_folder_called_partita_is_not_the_package(tmp_path):
    """`git clone` gives the folder that name, and the frames of the fuzzer itself lie in it."""
    with pytest.raises(IndexError) as caught:
        exec(compile("[][0]", tmp_path / "partita" / "fuzz" / "case.py", "exec"))
    assert execution._judge(caught.value).kind == "not built"


def test_a_case_that_sleeps_is_a_timeout():
    assert outcome_of("import time; time.sleep(600)", seconds=0.1).kind == "timeout"


def test_cases_after_a_crash_are_still_run():
    scripts = ["value = 1", "import os; os.abort()", "value = 2", "check_true(False, 'no')", "value = 3"]
    results = list(Pool(lambda index: ("test", scripts[index]), 2, 5, 10).run(0, 5))
    assert sorted((result.index, result.outcome.kind) for result in results) == [
        (0, "answered"),
        (1, "crash"),
        (2, "answered"),
        (3, "wrong"),
        (4, "answered"),
    ]


def test_shrinking_keeps_what_matters():
    def still_there(choices):
        return choices if 7 in choices[1:] else None

    assert shrink([3, 5, 2, 7, 9, 1, 4], still_there, seconds=5) == [3, 7]


@pytest.mark.slow
def test_ten_minutes_of_attacks():
    """Under the sanitizers where `make fuzz` has built the extension for them."""
    sanitized = ["--sanitized"] if list((ROOT / "build" / "sanitize").glob("_core.*")) else []
    words = [
        sys.executable,
        "-m",
        "fuzz",
        "--seed",
        "15",
        "--seconds",
        "600",
        "--jobs",
        str(os.cpu_count()),
        *sanitized,
    ]
    done = forks.command(*words, cwd=ROOT, timeout=None)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
