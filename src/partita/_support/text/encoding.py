"""The encoding of a text file: UTF-8, or Latin-1 with a warning."""

from __future__ import annotations

from partita._support.warn import warn_user

#: Bytes that Latin-1 text does not have: a file with them is not text.
_CONTROLS = frozenset({*range(9), *range(14, 32), *range(127, 160)} - {27})


def decode(data: bytes, where: str) -> str:
    """The text of bytes; UnicodeDecodeError if they are neither UTF-8 nor plausible Latin-1.

    >>> decode("Zürich".encode(), "cities.csv")
    'Zürich'
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if not _CONTROLS.isdisjoint(data):
            raise
    warn_user(f"{where} is not UTF-8 and is read as Latin-1; save it as UTF-8 if its names look wrong")
    return data.decode("latin-1")
