"""What is asked once there is an estimate: memberships, priors, outside variables, pooled draws, fused components."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.registry import target

PRIORS = (
    "1.0",
    "None",
    "0.01",
    "1e300",
    "(3, 8)",
    "(8, 3)",
    "pt.models.GammaAlpha(1, 1)",
    "pt.models.PowerAlpha()",
    "pt.models.FiniteMixture()",
    "-1",
    "0",
    "float('nan')",
    "'x'",
)
OUTCOMES = {"gaussian": "{y}", "binomial": "{y} > 0", "poisson": "np.abs({y}).astype(int)"}
OUTCOMES |= {"multinomial": "np.abs({y}).astype(int) % 3", "cox": "np.c_[np.abs({y}) + 0.1, {y} > -1]"}


def _estimate(d: v.Draws) -> str:
    return f"pt.estimate({d.text}, search=pt.Search(runs=1, n_jobs=1), rng=1)"


def _values(c: Choices, n: int) -> str:
    odd = ("float('nan')", "float('inf')", "1e300", "None", "'x'")
    cells = [c.pick(odd) if c.chance(1) else f"{c.below(800) / 100 - 4}" for _ in range(n)]
    return f"np.array([{', '.join(cells)}])"


def _chain(c: Choices) -> str:
    points = ", ".join(f"[{c.below(100) / 10}, {c.below(100) / 10}]" for _ in range(c.size(1, 14)))
    options = c.optional(50, alpha=lambda c: c.pick(("1.0", "0.5", "pt.models.GammaAlpha(2, 1)")), covariance="'diag'")
    length = "draws=8, warmup=4, chains=1, n_jobs=1, rng=1"
    return f"pt.models.GaussianDPM({arguments(options)[2:]}).sample([{points}], {length})"


@target(30)
def memberships(c: Choices) -> str:
    d = v.draws(c)
    subject = _estimate(d) if c.chance(50) else f"{v.partition(c, d.n_items)}, {d.text}"
    return (
        f"found = pt.memberships({subject})\ntotal = found.probabilities.sum(axis=1)\n"
        "check_true(np.all(np.isnan(total) | (np.abs(total - 1) < 1e-9)), 'rows sum to 1')\ntext = repr(found)"
    )


@target(20)
def prior_clusters(c: Choices) -> str:
    options = c.optional(20, discount=lambda c: c.pick(("0.5", "0", "1", "-0.1", "float('nan')")))
    n = c.pick(("10", "1", "200", "0", "-1", "2.5", "'x'"))
    return (
        f"found = pt.prior_clusters({n}, {c.pick(PRIORS)}{arguments(options)})\n"
        "check_true(abs(sum(found.probabilities.values()) - 1) < 1e-6, 'the sum of the probabilities')\n"
        "text = repr(found)"
    )


@target(6)
def sensitivity(c: Choices) -> str:
    alpha = c.pick(("[0.5, 1.0, 2.0]", "[1.0]", "[]", "[0]", "[float('nan')]", "1.0", "['x']", "[1e300]"))
    return f"found = pt.sensitivity({_chain(c)}, alpha={alpha}, rng=1)\ntext = repr(found)"


@target(8)
def relate(c: Choices) -> str:
    d = v.draws(c, most_items=20, most_draws=12)
    family = c.pick((*OUTCOMES, *OUTCOMES, "nonsense"))
    outcome = OUTCOMES.get(family, "{y}").format(y=f"({_values(c, d.n_items if not c.chance(3) else 2)})")
    options = c.optional(20, covariates=lambda c: _values(c, d.n_items))
    return f"found = pt.relate({_estimate(d)}, {outcome}, family={family!r}{arguments(options)})\ntext = repr(found)"


@target(15)
def pool(c: Choices) -> str:
    d = v.draws(c, most_items=12, most_draws=12)
    other = v.draws(c, most_items=12, most_draws=12) if c.chance(10) else d
    samples = c.pick((f"[{d.text}, {other.text}]", f"[{d.text}]", "[]", d.text))
    return f"pooled = pt.pool({samples})\ntext = repr(pooled)"


@target(6)
def fuse(c: Choices) -> str:
    options = c.optional(50, omega=lambda c: c.pick(("1.0", "5.0", "0", "-1", "1e300", "float('nan')", "'x'")))
    return f"best = pt.fuse({_chain(c)}{arguments(options)})\ncheck_pair_estimate(best)"


@target(10)
def methods_text(c: Choices) -> str:
    return f"text = {_estimate(v.draws(c))}.methods_text()\ncheck_true('draws' in text, 'a text about draws')"
