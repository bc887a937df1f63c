"""The public names: all there."""

from importlib import import_module
from pathlib import Path

import partita

#: What the first release promised in `partita.__all__`; names may be added, none may go.
FIRST_RELEASE = (Path(__file__).parent / "public_names.txt").read_text().split()


def test_every_name_of_the_first_release_is_there():
    assert set(FIRST_RELEASE) <= set(partita.__all__)
    for name in partita.__all__:
        assert getattr(partita, name) is not None


def test_functions_named_like_their_module_stay_functions():
    for name in ("estimate", "similarity", "modes", "diagnostics", "profiles", "report"):
        import_module("partita.uncertainty.modes")
        assert callable(getattr(partita, name))
