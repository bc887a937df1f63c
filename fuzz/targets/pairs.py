"""Pair probabilities in place of draws: matrices, tables and files of pairs; constraints and starts of both."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.files import changes
from fuzz.targets.registry import target

PROBABILITIES = (
    "0.9",
    "0.5",
    "0",
    "1",
    "0.1",
    "0.5000000001",
    "0.4999999999",
    "1e-300",
    "5e-324",
    "0.9999999999999999",
)
ODD_PROBABILITIES = (
    "-0.1",
    "1.1",
    "float('nan')",
    "float('inf')",
    "None",
    "'x'",
    "2**70",
    "-0.0",
    "'0.5'",
    "True",
    "1j",
)
MATRIX_FORMS = (
    "{}", "np.array({})", "np.array({}, dtype='float32')", "np.asfortranarray({})", "strided({})",
    "sparse(np.array({}))", "sparse(np.triu(np.array({})))", "named_matrix({})", "table({})",
    "np.array({}, dtype=object)", "read_only(np.array({}))", "sparse(np.array({})).tocoo()", "np.ma.array({})",
    "raising_array()", "lying({})", "unaligned(np.array({}))",
)  # fmt: skip
TABLE_FORMS = (
    "table({})",
    "pair_table({})",
    "splink_table({})",
    "pair_series({})",
    "pair_scores({})",
    "arrow_table({})",
    "{}",
)
LOSSES = ("'binder'", "'vi-lower-bound'", "'pear'", "pt.ApproximateARI()", "pt.VILowerBound()", "pt.Binder(0.3, 1)",
          "pt.VILowerBound(0.5, 1)")  # fmt: skip
ODD_ITEMS = ("-1", "10**9", "2**64", "0.5", "None", "'x'", "float('nan')", "''", "(0, 1)", "True")


def _probability(c: Choices, odd: int) -> str:
    return c.pick(ODD_PROBABILITIES) if c.chance(odd) else c.pick(PROBABILITIES)


def _matrix(c: Choices, n: int, odd: int = 1) -> str:
    """A square matrix, mostly symmetric with ones on the diagonal."""
    cells = [["1" if i == j else "0" for j in range(n)] for i in range(n)]
    density = c.pick((60, 20, 100))
    for i in range(n):
        for j in range(i):
            if c.chance(density):
                cells[i][j] = cells[j][i] = c.pick(PROBABILITIES)
    if n and c.chance(odd):
        cells[c.below(n)][c.below(n)] = _probability(c, 50)
    if n and c.chance(odd):
        cells[c.below(n)].pop()
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in cells) + "]"


def _item(c: Choices, n: int, names: bool, odd: int) -> str:
    if c.chance(odd):
        return c.pick(ODD_ITEMS)
    at = c.below(n)
    return f"'x{at}'" if names else str(at)


def _listed(c: Choices, n: int, odd: int = 1) -> str:
    """Rows (left, right, probability); now and then one that repeats, is of an item with itself, or is odd."""
    names, rows, seen = c.chance(50), [], set()
    for _ in range(c.size(0 if c.chance(2) else 1, 40)):
        left, right = _item(c, n, names, odd), _item(c, n, names, odd)
        if (left == right or frozenset((left, right)) in seen) and not c.chance(odd):
            continue
        seen.add(frozenset((left, right)))
        rows.append(f"({left}, {right}, {_probability(c, odd)})")
    return f"[{', '.join(rows)}]"


def _pairs(c: Choices, odd: int = 1) -> tuple[str, int]:
    """An expression for pair probabilities, and the number of items that it has or may have."""
    n = c.size(0 if c.chance(1) else 1, 24)
    if c.chance(50):
        form = MATRIX_FORMS[0] if c.chance(30) else c.pick(MATRIX_FORMS)
        return form.format(_matrix(c, n, odd)), n
    return c.pick(TABLE_FORMS).format(_listed(c, max(n, 2), odd)), n


def _similarity(c: Choices) -> tuple[str, int]:
    """A Similarity, from pairs or from draws."""
    if c.chance(25):
        d = v.plain_draws(c, 24, 12)
        above = c.pick(("0", "0.3", "0.999"))
        return f"pt.similarity({d.text}, sparse=True, above={above}, n_jobs=1)", d.n_items
    text, n = _pairs(c)
    options = c.optional(10, default=lambda c: _probability(c, 5), names=lambda c: _names(c, n))
    return f"pt.as_similarity({text}{arguments(options)})", n


def _names(c: Choices, n: int) -> str:
    odd = ("''", "'x0'", "None", "'\\x1b[31m'", "3")
    return "[" + ", ".join(c.pick(odd) if c.chance(5) else f"'x{i}'" for i in range(n)) + "]"


def _loss(c: Choices) -> str:
    if c.chance(10):
        return f"pt.{c.pick(('VILowerBound', 'Binder'))}({c.pick(v.NUMBERS)}, {c.pick(v.NUMBERS)})"
    return c.pick(("'vi'", "'nid'", "None", "3")) if c.chance(2) else c.pick(LOSSES)


def _group(c: Choices, n: int, size: int) -> str:
    return "(" + "".join(f"{_item(c, max(n, 1), False, 2)}, " for _ in range(size)) + ")"


def _constraints(c: Choices, n: int) -> str:
    """Constraints, which often contradict each other."""
    options = c.optional(
        50,
        together=lambda c: f"[{', '.join(_group(c, n, c.pick((2, 2, 3, 1, 0))) for _ in range(c.below(4)))}]",
        apart=lambda c: f"[{', '.join(_group(c, n, 2 if not c.chance(3) else 3) for _ in range(c.below(5)))}]",
        one_per=lambda c: _sources(c, n),
    ) | c.optional(10, max_size=lambda c: v.count(c, 6))
    if c.chance(2):
        options[c.pick(("together", "apart", "one_per"))] = c.pick(("3", "'ab'", "[[0]]", "[0, 1]", "raising_array()"))
    return f"pt.Constraints({arguments(options)[2:]})"


def _sources(c: Choices, n: int) -> str:
    values = ("'a'", "'b'", "1", "None", "float('nan')")
    length = n if not c.chance(3) else c.size(0, 6)
    return "[" + ", ".join(c.pick(values) if c.chance(50) else str(i) for i in range(length)) + "]"


def _guides(c: Choices, n: int) -> dict[str, str]:
    return c.optional(
        50,
        constraints=lambda c: _constraints(c, n),
        start=lambda c: v.partition(c, n) if c.chance(50) else f"[{v.partition(c, n)}, {v.partition(c, n)}]",
    )


def _search(c: Choices, n: int) -> str:
    return v.search(c, n) if c.chance(20) else f"pt.Search(runs={c.pick(('1', '2', '4'))}, n_jobs={c.pick(('1', '2'))})"


@target(40)
def as_similarity(c: Choices) -> str:
    text, n = _pairs(c, odd=4)
    options = c.optional(
        10, default=lambda c: _probability(c, 30), names=lambda c: _names(c, n),
        columns=lambda c: c.pick(("('left', 'right', 'p')", "('a', 'b')", "3", "('left', 'left', 'p')", "'lrp'")),
    )  # fmt: skip
    return f"pairs = pt.as_similarity({text}{arguments(options)})\ncheck_similarity(pairs)"


@target(40)
def estimate_pairs(c: Choices) -> str:
    text, n = _similarity(c)
    method = c.pick(("search", "search", "exact", "salso" if c.chance(5) else "search"))
    options = _guides(c, n) | {"rng": v.seed(c)}
    call = f"pt.estimate(pairs, {_loss(c)}, {method!r}, {_search(c, n)}{arguments(options)})"
    return f"pairs = {text}\nbest = {call}\ncheck_pair_estimate(best)"


@target(8)
def bounds_of_pairs(c: Choices) -> str:
    text, n = _similarity(c)
    seconds = c.pick(("0.05", "0.01", "1e-9", "0", "float('nan')"))
    constraints = c.optional(30, constraints=lambda c: _constraints(c, n))
    return (
        f"best = pt.estimate({text}, {_loss(c)}, search=pt.Search(runs=1, n_jobs=1), rng=1{arguments(constraints)})\n"
        f"found = best.bound({seconds})\ncheck_pair_bound(best, found)"
    )


@target(20)
def updates(c: Choices) -> str:
    """A linkage that changes: more pairs, records, removals and constraints; then what holds its clusters together."""
    n = c.size(2, 12)
    options = c.optional(
        30,
        records=lambda c: f"[{_item(c, 2 * n, True, 5)}]",
        removed=lambda c: f"[{_item(c, n, True, 10)}]",
        constraints=lambda c: _constraints(c, n),
    )
    return (
        f"first = pt.estimate(pt.as_similarity({_listed(c, n)}), 'binder', rng=1)\n"
        f"best = pt.update(first, {_listed(c, n, 2)}{arguments(options)})\ncheck_pair_estimate(best)\n"
        "check_true(len(best.ids) == len(best.labels), 'an id for each item')\ntext = repr(best.changes)\n"
        f"text = repr(best.reasons({v.count(c, 3)}))"
    )


@target(4)
def stored_linkages(c: Choices) -> str:
    n = c.size(2, 8)
    damaged = f"damage(next(path.rglob('*.npz')), {changes(c)})\n" if c.chance(40) else ""
    return (
        f"best = pt.estimate(pt.as_similarity({_listed(c, n)}), 'binder', rng=1)\npath = folder_of('linked')\n"
        f"pt.write_linkage(path, best)\n{damaged}check_pair_estimate(pt.read_linkage(path))"
    )


@target(20)
def linkage_quality(c: Choices) -> str:
    n = c.size(2, 12)
    rows = ", ".join(f"({_item(c, n, True, 3)}, {c.below(4)})" for _ in range(c.size(0, 12)))
    return (
        f"best = pt.estimate(pt.as_similarity({_listed(c, n)}), 'binder', rng=1)\n"
        f"found = pt.linkage_quality(best, dict([{rows}]))\ntext = repr(found)"
    )


@target(20)
def pair_loss(c: Choices) -> str:
    text, n = _pairs(c)
    labels = v.partition(c, n)
    return f"value = pt.pair_loss({labels}, {text}, {_loss(c)})\ncheck_finite(value)"


@target(40)
def constrained_draws(c: Choices) -> str:
    d = v.draws(c, most_items=12, most_draws=12)
    method = c.pick(("search", "search", "exact", "enumerate", "salso", "greedy"))
    if method in ("exact", "enumerate"):
        d = v.draws(c, most_items=7, most_draws=12)
    options = _guides(c, d.n_items) | {"rng": v.seed(c)}
    search = _search(c, d.n_items)
    return (
        f"best = pt.estimate({d.text}, {v.loss(c, d.n_items)}, {method!r}, {search}{arguments(options)})\n"
        f"check_obeyed(best)\nvalue = best.components"
    )


@target(10)
def made_similarity(c: Choices) -> str:
    """A Similarity that was not made by as_similarity: its arrays are what somebody says they are."""
    offsets = [c.below(5) for _ in range(c.size(0, 6))]
    if c.chance(60):
        offsets = sorted([0, *offsets])
    neighbours = c.many(c.below(8), 6)
    dtypes = ("int64", "uint32", "int32", "float64", "uint64", "int8")
    probabilities = ", ".join(_probability(c, 10) for _ in neighbours)
    arrays = (
        f"np.array({offsets}, {c.pick(dtypes)!r}), np.array({neighbours}, {c.pick((dtypes[1], *dtypes))!r}), "
        f"np.array([{probabilities}])"
    )
    options = c.optional(10, default=lambda c: _probability(c, 30), names=lambda c: _names(c, len(offsets)))
    use = c.pick((
        f"best = pt.estimate(pairs, {_loss(c)}, search=pt.Search(runs=1, n_jobs=1), rng=1)\ncheck_pair_estimate(best)",
        f"value = pt.pair_loss({v.labels(c, max(len(offsets) - 1, 1))}, pairs, {_loss(c)})",
        "check_similarity(pt.as_similarity(pairs))",
    ))  # fmt: skip
    if c.chance(70):
        name = c.pick(("probabilities", "neighbors", "offsets"))
        return f"pairs = remade({_similarity(c)[0]}, {name!r}, {changes(c)})\n{use}"
    return f"pairs = pt.Similarity({arrays}{arguments(options)})\n{use}"


@target(25)
def pair_files(c: Choices) -> str:
    n = c.size(2, 12)
    kind = c.pick(("csv", "csv", "csv.gz", "npy", "npz", "parquet" if c.chance(20) else "csv"))
    written = f"pair_file('pairs.{kind}', {_matrix(c, n, 0) if kind in ('npy', 'npz') else _listed(c, n, 2)})"
    damaged = f"damage(path, {changes(c)})\n" if c.chance(60) else ""
    if kind == "npz" and c.chance(50):
        damaged = f"damage_zip(path, {changes(c)}, {c.below(5)})\n"
    return f"path = {written}\n{damaged}check_similarity(pt.as_similarity(path))"


@target(4)
def pair_commands(c: Choices) -> str:
    n = c.size(2, 8)
    matrix = c.chance(30)
    source = _matrix(c, n, 0) if matrix else _listed(c, n, 2)
    name, option = ("psm.npy", "--similarity") if matrix else ("pairs.csv", "--pairs")
    loss = c.pick(("binder", "vi-lower-bound", "pear", "vi", "nonsense"))
    words = ["'estimate'", repr(option), "path", "'--loss'", repr(loss), "'--runs'", "'1'"]
    words += c.pick(
        ([], ["'--json'"], ["'--one-per'", "path"], ["'--bound'", "'0.01'"], ["'--out'", "folder_of('out')"])
    )
    damaged = f"damage(path, {changes(c)})\n" if c.chance(20) else ""
    return f"path = pair_file({name!r}, {source})\n{damaged}command({', '.join(words)})"
