"""Ensembles of clusterings: base labels with gaps, every method."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.registry import target


def base(c: Choices, most: int = 16) -> str:
    """An (items, clusterings) table of labels."""
    n, m = c.size(0 if c.chance(3) else 1, most), c.size(0 if c.chance(3) else 1, 6)
    percent = c.pick((0, 0, 20, 90, 100))
    rows = [[-1 if c.chance(percent) else label for label in v.labels(c, m)] for _ in range(n)]
    texts = [v.cells(c, row, odd=0) for row in rows]
    if texts and c.chance(8):
        at = c.below(n)
        texts[at] = v.cells(c, rows[at], odd=100)
    text = f"[{', '.join(texts)}]"
    return v.laid_out(c, text) if c.chance(40) else text


def _model(c: Choices) -> str:
    name = c.pick(("NBCE", "NBCE", "NBCE", "BCE", "MixtureModel"))
    if name != "NBCE":
        options = {"restarts": "1", "max_iter": "5", "random_state": "1"} | c.optional(
            10, smoothing=v.number, tol=v.number
        )
        return f"pt.ensembles.{name}({v.count(c, 5)}{arguments(options)})"
    options = {"inference": repr(c.pick(("gibbs", "vb", "cvb"))), "prior": repr(c.pick(("fsd", "tsb")))}
    options |= {"truncation": v.count(c, 12), "sampling": "pt.models.Sampling(4, 2, 1, 1, 1)", "random_state": "1"}
    options |= {"ascent": f"pt.ensembles.Ascent(1, 5, {c.pick(('None', v.number(c)))})"}
    options |= c.optional(15, alpha=v.number, beta=v.number)
    options |= c.optional(
        10,
        alpha_prior=lambda c: f"({v.number(c)}, {v.number(c)})",
        beta_prior=lambda c: f"({v.number(c)}, {v.number(c)})",
    )
    return f"pt.ensembles.NBCE({arguments(options)[2:]})"


@target(40)
def ensemble_models(c: Choices) -> str:
    script = f"b = {base(c)}\nmodel = {_model(c)}\nmodel.fit(b)\ncheck_labels(model.labels_, gaps=True)"
    if c.chance(50):
        script += "\nvalue = model.perplexity(b)\ncheck_true(value >= 1 - 1e-9, f'perplexity {value}')"
        script += "\ncheck_finite(model.predict_proba(b), 'probabilities')"
        script += f"\nvalue = model.predict({base(c, 6)})"
    return script


@target(20)
def consensus(c: Choices) -> str:
    kind = c.pick(("consensus", "evidence_accumulation", "as_base"))
    if kind == "as_base":
        return f"value = pt.ensembles.as_base({base(c)})\ntext = repr(value)"
    if kind == "evidence_accumulation":
        options = c.optional(
            40, k=lambda c: v.count(c, 6), linkage=lambda c: c.pick(("'single'", "'complete'", "'x'", "None"))
        )
        return f"check_labels(pt.ensembles.evidence_accumulation({base(c)}{arguments(options)}), gaps=True)"
    options = c.optional(30, weights=lambda c: v.weights(c, 4)) | {
        "search": "pt.Search(runs=1, n_jobs=1)",
        "rng": v.seed(c),
    }
    return f"check_labels(pt.ensembles.consensus({base(c)}, {v.loss(c, 16)}{arguments(options)}), gaps=True)"


@target(4)
def graph_consensus(c: Choices) -> str:
    name = c.pick(("cspa", "mcla", "cspa", "mcla", "hgpa"))
    options = {} if name == "mcla" else c.optional(20, sample=lambda c: v.count(c, 8))
    call = f"pt.ensembles.{name}({base(c, 12)}, {v.count(c, 5)}, rng={v.seed(c)}{arguments(options)})"
    return f"check_labels({call}, gaps=True)"


@target(1)
def kmeans_ensemble(c: Choices) -> str:
    from fuzz.targets.models import data

    options = c.optional(50, k=lambda c: v.count(c, 5)) | {"n_clusterings": c.pick(("2", "1", "0")), "rng": v.seed(c)}
    return f"value = pt.ensembles.kmeans_ensemble({data(c, 12)}{arguments(options)})"


@target(12)
def dependence_of_clusterings(c: Choices) -> str:
    kind = c.pick(("dependence", "co_association"))
    return f"value = pt.ensembles.{kind}({base(c)})\ntext = repr(value)"


@target(12)
def stability_and_votes(c: Choices) -> str:
    one = base(c, 10)
    name = c.pick(("stability", "summarize", "voting"))
    if name == "stability":
        options = c.optional(20, limits=lambda c: f"({v.number(c)}, {v.number(c)})")
        bases = ", ".join(f"{v.count(c, 5)}: {text}" for text in (one, base(c, 10)))
        return f"found = pt.ensembles.ambiguity({{{bases}}}, rng=1{arguments(options)})\ntext = repr(found)"
    options = c.optional(20, weights=lambda c: f"[{v.number(c)}, {v.number(c)}]")
    if name == "summarize":
        labels = v.partition(c, c.size(1, 10))
        return f"found = pt.ensembles.summarize({labels}, {one}{arguments(options)})\ntext = repr(found)"
    options |= c.optional(20, k=lambda c: v.count(c, 5), max_iter=lambda c: v.count(c, 5))
    return f"check_labels(pt.ensembles.voting({one}{arguments(options)}), gaps=True)"


@target(4)
def repeat(c: Choices) -> str:
    """Runs of a function that clusters, sometimes badly."""
    n = c.size(1, 16)
    labels = c.pick(("seed % 2", "-1", "0", "0.5", "None", "'a'")) if c.chance(30) else "(row + seed) % 3"
    length = "X" if not c.chance(5) else "X[1:]"
    options = c.optional(
        30,
        resample=lambda c: c.pick(("0.8", "'bootstrap'", "0", "2", "float('nan')", "'x'")),
        stop="False",
    )
    return (
        f"X = np.arange({n} * 2.0).reshape({n}, 2)\n"
        f"runs = pt.ensembles.repeat(lambda X, seed: [{labels} for row in range(len({length}))], X, "
        f"runs={v.count(c, 6)}, rng={v.seed(c)}{arguments(options)})\n"
        f"check_true(np.asarray(runs).shape[0] == {n}, 'a row per item')\ntext = repr(runs)"
    )
