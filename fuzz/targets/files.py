"""Files of all formats, written and read again, whole or damaged; stored samples; runs; the commands."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.models import data, graph
from fuzz.targets.registry import target

CHEAP_FORMATS = ("csv", "npy", "npz", "csv.gz")
SLOW_FORMATS = ("parquet", "zarr", "nc")
ODD_JSON = (
    "None",
    "0",
    "-1",
    "2**40",
    "1e300",
    "'x'",
    "[]",
    "{}",
    "True",
    "'../../x'",
    "'/etc/passwd'",
    "[[1]]",
    "1.5",
)


def changes(c: Choices) -> str:
    """Changes of bytes: one flip, or several of all kinds; half of them near the beginning, where headers are."""
    kinds = ("flip", "flip", "flip", "set", "set", "cut", "drop", "repeat", "fill")
    made = []
    for _ in range(1 + c.below(c.pick((1, 1, 4)))):
        where = c.below(140) if c.chance(50) else c.below(1 << 16)
        made.append((c.pick(kinds), where, c.below(256)))
    return str(made)


def _names(c: Choices, n_items: int) -> str:
    odd = (
        "'=1+1'",
        "'\\x1b[31mred'",
        "'a,b'",
        "'\"'",
        "''",
        "'a\\nb'",
        "'-1'",
        "'1'",
        "'é'",
        "'\\x00'",
        "'.chain'",
        "'NA'",
        "'#x'",
    )
    names = [c.pick(odd) if c.chance(15) else f"'x{i}'" for i in range(n_items)]
    return f"[{', '.join(names)}]"


def _sample(c: Choices) -> str:
    d = v.plain_draws(c, 12, 12)
    options = c.optional(20, names=lambda c: _names(c, d.n_items), weights=lambda c: v.weights(c, d.n_draws))
    if c.chance(10):
        gapped = (
            f"np.where(np.random.default_rng({c.below(50)}).random(({d.n_draws}, {d.n_items})) < 0.3, -1, {d.text})"
        )
        return f"pt.as_sample({gapped}, missing=-1{arguments(options)})"
    return f"pt.as_sample({d.text}{arguments(options)})"


def _round_trip(c: Choices, suffix: str) -> str:
    return (
        f"sample = {_sample(c)}\npath = folder_of('draws.{suffix}')\npt.write_draws(path, sample)\n"
        f"back = pt.read_draws(path, missing=-1)\ncheck_same_draws(sample, back)\ncheck_sample(back)"
    )


def _damaged(c: Choices, suffix: str) -> str:
    call = f"damage(path, {changes(c)}, {c.below(20)})"
    if suffix == "npz" and c.chance(60):
        call = f"damage_zip(path, {changes(c)}, {c.below(5)})"
    return (
        f"path = folder_of('draws.{suffix}')\npt.write_draws(path, {_sample(c)})\n{call}\n"
        "check_sample(pt.read_draws(path, missing=-1))"
    )


@target(20)
def write_and_read(c: Choices) -> str:
    return _round_trip(c, c.pick(CHEAP_FORMATS))


@target(2)
def write_and_read_slow(c: Choices) -> str:
    return _round_trip(c, c.pick(SLOW_FORMATS))


@target(40)
def damaged_draws(c: Choices) -> str:
    return _damaged(c, c.pick(CHEAP_FORMATS))


@target(4)
def damaged_draws_slow(c: Choices) -> str:
    return _damaged(c, c.pick(SLOW_FORMATS))


@target(40)
def text_draws(c: Choices) -> str:
    d = v.plain_draws(c, 8, 8)
    separator = c.pick((",", ";", "\t", " ", "|"))
    odd = (
        "",
        "NA",
        "nan",
        "-1",
        "1.0",
        "0.5",
        "'",
        '"',
        '"a"',
        "a b",
        "1e5",
        "9" * 30,
        "\x1b[2J",
        "=1",
        "é",
        "\0",
        "#",
        "inf",
    )
    rows = [[c.pick(odd) if c.chance(3) else str(label) for label in v.labels(c, d.n_items)] for _ in range(d.n_draws)]
    if c.chance(50):
        rows.insert(0, [f"x{i}" for i in range(d.n_items)])
    lines = [separator.join(row) for row in rows]
    end = c.pick(("\n", "\r\n", "\n", "\r", "\n\n"))
    text = end.join(lines) + c.pick((end, "", end + end))
    options = c.optional(
        20, missing=lambda c: c.pick(("-1", "'NA'", "[-1, 'NA']")), header=lambda c: c.pick(("True", "False")),
        index=lambda c: c.pick(("True", "False")), burn=lambda c: v.count(c, 3), thin=lambda c: v.count(c, 3),
        weights=lambda c: v.weights(c, d.n_draws), variable="'x'",
    )  # fmt: skip
    damaged = ""
    if c.chance(20):
        damaged = f"damage(path, {changes(c)})\n"
    return f"path = file_of('d.csv', {text!r})\n{damaged}check_sample(pt.read_draws(path{arguments(options)}))"


@target(25)
def npy_headers(c: Choices) -> str:
    dtype = c.pick(
        ("|S0", "|S4", "<i8", "|u1", "|b1", "<U3", "<f8", "|O", "|V0", "|V8", "<c16", ">i2", "nonsense", "<M8[s]")
    )
    sizes = ("2", "0", "1", "3", "10**12", "2**40", "2**62", "-1", "2**63", "10**30")
    shape = "(" + ", ".join(c.pick(sizes) for _ in range(c.pick((2, 2, 3, 1, 0)))) + ",)"
    header = f"{{'descr': {dtype!r}, 'fortran_order': {c.pick(('False', 'True'))}, 'shape': {shape}}}"
    header = header.replace("(,)", "()")
    text = repr(header) if c.chance(10) else f"str({header})"
    script = f"path = npy_file({text}, bytes({c.below(64)}))\n"
    return script + c.pick(("check_sample(pt.read_draws(path, missing=-1))", "command('estimate', path, '--runs', '1')",
                            "command('ensemble', path)", "command('compare', path, path)"))  # fmt: skip


@target(15)
def stored_samples(c: Choices) -> str:
    script = f"path = folder_of('stored')\n{_sample(c)}.save(path)\n"
    kind = c.pick(("whole", "bytes", "values", "values", "facts"))
    if kind == "bytes":
        script += f"damage(path, {changes(c)}, {c.below(5)})\n"
    elif kind == "values":
        script += f"damage_store(path, {c.pick(('labels', 'weights', 'index', 'chains'))!r}, {changes(c)})\n"
    elif kind == "facts":
        script += f"damage_json(path, {c.many(3, 6)}, {c.pick(ODD_JSON)})\n"
    script += "sample = pt.open_sample(path)\ncheck_stored(sample)\n"
    return script + "check_estimate(pt.estimate(sample, search=pt.Search(runs=1, n_jobs=1), rng=1))"


def _chain_on_disk(c: Choices) -> str:
    if c.chance(15):
        length = "sampling=pt.models.Sampling(4, 2, 1, 1, 1), random_state=1"
        prior, base = c.pick(("fsd", "tsb")), c.below(99)
        table = f"np.random.default_rng({base}).integers(-1, 3, (8, 3))"
        return f"pt.ensembles.NBCE(prior={prior!r}, {length}).fit(pt.ensembles.as_base({table}), path=path).chain_"
    model, text = c.pick((
        ("GaussianDPM()", data(c, 6)),
        ("GaussianDPM('diag')", data(c, 6)),
        ("GaussianDPM(alpha=pt.models.GammaAlpha(1, 1), discount=0.3)", data(c, 6)),
        ("GaussianDPM(components=pt.models.FiniteMixture())", data(c, 6)),
        ("StochasticBlockModel()", graph(c)),
        ("StochasticBlockModel(blocks='affiliation', directed=False)", graph(c)),
        ("LatentBlockModel()", graph(c, square=False)),
    ))  # fmt: skip
    return f"pt.models.{model}.sample({text}, draws=4, warmup=2, chains=1, n_jobs=1, rng=1, path=path)"


@target(15)
def runs(c: Choices) -> str:
    script = f"path = folder_of('run')\nchain = {_chain_on_disk(c)}\n"
    kind = c.pick(("whole", "state", "state", "state", "bytes", "json", "labels", "stats"))
    if kind == "whole":
        return script + "again = pt.resume(path)\ncheck_true((again.labels == chain.labels).all(), 'another chain')"
    if kind in ("state", "labels", "stats"):
        script += f"damage_run(path, {kind!r}, {changes(c)}, {c.below(3)})\n"
    elif kind == "bytes":
        script += f"damage(path, {changes(c)}, {c.below(12)})\n"
    else:
        script += f"damage_json(path, {c.many(c.pick((1, 2, 3)), 8)}, {c.pick(ODD_JSON)}, {c.below(4)})\n"
    longer = "lengthen_run(path)\n" if c.chance(70) else ""
    return script + longer + "again = pt.resume(path, n_jobs=1)"


COMMANDS = (
    ("estimate", "DRAWS", "--runs", "1", "--jobs", "1"),
    ("estimate", "DRAWS", "--json", "--runs", "2", "--loss", "binder"),
    ("estimate", "DRAWS", "--method", "greedy", "--missing", "NA"),
    ("similarity", "DRAWS"),
    ("similarity", "DRAWS", "--json"),
    ("ball", "DRAWS", "--runs", "1", "--level", "0.5"),
    ("compare", "DRAWS", "DRAWS"),
    ("ensemble", "DRAWS"),
    ("ensemble", "DRAWS", "--inference", "vb", "--truncation", "5"),
    ("blockmodel", "DRAWS", "--restarts", "1"),
    ("sample", "dpm", "DRAWS", "--out", "FOLDER/run", "--draws", "3", "--warmup", "1", "--chains", "1"),
    ("convert", "DRAWS", "--out", "FOLDER/out.npz"),
    ("convert", "DRAWS", "--out", "FOLDER/out.csv"),
)
ODD_OPTIONS = (
    ("--runs", "0"), ("--seconds", "-1"), ("--burn", "-1"), ("--thin", "0"), ("--burn", "100"), ("--jobs", "0"),
    ("--max-clusters", "nan"), ("--a", "1e308"), ("--level", "2"), ("--seed", "-1"), ("--loss", "nonsense"),
    ("--max-clusters", "1.5"),
    ("--method", "nonsense"), ("--jobs", "4294967296"), ("--nonsense",), ("--a", "nan"), ("--max-draws", "1"),
    ("--variable", "z"), ("-k", "0"), ("--k-max", "0"), ("--bound", "0.01"),
)  # fmt: skip


@target(8)
def commands(c: Choices) -> str:
    d = v.plain_draws(c, 6, 6)
    odd = ("", "NA", "-1", "0.5", "\x1b[31m", "=1+1", "word", "1e400", '"', "\0", "nan")
    rows = [[c.pick(odd) if c.chance(4) else str(label) for label in v.labels(c, d.n_items)] for _ in range(d.n_draws)]
    if c.chance(40):
        rows.insert(
            0,
            [
                c.pick(("x", "cluster", "label", "source", "\x1b[31m", ".chain", "=x")) + str(i)
                for i in range(d.n_items)
            ],
        )
    text = "\n".join(map(",".join, rows)) + "\n"
    words = [*c.pick(COMMANDS)]
    if c.chance(25):
        words += c.pick(ODD_OPTIONS)
    spoken = ", ".join(
        "path" if word == "DRAWS" else f"folder_of({word[7:]!r})" if word.startswith("FOLDER/") else repr(word)
        for word in words
    )
    damaged = f"damage(path, {changes(c)})\n" if c.chance(15) else ""
    return f"path = file_of('d.csv', {text!r})\n{damaged}command({spoken})"


@target(4)
def read_report(c: Choices) -> str:
    d = v.draws(c, most_items=8, most_draws=8)
    damaged = f"damage(path, {changes(c)})\n" if c.chance(70) else ""
    return (
        f"best = pt.estimate({d.text}, search=pt.Search(runs=1, n_jobs=1), rng=1)\n"
        f"path = str(pt.report(best, path=folder_of('page.html')))\n{damaged}"
        "check_labels(pt.read_report(path).labels, gaps=True)"
    )


@target(8)
def labels_files(c: Choices) -> str:
    suffix = c.pick(("csv", "tsv", "parquet", "txt", ""))
    if c.chance(30):
        result = f"pt.estimate({v.plain_draws(c, 8, 8).text}, search=pt.Search(runs=1, n_jobs=1), rng=1)"
    else:
        result = v.partition(c, c.size(0 if c.chance(3) else 1))
    counted = c.pick(("False", "True", "True", "'yes'"))
    return f"path = pt.write_labels(folder_of('labels.{suffix}'), {result}, one_based={counted})\nassert path.is_file()"


@target(4)
def growing_files(c: Choices) -> str:
    d = v.plain_draws(c, 6, 6)
    suffix = c.pick(("csv", "npy"))
    damaged = f"damage(path, {changes(c)}, {c.below(20)})\n" if c.chance(50) else ""
    return (
        f"path = folder_of('draws.{suffix}')\npt.write_draws(path, {d.text})\n{damaged}"
        f"for part in pt.growing_draws(path, burn={v.count(c, 4)}, every=0.01, patience=0.02): check_sample(part)"
    )
