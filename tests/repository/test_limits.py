"""Limits of the code: parameter lists, modules outside packages, tests of a loss's type instead of its properties."""

import ast
import re
from pathlib import Path

import pytest

import partita
from partita.losses.losses import LOSSES
from partita.pairs.losses import PAIR_LOSSES

MOST_OF_A_CONSTRUCTOR, MOST = 18, 14
SOURCE = Path(partita.__file__).parent


def too_long(source):
    """The functions of a module with more parameters than the limits, and how many they have."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = node.args
            names = [one.arg for one in (*own.posonlyargs, *own.args, *own.kwonlyargs)]
            count = len([name for name in names if name not in ("self", "cls")]) + bool(own.vararg) + bool(own.kwarg)
            if count > (MOST_OF_A_CONSTRUCTOR if node.name == "__init__" else MOST):
                found.append((node.name, count))
    return found


def test_too_many_are_found():
    many = ", ".join(f"x{j}" for j in range(15))
    assert too_long(f"def f({many}): pass\nclass A:\n  def __init__(self, {many}): pass") == [("f", 15)]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_parameter_lists(path):
    assert not too_long(path.read_text())


def test_every_module_is_in_a_package():
    assert {path.name for path in SOURCE.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_losses_are_asked_for_properties():
    """Each test of a type is a place that a new loss must look at."""
    names = "|".join(
        {kind.__name__ for kind in (*LOSSES.values(), *PAIR_LOSSES.values())} | {"AdditiveLoss", "CustomLoss"}
    )
    tests = re.compile(rf"isinstance\([^)]*\b({names})\b")
    assert sum(len(tests.findall(path.read_text())) for path in SOURCE.rglob("*.py")) <= 15
