"""Generators of values: labels, partitions, draws, weights, losses, settings. Each returns a Python expression."""

from __future__ import annotations

from dataclasses import dataclass

from fuzz.choices import Choices, arguments
from partita.losses.losses import LOSSES

ODD_LABELS = (
    "-1", "2**31", "2**31 - 1", "2**32 - 1", "2**63 - 1", "2**64 - 1", "-2**63", "0.5", "1e300", "float('nan')",
    "float('inf')", "None", "True", "'a'", "''", "'\\x1b[31m'", "10**40", "1j",
)  # fmt: skip
DTYPES = ("int64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64", ">i4", "float32", "float64", "bool",
          "object", "str", "float16", "complex128", "S4", "datetime64[D]")  # fmt: skip
LAYOUTS = (
    "{}", "np.array({})", "np.array({}, dtype={!r})", "np.asfortranarray({})", "strided({})", "np.array({})[::-1]",
    "read_only(np.array({}))", "np.array({}, dtype=object)", "unaligned(np.array({}))", "tuple({})",
)  # fmt: skip
HOSTILE_FORMS = (
    "iter({})", "np.ma.array({})", "np.array({}).view(type('Sub', (np.ndarray,), {{}}))", "raising_array()",
    "lying({})", "wrong_array({})", "{{0: {}}}", "set(map(tuple, {}))", "(row for row in {})",
    "memoryview(np.array({}))", "[{}]", "np.array({})[:, :, None]", "list(map(str, {}))", "growing({})",
)  # fmt: skip
NUMBERS = ("1", "0.5", "2", "0", "-1", "1e-3", "1e3", "1e-9", "1e9", "1e-42", "1e42", "1e-300", "1e300", "1.7e308",
           "5e-324", "float('nan')", "float('inf')", "None", "'1'", "True", "2**70")  # fmt: skip
SEEDS = ("1", "0", "2**32", "np.random.default_rng(3)", "None", "-1", "'seed'", "2**200")


def labels(c: Choices, n: int) -> list[int]:
    """Plain labels of n items."""
    k = min(n, 1 + c.pick((3, 1, 8, 50)))
    if n and c.chance(10):
        return list(range(n))
    return c.many(n, max(k, 1))


def cells(c: Choices, values: list[int], odd: int = 6) -> str:
    """The labels as a list; in `odd` cases of a hundred one of them is something else."""
    texts = list(map(str, values))
    if texts and c.chance(odd):
        texts[c.below(len(texts))] = c.pick(ODD_LABELS)
    return f"[{', '.join(texts)}]"


def laid_out(c: Choices, text: str) -> str:
    """The list as a list or as an array of some type and layout."""
    layout = LAYOUTS[0] if c.chance(40) else c.pick(LAYOUTS)
    dtype = c.pick(DTYPES) if c.chance(40) else c.pick(DTYPES[:9])
    return layout.format(text, dtype) if "!r" in layout else layout.format(text)


def partition(c: Choices, n: int) -> str:
    """One partition of n items, in rare cases of another number."""
    if c.chance(3):
        n = c.size(0, 8)
    return laid_out(c, cells(c, labels(c, n)))


def plain_partition(c: Choices, n: int) -> str:
    """One partition of n items that nothing is wrong with."""
    return str(labels(c, n))


@dataclass(frozen=True)
class Draws:
    """An expression that makes draws, and their numbers; a hostile one may make something else."""

    text: str
    n_draws: int
    n_items: int


def draws(c: Choices, most_items: int = 50, most_draws: int = 40, odd: int = 6) -> Draws:
    """Draws in one of the shapes that `as_sample` takes."""
    n_items, n_draws = c.size(0 if c.chance(1) else 1, most_items), c.size(0 if c.chance(1) else 1, most_draws)
    rows = _rows(c, n_draws, n_items)
    if c.chance(12):
        return Draws(_gapped(c, rows), n_draws, n_items)
    texts = [cells(c, row, odd=0) for row in rows]
    if texts and c.chance(odd):
        at = c.below(len(texts))
        texts[at] = cells(c, rows[at], odd=100)
    if texts and c.chance(2):
        texts[-1] = cells(c, rows[-1][:-1], odd=0)  # ragged
    text = f"[{', '.join(texts)}]"
    form = c.pick(("{}", "{}", "laid", "laid", "pt.as_sample({})", "weighted", "table", "chains"))
    if c.chance(2):
        form = c.pick(HOSTILE_FORMS)
    if form == "laid":
        return Draws(laid_out(c, text), n_draws, n_items)
    if form == "weighted":
        return Draws(f"pt.as_sample({text}, weights={weights(c, n_draws)})", n_draws, n_items)
    if form == "table":
        return Draws(f"table({text})", n_draws, n_items)
    if form == "chains":
        return Draws(f"[np.array({text}), np.array({text})]", 2 * n_draws, n_items)
    return Draws(form.format(text), n_draws, n_items)


def plain_draws(c: Choices, most_items: int = 30, most_draws: int = 30) -> Draws:
    """Draws that nothing is wrong with."""
    n_items, n_draws = c.size(1, most_items), c.size(1, most_draws)
    return Draws(str(_rows(c, n_draws, n_items)), n_draws, n_items)


def _rows(c: Choices, n_draws: int, n_items: int) -> list[list[int]]:
    """Draws that are unlike, or a few that come again and again with small changes."""
    if c.chance(40):
        return [labels(c, n_items) for _ in range(n_draws)]
    few = [labels(c, n_items) for _ in range(1 + c.below(3))]
    rows = []
    for _ in range(n_draws):
        row = list(c.pick(few))
        if row and c.chance(50):
            row[c.below(n_items)] = c.below(max(row) + 2)
        rows.append(row)
    return rows


def _gapped(c: Choices, rows: list[list[int]]) -> str:
    percent = c.pick((10, 50, 90, 100))
    gapped = [[-1 if c.chance(percent) else label for label in row] for row in rows]
    weighted = f", weights={weights(c, len(rows))}" if c.chance(20) else ""
    return f"pt.as_sample({gapped}, missing=-1{weighted})"


def weights(c: Choices, n_draws: int) -> str:
    """Weights of draws: equal, near a tie, mostly zero, tiny, huge, or wrong."""
    n = n_draws
    kind = c.pick(("none", "random", "ties", "zeros", "tiny", "wide", "wrong" if c.chance(30) else "random"))
    if c.chance(3):
        kind = "length"
    if kind == "none":
        return "None"
    if kind == "random":
        return str([1 + value for value in c.many(n, 9)])
    if kind == "ties":
        near = ("1.0", "1.0000001", "0.9999999", "1.000000000000001", "1.0000000001")
        return f"[{', '.join(c.pick(near) for _ in range(n))}]"
    if kind == "zeros":
        keep = {c.below(max(n, 1)) for _ in range(1 + c.below(3))}
        return str([int(t in keep) for t in range(n)])
    if kind == "tiny":
        return f"[{', '.join(c.pick(('1e-300', '5e-324', '1', '1e-17')) for _ in range(n))}]"
    if kind == "wide":
        return f"[{', '.join(c.pick(('1e300', '1.7e308', '1', '1e-300')) for _ in range(n))}]"
    if kind == "wrong":
        return f"[{', '.join(c.pick(('1', '-1', *NUMBERS)) for _ in range(n))}]"
    return str([1] * c.size(0, 8))


def loss(c: Choices, n: int, custom: bool = True) -> str:
    """A loss by name or as an object, with weights over their range; hostile custom ones."""
    kind = c.pick(("name", "name", "name", "weights", "weights", "custom", "name", "weights"))
    if kind == "name" or (kind == "custom" and not custom):
        return repr(c.pick(tuple(LOSSES)))
    if kind == "weights":
        name = c.pick(("VI", "Binder"))
        if not c.chance(20):
            return f"pt.{name}({c.pick(('0.5', '1', '1.5', '0.999999999', '1e-6', '1e6'))}, 1)"
        return f"pt.{name}({c.pick(NUMBERS)}, {c.pick(NUMBERS)})"
    sane = ("squares", "logs", "linear", "ones", f"[0] * {n + 1}")
    odd = ("huge", "minus_huge", "nan", "short", "raises")
    tables = [c.pick(odd) if c.chance(10) else c.pick(sane) for _ in range(3)]
    combine = c.pick(("binder_like", "binder_like", "ratio", "constant"))
    if c.chance(30):
        combine = c.pick((
            "nan_loss", "wrong_shape", "raises", "huge_loss", "text_loss", "interrupts", "exits", "enters_again",
            "changes_arguments", "complex_loss", "strided_loss", "whole_loss", "raises_later()", "random_loss()",
        ))  # fmt: skip
    return f"pt.CustomLoss({', '.join(tables)}, {combine})"


def search(c: Choices, n: int) -> str:
    """Settings of a search."""
    options = {"runs": c.pick(("1", "2", "4")), "n_jobs": c.pick(("1", "1", "1", "2"))}
    options |= c.optional(
        10,
        max_clusters=lambda c: c.pick((str(1 + c.below(n + 2)), "float('inf')", "1", "2**31", "2**63")),
        zealous=lambda c: c.pick(("0", "1", "100")),
        p_sequential=lambda c: c.pick(("0", "1", "0.5")),
        seconds=lambda c: c.pick(("0.05", "1e-9")),
        progress=lambda c: c.pick(("quiet_progress", "True")),
        max_draws=lambda c: c.pick(("1", "2", "5", "2**40")),
    )
    options |= c.optional(
        1,
        max_clusters=lambda c: c.pick(("0", "-1", "1.5", "'2'", "float('nan')")),
        zealous=lambda c: c.pick(("-1", "1.5")),
        p_sequential=lambda c: c.pick(("2", "float('nan')")),
        seconds=lambda c: c.pick(("0", "float('inf')", "float('nan')", "-1")),
        progress=lambda c: c.pick(("raises", "None", "interrupts", "exits", "enters_again", "raises_later()")),
        max_draws="0",
    )
    if c.chance(3):
        options["n_jobs"] = c.pick(("0", "-1", "2**32", "2**31", "2**64", "-2**31", "1.5", "'1'", "None", "10**6"))
    return f"pt.Search({arguments(options)[2:]})"


def number(c: Choices) -> str:
    """A number: mostly a sane one."""
    return c.pick(NUMBERS) if c.chance(30) else c.pick(("1", "0.5", "2", "0.1", "10"))


def count(c: Choices, most: int) -> str:
    """A whole number up to `most`, or something that is none."""
    return str(1 + c.below(most)) if not c.chance(10) else c.pick(("0", "-1", "1.5", "None", "'3'", "True"))


def seed(c: Choices) -> str:
    """What `rng=` takes, and what it does not."""
    return str(c.below(1000)) if not c.chance(5) else c.pick(SEEDS)
