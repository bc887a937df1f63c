"""The public names: all there, and importable from where the first release had them."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import partita
from partita._moved import MOVED

#: What the first release promised in `partita.__all__`; names may be added, none may go.
FIRST_RELEASE = (Path(__file__).parent / "public_names.txt").read_text().split()


def test_every_name_of_the_first_release_is_there():
    assert set(FIRST_RELEASE) <= set(partita.__all__)
    for name in partita.__all__:
        assert getattr(partita, name) is not None


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_moved_modules_keep_their_old_names(old, new):
    code = (
        "import warnings, importlib, partita\n"
        "with warnings.catch_warnings(record=True) as said:\n"
        "    warnings.simplefilter('always')\n"
        f"    module = importlib.import_module('partita.{old}')\n"
        f"assert module is importlib.import_module('partita.{new}')\n"
        "assert [w.category for w in said] == [DeprecationWarning]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_functions_named_like_their_module_stay_functions():
    for name in ("estimate", "similarity", "modes", "diagnostics", "profiles", "report"):
        import_module("partita.uncertainty.modes")
        assert callable(getattr(partita, name))
