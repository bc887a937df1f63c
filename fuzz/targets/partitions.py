"""Partitions, samples of them, losses, similarity: the cheap functions."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.registry import target


@target(60)
def two_partitions(c: Choices) -> str:
    n = c.size(0 if c.chance(3) else 1)
    x, y = v.partition(c, n), v.partition(c, n)
    name = c.pick(
        ("adjusted_rand", "nmi", "f1", "meet", "join", "refines", "covers", "align_labels", "compare_partitions")
    )
    check = {"meet": "check_labels(value)", "join": "check_labels(value)", "align_labels": "check_finite(value)"}.get(
        name, "check_finite(list(value.values()) if isinstance(value, dict) else value)"
    )
    return f"value = pt.{name}({x}, {y})\n{check}"


@target(20)
def canonical(c: Choices) -> str:
    return f"check_labels(pt.canonical({v.partition(c, c.size(0))}))"


@target(10)
def counting(c: Choices) -> str:
    n = c.pick(
        (str(c.below(9)), str(c.below(9)), "0", "-1", "1.5", "None", "'3'", "True", "np.int8(5)", "np.nan", "300")
    )
    k = c.pick((str(1 + c.below(5)), "0", "-1", "None", "2.5", "2**40"))
    if c.chance(50):
        small = c.pick((str(c.below(7)), "0", "-1", "2.0", "None"))
        return f"rows = list(pt.enumerate_partitions({small}, {k}))\nfor row in rows[:50]: check_labels(row)"
    return c.pick((f"value = pt.bell({n})", f"value = pt.stirling2({n}, {k})"))


@target(60)
def partition_loss(c: Choices) -> str:
    n = c.size()
    x, y, loss = v.partition(c, n), v.partition(c, n), v.loss(c, n)
    return f"value = pt.partition_loss({x}, {y}, {loss})\ncheck_finite(value, 'loss')"


@target(80)
def as_sample(c: Choices) -> str:
    d = v.draws(c, odd=20)
    options = c.optional(
        20,
        weights=lambda c: v.weights(c, d.n_draws),
        missing=lambda c: c.pick(
            ("-1", "[-1, 0]", "float('nan')", "None", "'NA'", "0", "[]", "{}", "np.nan", "object()")
        ),
        burn=lambda c: v.count(c, 5),
        thin=lambda c: v.count(c, 4),
        names=lambda c: c.pick((f"list(map(str, range({d.n_items})))", "'abc'", "[]", f"[None] * {d.n_items}", "5")),
        variable=lambda c: c.pick(("'z'", "None", "5")),
        store=lambda c: "folder_of('store')" if c.chance(20) else "None",
    )
    return f"sample = pt.as_sample({d.text}{arguments(options)})\ncheck_sample(sample)\nvalue = repr(sample)"


@target(60)
def losses_of_draws(c: Choices) -> str:
    d = v.draws(c)
    jobs = c.pick(("1", "1", "1", "1", "2", "0", "-1", "2**32", "2**31", "2**63"))
    loss = v.loss(c, d.n_items)
    if c.chance(30):
        return f"value = pt.pairwise_distances({d.text}, {loss}, n_jobs={jobs})\ncheck_finite(value, 'distances')"
    name = c.pick(("distances", "expected_loss"))
    candidate = v.partition(c, d.n_items)
    if name == "expected_loss" and c.chance(30):
        candidate = f"[{candidate}, {v.partition(c, d.n_items)}]"
    return f"value = pt.{name}({candidate}, {d.text}, {loss}, n_jobs={jobs})\ncheck_finite(value, 'losses')"


@target(40)
def similarity(c: Choices) -> str:
    d = v.draws(c)
    options = c.optional(
        20,
        items=lambda c: c.pick(
            ("[0]", "[0, 0]", "[]", "[-1]", "[10**9]", "None", "slice(0, 2)", "0", "[True]", "'a'", "[0.5]")
        ),
        dtype=lambda c: c.pick(("np.float32", "'f8'", "np.int8", "'nonsense'", "None", "np.float16")),
        n_jobs=lambda c: c.pick(("1", "2", "0", "2**32", "-2**31")),
    )
    return f"value = pt.similarity({d.text}{arguments({'n_jobs': '1'} | options)})\ncheck_matrix(value, gaps=True)"


@target(40)
def criteria_of_similarity(c: Choices) -> str:
    n = c.size(1, 30)
    kind = c.pick(("of draws", "of draws", "random", "odd"))
    if kind == "of draws":
        matrix = f"pt.similarity({v.plain_draws(c, 12, 12).text}, n_jobs=1)"
        n = c.size(1, 12)
    else:
        matrix = f"np.random.default_rng({c.below(99)}).random(({n}, {n}))"
        if kind == "odd":
            odd = ("{} * np.nan", "{} * 1e300", "-{}", "{}[0]", "{}[:, :-1]", "{}.astype(str)", "{}.tolist()", "{} + 1",
                   "None", "{}.astype('f2')", "np.asfortranarray({})", "{}[::-1, ::-1]", "{} * 0")  # fmt: skip
            matrix = c.pick(odd).format(f"(({matrix} + {matrix}.T) / 2)")
        else:
            matrix = f"(({matrix} + {matrix}.T) / 2)"
    x = v.partition(c, n)
    call = c.pick(("pear({x}, {m})", "vi_lower_bound({x}, {m})", "lau_green({x}, {m}, {a}, {b})"))
    value = call.format(x=x, m="m", a=v.number(c), b=v.number(c))
    return f"m = {matrix}\nvalue = pt.{value}\ncheck_finite(value, 'criterion')"


@target(6)
def make_draws(c: Choices) -> str:
    options = c.optional(30, doubt=v.number, split=v.number, merge=v.number)
    sizes = f"{v.count(c, 20)}, {v.count(c, 20)}, {v.count(c, 9)}"
    return f"value = pt.datasets.make_draws({sizes}{arguments(options)}, rng={v.seed(c)})"
