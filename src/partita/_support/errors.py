"""Errors about arguments, as data: a sentence whose parts name arguments and settings.

Python words the parts here, by `str`; the command line words them as its options, in `cli/errors.py`. Nobody reads a
message to find out what it says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Argument:
    """The argument that a sentence is about, or one place of it: `weights`, `apart[3]`."""

    name: str
    place: Any = None
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.place is None else f"{self.name}[{self.place!r}]"


@dataclass(frozen=True)
class Setting:
    """What the user passes, or could pass: `missing=-1`; without a value, `missing=`."""

    name: str
    value: Any = ...

    @property
    def has_value(self) -> bool:
        """Whether the sentence says which value."""
        return self.value is not ...

    def __str__(self) -> str:
        return f"{self.name}={self.value!r}" if self.has_value else f"{self.name}="


class Advice(Setting):
    """A setting that the user is told to pass."""

    def __str__(self) -> str:
        return f"pass {super().__str__()}"


@dataclass(frozen=True)
class Within:
    """The argument in which the place that follows is: `graph: line 3 of edges.csv`."""

    name: str

    def __str__(self) -> str:
        return f"{self.name}: "


@dataclass(frozen=True)
class Resume:
    """What continues a run that was written to `path`."""

    path: str

    def __str__(self) -> str:
        return f"partita.resume({self.path!r})"


@dataclass(frozen=True)
class MissingCells:
    """What makes the cells with this marker missing."""

    marker: str

    def __str__(self) -> str:
        return "None in its place makes these cells missing"


@dataclass(frozen=True)
class TableModel:
    """What clusters a table of measurements."""

    def __str__(self) -> str:
        return "partita.models.MixtureDPM"


@dataclass(frozen=True)
class Repeated:
    """What makes the rows of a long table repeated measurements of its items."""

    item: str
    time: str

    def __str__(self) -> str:
        return f"curves=Curves(id={self.item!r}, time={self.time!r})"


Part = Argument | Setting | Within | Resume | MissingCells | TableModel | Repeated


class Sentence(str):
    """Text, worded for Python, with parts that the command line words differently.

    >>> Sentence("line 2 is empty (", Setting("missing", "NA"), " marks it as missing)")
    "line 2 is empty (missing='NA' marks it as missing)"
    """

    parts: tuple[str | Part, ...]

    def __new__(cls, *parts: str | Part) -> Self:
        flat = tuple(own for part in parts for own in (part.parts if isinstance(part, Sentence) else (part,)))
        made = super().__new__(cls, "".join(map(str, flat)))
        made.parts = flat
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:  # for pickle, which workers use
        return self.parts

    def worded(self, word: Callable[[Part], str]) -> str:
        """The text, with each part as `word` words it."""
        return "".join(part if isinstance(part, str) else word(part) for part in self.parts)


class ArgumentError(ValueError):
    """A bad argument: a sentence for people, and for programs its argument, place, value and remedies.

    >>> error = ArgumentError(Argument("weights", place=3, value=-1.0), " is -1.0: weights must not be negative")
    >>> str(error), error.argument, error.place, error.value
    ('weights[3] is -1.0: weights must not be negative', 'weights', 3, -1.0)
    """

    def __init__(self, *parts: str | Part) -> None:
        super().__init__(Sentence(*parts))

    @property
    def _about(self) -> Argument | None:
        return next((part for part in self.args[0].parts if isinstance(part, Argument)), None)

    @property
    def argument(self) -> str | None:
        """The name of the argument; None if the sentence is about a file."""
        return None if self._about is None else self._about.name

    @property
    def place(self) -> Any:
        """The place in the argument."""
        return None if self._about is None else self._about.place

    @property
    def value(self) -> Any:
        """The value that is wrong."""
        return None if self._about is None else self._about.value

    @property
    def remedies(self) -> tuple[Setting, ...]:
        """The settings that the sentence speaks of."""
        return tuple(part for part in self.args[0].parts if isinstance(part, Setting))


def sentence_of(error: BaseException) -> Sentence:
    """What an error or a warning says."""
    said = error.args[0] if error.args else ""
    if isinstance(said, Sentence):
        return said
    return Sentence(" ".join(str(error).split()) or type(error).__name__)
