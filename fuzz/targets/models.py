"""Samplers and block models: data over all scales, hyperparameters over their ranges, graphs of all kinds."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.registry import target

ODD_NUMBERS = ("1e300", "-1e300", "1e-300", "5e-324", "float('nan')", "float('inf')", "1e155", "'x'", "None", "1e16")


def data(c: Choices, most: int = 16) -> str:
    """A table of numbers, a row for each item."""
    n, dims = c.size(0 if c.chance(3) else 1, most), c.pick((1, 2, 3, 0) if c.chance(3) else (1, 2, 3))
    kind = c.pick(("spread", "spread", "whole", "equal", "scaled", "odd"))
    if kind == "spread":
        rows = [[f"{c.below(2000) / 100 - 10}" for _ in range(dims)] for _ in range(n)]
    elif kind == "equal":
        rows = [["1.5"] * dims for _ in range(n)]
    else:
        rows = [[str(c.below(5)) for _ in range(dims)] for _ in range(n)]
    if kind == "odd" and n and dims:
        rows[c.below(n)][c.below(dims)] = c.pick(ODD_NUMBERS)
    text = _nested(rows)
    if kind == "scaled":
        return f"np.array({text}, dtype=float) * {c.pick(('1e150', '1e-150', '1e8', '1e-8', '1e100', '1e-300'))}"
    return v.laid_out(c, text) if c.chance(30) else f"np.array({text})"


def _nested(rows: list[list[str]]) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


def length(c: Choices) -> str:
    draws, warmup = c.pick(("3", "1", "8")), c.pick(("2", "0", "5"))
    options = {"draws": draws, "warmup": warmup, "chains": c.pick(("1", "1", "1", "2")), "n_jobs": "1"}
    options |= c.optional(2, thin=lambda c: v.count(c, 3), draws=lambda c: v.count(c, 5), warmup="-1", chains="0")
    return arguments(options | {"rng": v.seed(c)})


def _dpm(c: Choices) -> str:
    options: dict[str, str] = {}
    if c.chance(50):
        options["covariance"] = "'diag'"
        options |= c.optional(15, c=v.number, a=v.number, b=v.number)
    else:
        options |= c.optional(15, kappa0=v.number, nu0=v.number)
        options |= c.optional(
            10, scale=lambda c: c.pick((v.number(c), "np.eye(2)", "[[1, 2], [2, 1]]", "[]", "[[1e300]]"))
        )
        options |= c.optional(
            8, hyperprior=lambda c: c.pick(("pt.models.WishartGrid()", "pt.models.WishartGrid(size=3)", "1"))
        )
    options |= c.optional(
        15,
        alpha=lambda c: c.pick((v.number(c), f"pt.models.GammaAlpha({v.number(c)}, {v.number(c)})",
                                "pt.models.PowerAlpha()", f"pt.models.PowerAlpha(power={v.number(c)})")),
        mu0=lambda c: c.pick((v.number(c), "[0, 0]", "1e300", "[]")),
        discount=lambda c: c.pick(("0.5", "0.999999", "1", "-0.1", "float('nan')", "1e-300")),
        components=lambda c: c.pick(("pt.models.FiniteMixture()",
                                     f"pt.models.FiniteMixture({v.number(c)}, {v.number(c)})")),
        standardize="True",
        moves=lambda c: (f"pt.models.SplitMergeMoves({c.pick(('0', '1', '5', '-1', 'None'))}, {v.count(c, 3)})"),
    )  # fmt: skip
    return f"pt.models.GaussianDPM({arguments(options)[2:]})"


@target(60)
def gaussian_dpm(c: Choices) -> str:
    script = f"chain = {_dpm(c)}.sample({data(c)}{length(c)})\ncheck_chain(chain)"
    if c.chance(15):
        script += (
            f"\nvalue = chain.predictive_density({data(c, 4)})\ncheck_true((value >= 0).all(), 'a negative density')"
        )
    return script


@target(2)
def gaussian_dpm_fit(c: Choices) -> str:
    return (
        f"model = {_dpm(c)}.set_params(sampling=pt.models.Sampling(5, 2, 1, 1, 1), random_state=1)\n"
        f"check_labels(model.fit_predict({data(c, 8)}))\nvalue = model.predict({data(c, 4)})\n"
        f"value = model.predict_proba({data(c, 4)})\ncheck_finite(value, 'probabilities')"
    )


def graph(c: Choices, square: bool = True) -> str:
    """A network in one of the forms that `as_graph` takes."""
    n = c.size(0 if c.chance(3) else 1, 16)
    m = n if square else c.size(0 if c.chance(3) else 1, 12)
    percent = c.pick((30, 0, 100, 5, 60))
    most = c.pick((2, 2, 2, 4, 100))
    rows = [[str(1 + c.below(most - 1)) if c.chance(percent) else "0" for _ in range(m)] for _ in range(n)]
    if n and m and c.chance(8):
        rows[c.below(n)][c.below(m)] = c.pick(
            ("float('nan')", "-1", "0.5", "2**31", "2**40", "1e300", "None", "'x'", "float('inf')")
        )
    if square and c.chance(50):
        for i in range(n):
            for j in range(i):
                rows[i][j] = rows[j][i]
    matrix = f"np.array({_nested(rows)})"
    form = c.pick(("{}", "{}", "{}", "sparse({})", "{}.astype(float)", "np.asfortranarray({})", "edges({})",
                   "network({})", "table(edges({}))", "multigraph({})", "table({})", "sparse({}).tocoo()",
                   "[(f'a{{i}}', f'a{{j}}') for i, j in edges({})]", "iter(edges({}))", "np.ma.array({})",
                   "{}.astype(bool)", "{}.tolist()", "{}.astype('u1')"))  # fmt: skip
    return form.format(matrix)


def _block_options(c: Choices) -> dict[str, str]:
    options = c.optional(15, n0=v.number, eta0=v.number, zeta0=v.number, a0=v.number, b0=v.number)
    options |= c.optional(
        10,
        k_prior=lambda c: c.pick(
            (v.number(c), "[0.5, 0.5]", "[0, 1]", "[]", "[float('nan')]", "[0, 0]", "[1e-300] * 3")
        ),
    )
    return options | c.optional(30, edges="'counts'")


def _sbm(c: Choices) -> str:
    options = _block_options(c) | c.optional(
        40, directed="False", loops="True", blocks="'affiliation'", degree_corrected="True"
    )
    return f"pt.models.StochasticBlockModel({arguments(options)[2:]})"


@target(40)
def stochastic_block_model(c: Choices) -> str:
    model, network = _sbm(c), graph(c)
    kind = c.pick(("sample", "icl", "maximize"))
    if kind == "sample":
        return f"chain = {model}.sample({network}{length(c)})\ncheck_chain(chain)"
    if kind == "icl":
        labels = v.partition(c, c.size(1, 16))
        return f"value = {model}.icl({network}, fitted({labels}, {network}))\ncheck_finite(value, 'icl')"
    options = c.optional(30, k_max=lambda c: v.count(c, 6), starts=lambda c: f"[{v.plain_partition(c, c.size(1, 12))}]")
    return (
        f"fit = {model}.maximize({network}, restarts=1, n_jobs=1, rng={v.seed(c)}{arguments(options)})\n"
        "check_labels(fit.labels)\ncheck_finite(fit.icl, 'icl')\nvalue = fit.blocks()\ntext = repr(fit)\n"
        f"value = fit.path.cut({v.count(c, 4)})\nvalue = fit.predict([[0, 0]])\ncheck_finite(value, 'prediction')"
    )


@target(8)
def layered_block_model(c: Choices) -> str:
    first, network = _sbm(c), graph(c)
    model = f"pt.models.LayeredBlockModel({{'a': {first}, 'b': {first if c.chance(70) else _sbm(c)}}})"
    second = c.pick(("b", "b", "b", "c"))
    layers = f"{{'a': {network}, '{second}': {network if c.chance(80) else graph(c)}}}"
    return (
        f"fit = {model}.maximize({layers}, restarts=1, n_jobs=1, rng={v.seed(c)})\n"
        "check_labels(fit.labels)\ncheck_finite(fit.icl, 'icl')\ntext = repr(fit)"
    )


@target(8)
def nested_block_model(c: Choices) -> str:
    shape, edges = c.pick(("1.0", "1.0", "0.3", "1e8", "0", "float('nan')")), c.pick(("binary", "counts", "real"))
    settings = f"shape={shape}, edges={edges!r}, loops={c.chance(50)}, degree_corrected={c.chance(30)}"
    return (
        f"model, network = pt.models.NestedBlockModel({c.chance(50)}, {settings}), {graph(c)}\n"
        f"fit = model.maximize(network, k_max={c.pick(('None', '3', '0'))}, restarts=1, n_jobs=1, rng={v.seed(c)})\n"
        "again = model.icl(network, [level.labels for level in fit.levels])\n"
        "check_true(abs(again - fit.icl) <= 1e-6 * (1 + abs(again)), 'icl')\n"
        "table = fit.blocks()\ncheck_true(((table.lower <= table.upper) & (table.mean >= 0)).all(), 'blocks')"
    )


@target(8)
def predicted_edges(c: Choices) -> str:
    model, network = _sbm(c), graph(c)
    kind = c.pick(("edge_probability", "held_out", "compare_models"))
    search = f"rng={v.seed(c)}, restarts=1, n_jobs=1"
    share = c.pick(("0.1", "0.5", "1", "0", "float('nan')", "'x'"))
    if kind == "held_out":
        return f"found = pt.models.held_out({model}, {network}, {share}, {search})\ntext = repr(found)"
    if kind == "compare_models":
        shown = f"pt.models.compare_models({network}, [{model}, {_sbm(c)}], share={share}, {search})"
        return f"found = {shown}\ntext = repr(found)"
    pairs = c.pick(("[[0, 0]]", "[[0, 1], [1, 0]]", "[[0, 99]]", "[]", "'x'"))
    return (
        f"fit = {model}.maximize({network}, restarts=1, n_jobs=1, rng=1)\n"
        f"value = pt.models.edge_probability(fit, {pairs})\n"
        "check_true(((value >= 0) & (value <= 1)).all(), 'probability')"
    )


@target(30)
def latent_block_model(c: Choices) -> str:
    model, matrix = f"pt.models.LatentBlockModel({arguments(_block_options(c))[2:]})", graph(c, square=False)
    kind = c.pick(("sample", "icl", "maximize"))
    if kind == "sample":
        return f"chain = {model}.sample({matrix}{length(c)})\ncheck_chain(chain)"
    if kind == "icl":
        x, y = v.partition(c, c.size(0, 16)), v.partition(c, c.size(0, 12))
        return f"value = {model}.icl({matrix}, {x}, {y})\ncheck_finite(value, 'icl')"
    options = c.optional(30, k_max=lambda c: c.pick((v.count(c, 6), "(2, 3)", "(0, 0)", "(1,)")))
    return (
        f"fit = {model}.maximize({matrix}, restarts=1, n_jobs=1, rng={v.seed(c)}{arguments(options)})\n"
        "check_labels(fit.rows)\ncheck_labels(fit.columns)\ncheck_finite(fit.icl, 'icl')\ntext = repr(fit)"
    )


@target(20)
def as_graph(c: Choices) -> str:
    options = c.optional(
        40, directed="False", counts="True", nodes=lambda c: c.pick(("range(20)", "[]", "[0, 0]", "None", "5"))
    )
    call = f"as_graph({graph(c)}{arguments(options)})" if c.chance(70) else f"as_bipartite({graph(c, square=False)})"
    return f"text = repr(pt.models.{call})"


@target(3)
def rival_models(c: Choices) -> str:
    name = c.pick(("louvain", "affiliation_vb", "variational_em"))
    options = {} if name == "louvain" else {"k": c.pick(("[2]", "[1, 3]", "[0]", "[]", "[50]")), "restarts": "1"}
    options |= c.optional(50, directed="False")
    call = f"pt.models.{name}({graph(c)}{arguments(options)}, rng={v.seed(c)})"
    return f"fit = {call}\ncheck_labels(fit.labels)\ncheck_finite(fit.criterion)"
