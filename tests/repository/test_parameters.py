"""Functions and constructors are short to call: their longest lists of parameters do not grow."""

import ast
from pathlib import Path

import pytest

import partita

FOLDER = Path(partita.__file__).parent
FUNCTION, CONSTRUCTOR = 14, 18
#: Constructors with more, which may not grow.
LONGER = {"models/mixtures/dpm.py: MixtureDPM.__init__": 21}


def parameters(source):
    """The name of each function and the number of its parameters, without self and cls."""
    for node in ast.walk(ast.parse(source)):
        for at in ast.iter_child_nodes(node):
            if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef):
                given = [*at.args.posonlyargs, *at.args.args, *at.args.kwonlyargs]
                owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                yield f"{owner}{at.name}", sum(one.arg not in ("self", "cls") for one in given)


def too_long(path):
    place = path.relative_to(FOLDER).as_posix()
    for name, count in parameters(path.read_text(encoding="utf-8")):
        limit = CONSTRUCTOR if name.endswith("__init__") else FUNCTION
        if count > LONGER.get(f"{place}: {name}", limit):
            yield f"{place}: {name} has {count} parameters"


@pytest.mark.parametrize("package", sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))
def test_no_list_of_parameters_is_longer_than_the_limit(package):
    assert [found for path in (FOLDER / package).rglob("*.py") for found in too_long(path)] == []


def test_a_long_list_is_found():
    source = "class A:\n    def __init__(self, {0}): ...\ndef f({0}): ...".format(", ".join(f"x{i}" for i in range(15)))
    assert dict(parameters(source)) == {"A.__init__": 15, "f": 15}
