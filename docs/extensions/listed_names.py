"""Entries of docstrings that document several names at once, `draws, chains : int`: the reference has one for each.

Napoleon would write the type of all names together beside each of them, and would read a list of attributes as one name
and its type.
"""

from __future__ import annotations

import re

SECTIONS = ("Parameters", "Attributes")
ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)+) : (?P<types>.+)")
OPTIONAL = ", optional"


def split_names(lines: list[str]) -> list[str]:
    """The lines with one entry per name.

    >>> split_names(["Parameters", "----------", "n, names : int, tuple of str", "    How many, and which."])[2:]
    ['n : int', '    How many, and which.', 'names : tuple of str', '    How many, and which.']
    """
    result, at, in_section = [], 0, False
    while at < len(lines):
        if at + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[at + 1].strip()):
            in_section = lines[at].strip() in SECTIONS
        found = ENTRY.fullmatch(lines[at]) if in_section else None
        if found is None:
            result.append(lines[at])
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end].startswith(" "):
            end += 1
        names = found["names"].split(", ")
        for name, kind in zip(names, types_of(found["types"], len(names)), strict=True):
            result += [f"{name} : {kind}", *lines[at + 1 : end]]
        at = end
    return result


def types_of(text: str, count: int) -> list[str]:
    """The type of each name: those listed, if there are as many, or else the same for all.

    >>> types_of("(clusters,) array, int", 2), types_of("float or None, optional", 2)
    (['(clusters,) array', 'int'], ['float or None, optional', 'float or None, optional'])
    """
    suffix = OPTIONAL if text.endswith(OPTIONAL) else ""
    listed = re.split(r", (?![^(\[{]*[)\]}])", text.removesuffix(OPTIONAL))
    return [f"{kind}{suffix}" for kind in listed] if len(listed) == count else [text] * count
