"""Mixtures of tables: columns of all kinds, gaps, families that do not fit, new rows."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.models import length
from fuzz.targets.registry import target

_FAMILIES = ("gaussian", "positive", "count", "categorical", "binary", "ignore", "cuont")
_NUMBERS = ("0", "1", "2.5", "-3", "17", "1e6", "2**31", "1e300", "-1e300", "1e-300", "float('inf')", "float('nan')")


def _cell(c: Choices, kind: str) -> str:
    if c.chance(15):
        return c.pick(("None", "float('nan')", "None"))
    if kind == "number":
        return c.pick(_NUMBERS) if c.chance(4) else f"{c.below(400) / 20 - 10}"
    if kind == "count":
        return str(c.below(5 if c.chance(80) else 3000))
    if kind == "truth":
        return c.pick(("True", "False"))
    if kind == "odd":
        return c.pick(("'a'", "1", "True", "b'x'", "[1]", "np.datetime64('2020-01-01')", "1j", "object()"))
    return c.pick(("'a'", "'b'", "'c'", "''", "'<b>'"))


def _table(c: Choices, n: int, kinds: list[str]) -> str:
    columns = [
        f"'{name}': [{', '.join(_cell(c, kind) for _ in range(n))}]"
        for name, kind in zip("uvwxyz", kinds, strict=False)
    ]
    table = "{" + ", ".join(columns) + "}"
    return c.pick((table, table, f"pd.DataFrame({table})", f"pd.DataFrame({table}).to_numpy()"))


def _kinds(c: Choices) -> list[str]:
    kinds = ("number", "number", "count", "truth", "text") + (("odd",) if c.chance(10) else ())
    return [c.pick(kinds) for _ in range(c.size(0 if c.chance(3) else 1, 4))]


def _model(c: Choices, kinds: list[str]) -> str:
    families = {name: "count" for name, kind in zip("uvwxyz", kinds, strict=False) if kind == "count" and c.chance(70)}
    if c.chance(15) and kinds:
        families[c.pick("uvwxyz"[: len(kinds)])] = c.pick(_FAMILIES)
    options = {"columns": repr(families)} if families else {}
    options |= c.optional(
        10, alpha=v.number, c=v.number, a=v.number, b=v.number,
        discrete=lambda c: f"pt.models.DiscreteBase({v.number(c)}, {v.number(c)}, {v.number(c)})",
        full=lambda c: c.pick(("'all'", "[['u', 'v']]", "[['u'], ['u']]", "[]", "'u'", "[['q']]")),
        discount=lambda c: c.pick(("0.5", "1", "float('nan')")), components="pt.models.FiniteMixture()",
        mu0=v.number,
    )  # fmt: skip
    return f"pt.models.MixtureDPM({arguments(options)[2:]})"


@target(40)
def mixture_dpm(c: Choices) -> str:
    kinds = _kinds(c)
    model, table = _model(c, kinds), _table(c, c.size(0 if c.chance(3) else 1, 14), kinds)
    script = (
        "import pandas as pd\nimport warnings\nwarnings.filterwarnings('ignore', '.*no observed cell')\n"
        f"model = {model}\ntext = str(model.describe({table}))\n"
        f"chain = model.sample({table}{length(c)})\ncheck_chain(chain)"
    )
    if c.chance(40):
        script += f"\ncells = chain.impute(rng={v.seed(c)})\ntext = repr(cells)\nvalue = cells.summary()"
    if c.chance(30):
        new = _table(c, c.size(1, 3), kinds)
        script += f"\nvalue = chain.predictive_density({new})\ncheck_true((value >= 0).all(), 'a negative density')"
    return script


@target(8)
def table_beside_a_network(c: Choices) -> str:
    kinds, n = _kinds(c), c.size(1, 8)
    table = _table(c, n if c.chance(90) else n + 1, kinds)
    network = f"np.triu(np.random.default_rng({v.seed(c)}).random(({n}, {n})) < 0.4, 1).astype(int)"
    layers = f"{{'a': pt.models.StochasticBlockModel(), 'b': {_model(c, kinds)}}}"
    script = (
        f"import pandas as pd\nmodel = pt.models.LayeredBlockModel({layers})\ndata = {{'a': {network}, 'b': {table}}}\n"
    )
    if c.chance(40):
        return script + f"chain = model.sample(data{length(c)})\ncheck_chain(chain)"
    return script + (
        f"fit = model.maximize(data, restarts={c.size(1, 3)}, n_jobs=1, rng={v.seed(c)})\ncheck_labels(fit.labels)\n"
        "check_finite(fit.icl, 'icl')\ncheck_finite(list(fit.evidence.values()), 'evidence')\nvalue = fit.to_pandas()"
    )


@target(8)
def profiles(c: Choices) -> str:
    kinds, n = _kinds(c), c.size(1, 10)
    options = c.optional(20, level=v.number, draws=lambda c: v.count(c, 5))
    return (
        "import pandas as pd\n"
        f"best = pt.estimate([{v.plain_partition(c, n)}, {v.plain_partition(c, n)}], rng=1)\n"
        f"told = pt.profiles(best, {_table(c, n, kinds)}, rng={v.seed(c)}{arguments(options)})\n"
        "text = repr(told)\nvalue = list(told.rows())"
    )


@target(6)
def curves(c: Choices) -> str:
    """Visits of subjects: irregular, repeated, single; odd identifiers and times."""
    odd = ("float('nan')", "None", "float('inf')", "'x'", "1e300")
    rows = []
    for subject in range(c.size(1, 8)):
        for visit in range(c.below(5)):
            time = c.pick(odd) if c.chance(1) else str(visit if c.chance(90) else c.below(3))
            value = c.pick(odd) if c.chance(2) else f"{c.below(100) / 10}"
            rows.append(f"('s{subject}', {time}, {value})")
    table = f"pd.DataFrame([{', '.join(rows)}], columns=['id', 'time', 'y'])"
    options = c.optional(20, degree=lambda c: v.count(c, 4), knots=lambda c: v.count(c, 4))
    model = f"pt.models.MixtureDPM(curves=pt.models.Curves('id', 'time'{arguments(options)}))"
    return f"import pandas as pd\nchain = {model}.sample({table}{length(c)})\ncheck_chain(chain)"
