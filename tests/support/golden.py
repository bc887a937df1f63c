"""Golden results: seeded results of every public path, with the counted steps and CPU seconds that they took.

    python tests/support/golden.py make [PATTERN]             writes golden.json
    python tests/support/golden.py check [--exact] [PATTERN]  compares with it: what differs, and the CPU seconds

Integers, labels and strings must be the same, and numbers to 1e-9; with --exact to the last bit. On another CPU or with
another NumPy a chain may go another way: the tests then skip, and `make` writes results of one's own to compare with.
A case is "family/variant"; the first case of each family is quick. Cases use public names only, so that they outlive
the modules behind them.
"""

import contextlib
import copy
import dataclasses
import functools
import hashlib
import json
import math
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy._core._multiarray_umath import __cpu_features__
from typer.testing import CliRunner

import partita as pt
from partita import _core
from partita.cli import app

FILE = Path(__file__).with_name("golden.json")
TOLERANCE = 1e-9
Results = Mapping[str, Any]
Record = dict[str, Any]
CASES: dict[str, Callable[[], Results]] = {}

# --- What is recorded ------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Work:
    """Counted steps and CPU seconds."""

    steps: int = 0
    cpu: float = 0.0

    def since(self, start: "Work") -> "Work":
        return Work(self.steps - start.steps, self.cpu - start.cpu)


SHARED = Work()  # what shared inputs took: no case pays for them, whichever comes first


def work_so_far() -> Work:
    return Work(_core.counted_steps(), time.process_time()).since(SHARED)


def shared(make: Callable[..., Any]) -> Callable[..., Any]:
    """An input that cases share, made once, and not at the expense of the first."""

    @functools.cache
    def made(*arguments: Any, **options: Any) -> Any:
        start = work_so_far()
        value = make(*arguments, **options)
        took = work_so_far().since(start)
        SHARED.steps += took.steps
        SHARED.cpu += took.cpu
        return value

    return made


def plain(value: Any, floats: list[float]) -> Any:
    """The value as lists and dictionaries, its floats set aside; what tells the time is left out."""
    if dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(value[key], floats) for key in value if str(key) not in ("seconds", "version")}
    if isinstance(value, (list, tuple)):
        return [plain(each, floats) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind == "f":
            floats.extend(np.ravel(value).tolist())
            return ["floats", list(value.shape)]
        return plain(value.tolist(), floats)
    if isinstance(value, float):
        floats.append(value)
        return "float"
    return value if value is None or isinstance(value, (bool, int)) else str(value)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def record_of(value: Any) -> Record:
    """Digests of a result; few floats as they are, many as a digest and two sums."""
    floats: list[float] = []
    record: Record = {"is": digest(json.dumps(plain(value, floats)))}
    if len(floats) <= 3:
        return record | ({"floats": floats} if floats else {})
    finite = np.nan_to_num(np.array(floats), nan=0.5, posinf=0.25, neginf=-0.25)
    sums = [float(np.abs(finite).sum()), float(finite @ np.cos(np.arange(finite.size)))]
    return record | {"all": digest(repr(floats)), "sums": sums}


def run(name: str) -> Record:
    """What a case gives: a record for each result, the steps, the CPU seconds and the kinds of warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        start = work_so_far()
        results = CASES[name]()
        took = work_so_far().since(start)
    kinds = sorted({each.category.__name__ for each in told if issubclass(each.category, UserWarning)})
    records = {key: record_of(value) for key, value in results.items()}
    return {"results": records, "warned": kinds, "steps": took.steps, "cpu": round(took.cpu, 4)}


def close(then: Record, now: Record) -> bool:
    """Whether two records agree but for rounding. Sums are compared on the scale of the first, that of the sizes."""
    if then["is"] != now["is"] or then.keys() != now.keys():
        return False
    if "sums" in then:
        scale = TOLERANCE * (1 + then["sums"][0])
        return all(abs(a - b) <= scale for a, b in zip(then["sums"], now["sums"], strict=True))
    pairs = zip(then.get("floats", []), now.get("floats", []), strict=True)
    return all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-12) or (a != a and b != b) for a, b in pairs)


def compare(then: Record, now: Record, exact: bool = False) -> list[str]:
    """What differs between two records of a case, the CPU seconds aside."""
    old, new = then["results"], now["results"]
    same = (lambda a, b: json.dumps(a) == json.dumps(b)) if exact else close
    kept = old.keys() & new.keys()
    differing = (old.keys() ^ new.keys()) | {key for key in kept if not same(old[key], new[key])}
    shown = [f"{key}: {old.get(key)} -> {new.get(key)}" for key in sorted(differing)]
    return shown + [f"{key}: {then[key]} -> {now[key]}" for key in ("warned", "steps") if then[key] != now[key]]


# --- Inputs ----------------------------------------------------------------------------------------------------------


SIZES = {"few": (100, 400, 6), "many": (240, 80, 90), "tiny": (9, 40, 3)}
SIZES |= {"large": (3000, 60, 12), "lists": (3000, 60, 1000)}


def noise(*shape: int) -> Any:
    return np.random.default_rng(5).random(shape)


@shared
def draws(name: str) -> Any:
    if name == "chains":
        return draws("few").reshape(4, 100, 100)
    if name == "gaps":  # every fourth draw labels all items, so that it can be an estimate
        holes = (noise(400, 100) < 0.1) & (np.arange(400) % 4 > 0)[:, None]
        return pt.as_sample(np.where(holes, -1, draws("few")), missing=-1)
    return pt.datasets.make_draws(*SIZES[name], doubt=0.25, rng=len(name))


@shared
def estimate_of(name: str, loss: str = "vi") -> Any:
    best = pt.estimate(draws(name), loss, search=SEARCH, rng=1, check_draws=False)
    assert best.distances.size  # kept by the estimate: no case is the first to ask
    return best


@shared
def points() -> Any:
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(mean, 1, (20, 2)) for mean in (-5, 0, 5)])


@shared
def table(*names: str, gaps: bool = True) -> Any:
    """Columns of all families; every tenth cell or so is missing, but for those of `ill`."""
    rng, kind = np.random.default_rng(2), np.repeat([0, 1, 2], 20)
    rows = pd.DataFrame({"x": rng.normal(3 * kind, 1), "y": rng.normal(3 * kind, 1)})
    rows["weight"], rows["visits"] = np.exp(rng.normal(kind, 0.5)), rng.poisson(2 + 4 * kind)
    rows["colour"] = np.array(list("rgb"))[kind]
    rows = rows.mask(rng.random(rows.shape) < 0.1) if gaps else rows
    rows["ill"] = kind == 1
    return rows[list(names or rows)]


@shared
def network(edges: str = "binary", directed: bool = True, loops: bool = False) -> Any:
    rng, kind = np.random.default_rng(3), np.repeat([0, 1, 2], 12)
    there = rng.random((36, 36)) < np.where(kind[:, None] == kind, 0.5, 0.08)
    mark = {
        "binary": np.ones((36, 36)),
        "counts": 1 + rng.poisson(1.5, (36, 36)),
        "real": rng.normal(kind[:, None] + 0.5, 1, (36, 36)),
        "categories": rng.integers(1, 4, (36, 36)),
        "signed": rng.choice([-1, 1], (36, 36)),
    }[edges]
    matrix = there * mark
    matrix = matrix if directed else np.triu(matrix) + np.triu(matrix, 1).T
    return matrix if loops else matrix - np.diag(np.diag(matrix))


@shared
def base(gaps: bool = False) -> Any:
    labels = pt.datasets.make_draws(60, 9, 4, doubt=0.3, rng=7).T
    return np.where(noise(60, 9) < 0.1, -1, labels) if gaps else labels


@contextlib.contextmanager
def folder() -> Iterator[None]:
    """A new folder to work in, which goes afterwards."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as path:
        os.chdir(path)
        try:
            yield
        finally:
            os.chdir(before)


# --- Cases -----------------------------------------------------------------------------------------------------------

M, E = pt.models, pt.ensembles
DATA = ("few", "many", "gaps")
WEIGHTED = {"vi": "vi", "binder": "binder", "vi 0.6 1": pt.VI(0.6, 1), "binder 1 0.4": pt.Binder(1, 0.4)}
LOSSES = WEIGHTED | {name: name for name in ("nvi", "id", "nid", "omari", "zero-one")}
LOSSES["custom"] = pt.CustomLoss(np.square, np.square, np.square, lambda both, x, y: np.sqrt(np.abs(x + y - 2 * both)))
SUPPORTED = {"hasse": WEIGHTED, "lower-bound": ("vi", "vi 0.6 1"), "exact": WEIGHTED}
ESTIMATE = "labels expected_loss proven gap criterion standard_error runs n_runs times_reached cautions"
SEARCH = pt.Search(runs=3, n_jobs=1)
SHORT = {"draws": 25, "warmup": 15, "chains": 2, "n_jobs": 1}
MAXIMIZE = {"restarts": 2, "rng": 1, "n_jobs": 1}


def pick(result: Any, names: str) -> Results:
    """Attributes of a result, and what its methods return: "labels table()"."""
    found = {name: attrgetter(name.removesuffix("()"))(result) for name in names.split()}
    return {name: value() if name.endswith("()") else value for name, value in found.items()}


def case(name: str, names: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Adds a case: the named parts of what the function returns, or all of a dictionary."""
    found = functools.partial(function, *arguments, **options)
    CASES[name] = (lambda: pick(found(), names)) if names else found


# Estimates


def estimate(data: str, loss: Any = "vi", method: str = "search", search: pt.Search = SEARCH, **options: Any) -> Any:
    return pt.estimate(draws(data), loss, method, search, rng=1, **options)


def estimates(data: str, method: str) -> Results:
    """One method under all losses that it supports."""
    found = {loss: estimate(data, LOSSES[loss], method) for loss in SUPPORTED.get(method, LOSSES)}
    return {loss: pick(each, "labels expected_loss criterion") for loss, each in found.items()}


for z in DATA:
    for method in ("search", "salso", "greedy"):
        for loss in LOSSES:
            case(f"{method}/{z} {loss}", ESTIMATE, estimate, z, LOSSES[loss], method)
    for method in ("draws", "map", "medv", "pear", "hasse", "lower-bound", "laugreen", "mpmms"):
        case(f"{method}/{z}", "", estimates, z, method)
for method in ("exact", "enumerate"):
    case(f"{method}/tiny", "", estimates, "tiny", method)
for z in ("large", "lists"):
    for loss in ("vi", "binder", "omari"):
        case(f"large/{z} {loss}", ESTIMATE, estimate, z, loss)

START = np.arange(100) % 6
limited = functools.partial(pt.Search, runs=3, n_jobs=1)
for name, options in {
    "max_clusters 3": {"search": limited(max_clusters=3)},
    "no limit": {"search": limited(max_clusters=math.inf)},
    "default runs": {"search": limited(runs=None)},
    "held out": {"search": limited(max_draws=80)},
    "salso": {"method": "salso", "search": limited(zealous=2, p_sequential=0.9)},
    "start": {"start": START},
    "starts": {"start": [START, START // 2], "method": "greedy"},
    "weights": {"weights": 1 + np.arange(400) % 3},
    "criterion": {"method": "hasse", "criterion": "lower-bound"},
    "density": {"method": "map", "log_density": np.sin(np.arange(400))},
}.items():
    case(f"options/{name}", f"{ESTIMATE} held_out", estimate, "few", **options)

LIMITS = {
    "pairs": pt.Constraints(together=[(0, 1, 2)], apart=[(0, 5), (3, 4)]),
    "one per": pt.Constraints(one_per=[None] * 40 + list(np.arange(60) % 8)),
}
PAIR_ESTIMATE = "labels expected_loss proven gap components cautions"


@shared
def pairs(kind: str) -> Any:
    if kind == "dense":
        return pt.as_similarity(pt.similarity(draws("few"), n_jobs=1))
    listed = pt.similarity(draws("many" if kind == "sparse" else "few"), n_jobs=1, sparse=True, above=0.1)
    return listed if kind == "sparse" else pt.as_similarity(pd.DataFrame(listed.pairs()).T, default=0.05)


def linked(kind: str, loss: str = "binder", method: str = "search", **options: Any) -> Any:
    return pt.estimate(pairs(kind), loss, method, SEARCH, rng=1, **options)


for loss in ("binder", "vi-lower-bound", "pear"):
    case(f"pairs/dense {loss}", PAIR_ESTIMATE, linked, "dense", loss)
    case(f"pairs/sparse {loss}", PAIR_ESTIMATE, linked, "sparse", loss)
    case(f"pair_loss/{loss}", "", lambda name=loss: {"loss": pt.pair_loss(START, pairs("dense"), name)})
case("pairs/listed", PAIR_ESTIMATE, linked, "listed")
case("pairs/exact", PAIR_ESTIMATE, linked, "sparse", method="exact")
for name, limits in LIMITS.items():
    case(f"pairs/{name}", PAIR_ESTIMATE, linked, "dense", constraints=limits)
    for loss in ("vi", "binder", "nid"):
        case(f"constraints/{name} {loss}", ESTIMATE, estimate, "few", loss, constraints=limits)
for method in ("exact", "enumerate"):
    case(f"constraints/{method}", ESTIMATE, estimate, "tiny", "binder", method, constraints=LIMITS["pairs"])

# Losses, similarity, the lattice


def under_all_losses(function: Callable[..., Any], inputs: Callable[[], tuple[Any, ...]], **options: Any) -> Results:
    return {name: function(*inputs(), loss, **options) for name, loss in LOSSES.items()}


def matrices(data: str) -> Results:
    psm, x = pt.similarity(draws(data), n_jobs=1), estimate_of(data).labels
    some = pt.similarity(draws(data), items=[3, 1, 8], dtype=np.float32, n_jobs=1)
    sparse = pt.similarity(draws(data), n_jobs=1, sparse=True, above=0.3)
    values = {"values": [pt.vi_lower_bound(x, psm), pt.pear(x, psm), pt.lau_green(x, psm, 1, 0.5)]}
    return {"psm": psm, "some": some, "sparse": sparse.pairs()} | values


def lattice() -> Results:
    x, y = draws("tiny")[:2]
    two = (pt.meet, pt.join, pt.refines, pt.covers, pt.align_labels, pt.compare_partitions, pt.f1, pt.nmi)
    counted = [pt.bell(30), pt.stirling2(20, 7), list(pt.enumerate_partitions(6, 4)), pt.canonical(list("bacab"))]
    return {each.__name__: each(x, y) for each in two} | {"counted": counted, "ari": pt.adjusted_rand(x, y)}


for z in DATA:
    rows = functools.partial(lambda z: (draws("few" if z == "gaps" else z)[:50], draws(z)), z)
    case(f"expected_loss/{z}", "", under_all_losses, pt.expected_loss, rows, n_jobs=1)
    best = functools.partial(lambda z: (estimate_of(z).labels, draws(z)), z)
    case(f"distances/{z}", "", under_all_losses, pt.distances, best, n_jobs=1)
    case(f"similarity/{z}", "", matrices, z)
case("pairwise/few", "", under_all_losses, pt.pairwise_distances, lambda: (draws("few")[:60],), n_jobs=1)
case("partition_loss/few", "", under_all_losses, pt.partition_loss, lambda: tuple(draws("few")[:2]))
case("partitions/all", "", lattice)

# Uncertainty


def of_estimate(function: Callable[..., Any], data: str, loss: str = "vi", **options: Any) -> Any:
    return function(estimate_of(data, loss), **options)


def of_draws(function: Callable[..., Any], data: str, *arguments: Any, **options: Any) -> Any:
    return function(draws(data), *arguments, **options)


def certainty(data: str) -> Results:
    functions = (pt.item_certainty, pt.cluster_stability, pt.exemplars, pt.items_to_check)
    found = {each.__name__: each(estimate_of(data)) for each in functions}
    return found | {"clusters": pt.n_clusters_posterior(draws(data))}


def conformal(loss: str) -> Results:
    found, x = pt.conformal_set(draws("few"), 0.9, loss, references=60, n_jobs=1), estimate_of("few").labels
    return pick(found, "threshold scores members n_effective") | {"p": found.p_value(x), "in": found.contains(x)}


def two_posteriors(loss: str) -> Any:
    other = pt.datasets.make_draws(100, 200, 6, doubt=0.25, rng=9)
    return pt.compare_posteriors(draws("few"), other, loss, permutations=49, search=SEARCH, n_jobs=1, rng=1)


def monitored() -> Any:
    watching = pt.monitor(search=SEARCH, rng=1)
    for rows in draws("few").reshape(8, 50, 100):
        watching.feed(rows)
    return watching


SEEDED = {"search": SEARCH, "rng": 1}
for z in DATA:
    for loss in ("vi", "binder", "nid"):
        names = "radius mass upper lower horizontal distances standard_error summary()"
        case(f"ball/{z} {loss}", names, of_estimate, pt.credible_ball, z, loss, level=0.9, n_jobs=1)
        case(f"merge_tree/{z} {loss}", "pairs sizes linkage()", of_estimate, pt.merge_tree, z, loss, n_jobs=1)
    case(f"certainty/{z}", "", certainty, z)
for z in ("few", "many"):
    names = "labels probability completed order clusters curve area"
    case(f"partial/{z}", names, of_draws, pt.partial_clustering, z, 0.5, complete=True, rng=1)
    names = "levels expected_loss parents first_level support estimate_level newick()"
    case(f"hierarchy/{z}", names, of_draws, pt.hierarchy, z, **SEEDED)
    names = "expected_loss radius certainty same distance n_clusters labels n_batches in_words()"
    case(f"monte_carlo_error/{z}", names, of_estimate, pt.monte_carlo_error, z, **SEEDED)
for z, k in {"few": 2, "tiny": None}.items():
    case(f"modes/{z}", "labels weights assignment distance elbow table()", of_draws, pt.modes, z, k, **SEEDED)
for loss in ("vi", "binder", "omari"):  # not id, whose bound differs from run to run
    case(f"bound/{loss}", "value gap method proven", of_estimate, pt.lower_bound, "tiny", loss, seconds=60)
    case(f"conformal/{loss}", "", conformal, loss)
    names = "quantities chain_distances advice converged chain_labels"
    case(f"diagnostics/{loss}", names, of_draws, pt.diagnostics, "chains", loss, log_density=noise(4, 100), **SEEDED)
for loss in ("vi", "binder"):
    names = "distance p_value items estimate_distance n_blocks block_length pairs()"
    case(f"compare_posteriors/{loss}", names, two_posteriors, loss)
    names = "a n_clusters estimate.labels"
    case(f"weights_for/{loss}", names, of_draws, pt.weights_for, "few", loss, n_clusters=4, steps=8, **SEEDED)
THETA = noise(400, 100)
case("cluster_parameters/few", "clusters items", of_estimate, pt.cluster_parameters, "few", theta=THETA, rng=1)
case("monitor/few", "settled checks check_now() in_words()", monitored)

# Mixtures


def sampled(model: Any, data: Callable[[], Any], **options: Any) -> Any:
    return model.sample(data(), **SHORT, rng=1, **options)


def fitted(model: Any, data: Callable[[], Any]) -> Results:
    """A fitted model and what it says of rows."""
    rows, model = data(), copy.copy(model).set_params(sampling=M.Sampling(**SHORT), random_state=1).fit(data())
    methods = (model.predict, model.predict_proba, model.score_samples, model.score)
    return pick(model, "labels_ estimate_.expected_loss") | {method.__name__: method(rows) for method in methods}


def maximized(model: Any, data: Callable[[], Any], **options: Any) -> Any:
    return model.maximize(data(), **MAXIMIZE | options)


def means(covariance: str) -> Results:
    model, labels = M.GaussianDPM(covariance), np.repeat([0, 1, 2], 20)
    chain = sampled(model, points)
    found = {"means": model.draw_means(chain, rng=1), "density": chain.predictive_density(points())}
    return found | {"allocation": model.allocation(chain, labels, points()), "icl": model.icl(points(), labels)}


FIT = "labels icl path.icl path.kept path.absorbed run_icl times_reached"
for name, model in {
    "full": M.GaussianDPM(),
    "diag": M.GaussianDPM("diag"),
    "alpha": M.GaussianDPM(alpha=0.5),
    "gamma": M.GaussianDPM(alpha=M.GammaAlpha(2.0, 3.0)),
    "power": M.GaussianDPM("diag", alpha=M.PowerAlpha()),
    "discount": M.GaussianDPM(discount=0.3, alpha=1.0),
    "finite": M.GaussianDPM(components=M.FiniteMixture()),
    "standardize": M.GaussianDPM(standardize=True, mu0=[0.1, 0.2]),
    "grid": M.GaussianDPM(hyperprior=M.WishartGrid(size=5)),
    "base": M.GaussianDPM(kappa0=0.1, nu0=5, scale=np.eye(2)),
    "moves": M.GaussianDPM(moves=M.SplitMergeMoves(3.0, 4)),
}.items():
    case(f"gaussian sample/{name}", "labels stats", sampled, model, points)
for covariance in ("full", "diag"):
    case(f"gaussian maximize/{covariance}", FIT, maximized, M.GaussianDPM(covariance), points)
    case(f"gaussian fit/{covariance}", "", fitted, M.GaussianDPM(covariance), points)
    case(f"gaussian means/{covariance}", "", means, covariance)

FAMILIES = {"weight": "positive", "visits": "count"}
for name, (model, data) in {
    "all": (M.MixtureDPM(FAMILIES), table),
    "gaussian": (M.MixtureDPM(), functools.partial(table, "x", "y")),
    "positive": (M.MixtureDPM("positive"), functools.partial(table, "weight")),
    "count": (M.MixtureDPM("count", alpha=0.7), functools.partial(table, "visits")),
    "words": (M.MixtureDPM(discrete=M.DiscreteBase(weight=0.5)), functools.partial(table, "colour", "ill")),
    "full": (M.MixtureDPM(FAMILIES, full=[["x", "y"]]), functools.partial(table, gaps=False)),
    "finite": (M.MixtureDPM(FAMILIES, components=M.FiniteMixture()), table),
}.items():
    case(f"mixture sample/{name}", "labels stats", sampled, model, data)
    case(f"mixture maximize/{name}", FIT, maximized, model, data)
    case(f"mixture fit/{name}", "", fitted, model, data)


def profiled(found: Any) -> Any:
    return pt.profiles(found, table(), columns=FAMILIES, draws=40, rng=1)


@shared
def mixture_chain() -> Any:
    return sampled(M.MixtureDPM(FAMILIES), table)


case("impute/all", "n_cells columns summary()", lambda: mixture_chain().impute(draws=10, rng=1))
case("density/mixture", "", lambda: {"density": mixture_chain().predictive_density(table())})
case("profiles/draws", "text() columns", lambda: profiled(pt.estimate(mixture_chain(), **SEEDED)))
case("profiles/fit", "text() columns", lambda: profiled(maximized(M.MixtureDPM(FAMILIES), table)))

# Networks

PAIRS = [(0, 1), (0, 19), (30, 2), (5, 6)]
SBM = M.StochasticBlockModel(directed=False)
LAYERS = M.LayeredBlockModel({"a": SBM, "b": M.StochasticBlockModel(edges="counts")})
undirected = functools.partial(network, "binary", False)


def network_chain(names: str, model: Any, data: Callable[[], Any]) -> Results:
    chain = sampled(model, data)
    return pick(chain, f"{names} stats") | {"edges": M.edge_probability(chain, PAIRS, draws=10)}


def network_fit(names: str, model: Any, data: Callable[[], Any], **options: Any) -> Results:
    fit = maximized(model, data, **options)
    return pick(fit, f"{names} blocks()") | {"edges": [fit.predict(PAIRS), M.edge_probability(fit, PAIRS)]}


def both(family: str, variant: str, model: Any, data: Callable[[], Any], names: str = "labels") -> None:
    case(f"{family} sample/{variant}", "", network_chain, names, model, data)
    case(f"{family} maximize/{variant}", "", network_fit, f"{names} order {FIT.removeprefix('labels')}", model, data)


for edges in ("binary", "counts", "real", "categories", "signed"):
    for corrected in (False, True)[: 2 if edges in ("binary", "counts") else 1]:
        kind, about = {"edges": edges, "degree_corrected": corrected}, edges + " corrected" * corrected
        matrix = functools.partial(lambda edges: network(edges)[:, :20], edges)
        both("lbm", about, M.LatentBlockModel(**kind), matrix, "rows columns")
        for directed in (True, False):
            for blocks in ("free", "affiliation"):
                model = M.StochasticBlockModel(directed, blocks=blocks, **kind)
                variant = f"{about} {'directed' if directed else 'undirected'} {blocks}"
                both("sbm", variant, model, functools.partial(network, edges, directed))
counted = M.StochasticBlockModel(edges="counts", a0=2.0, b0=0.5, k_prior=0.5)
both("sbm", "prior", counted, functools.partial(network, "counts"))
loops = M.StochasticBlockModel(loops=True, n0=0.5, eta0=0.5, zeta0=2.0)
both("sbm", "loops", loops, functools.partial(network, loops=True))
both("sbm", "gaps", M.StochasticBlockModel(), lambda: np.where(noise(36, 36) < 0.05, np.nan, network()))
for name, value in {"algorithm": "come-latouche", "k_max": 2, "starts": [START[:36]]}.items():
    case(f"sbm search/{name}", FIT, maximized, SBM, undirected, **{name: value})
for directed in (False, True):
    for kind in ({}, {"edges": "counts"}, {"edges": "counts", "degree_corrected": True}):
        graph = functools.partial(network, kind.get("edges", "binary"), directed)
        model = M.NestedBlockModel(directed, **kind)
        case(f"nested/{directed} {len(kind)}", "", network_fit, f"levels parents {FIT}", model, graph)
case("layers/sample", "labels stats", sampled, LAYERS, lambda: {"a": undirected(), "b": network("counts")})
case("layers/maximize", FIT, maximized, LAYERS, lambda: {"a": undirected(), "b": network("counts")})
BESIDE = M.LayeredBlockModel({"ties": SBM, "rows": M.MixtureDPM(FAMILIES)})
case("layers/table sample", "labels stats", sampled, BESIDE, lambda: {"ties": undirected(), "rows": table()[:36]})
case("layers/table", f"{FIT} evidence", maximized, BESIDE, lambda: {"ties": undirected(), "rows": table()[:36]})


def compared() -> Results:
    models = [SBM, M.StochasticBlockModel(directed=False, degree_corrected=True)]
    rows = M.compare_models(undirected(), models, **MAXIMIZE).rows
    return {str(i): pick(row, "below exact scale fit.labels fit.icl held_out.auc") for i, row in enumerate(rows)}


def resumed() -> Any:
    with folder():
        sampled(SBM, undirected, path="run")
        return pt.resume("run", draws=40, n_jobs=1)


case("compare_models/all", "", compared)
case("hidden dyads/sbm", "auc log_score baseline n_pairs n_edges", lambda: M.held_out(SBM, undirected(), **MAXIMIZE))
case("resume/sbm", "labels stats", resumed)
corrected = M.StochasticBlockModel(degree_corrected=True)
case("estimate_icl/sbm", "", lambda: {"icl": corrected.estimate_icl(network(), np.arange(36) // 12, 100, 1)})
for rival in (M.variational_em, M.affiliation_vb):
    case(f"rivals/{rival.__name__}", "labels criterion by_k", lambda rival=rival: rival(network(), [2, 3, 4], rng=1))
case("rivals/louvain", "labels criterion", lambda: M.louvain(network(), rng=1))

# Ensembles


def ensemble(model: Any, names: str, gaps: bool = False) -> Results:
    found, rows = model.fit(base(gaps)), base(gaps)
    return pick(found, f"labels_ {names}") | {"new": [found.perplexity(rows), found.predict_proba(rows[:9])]}


def combined(*functions: Callable[..., Any], gaps: bool = False, **options: Any) -> Results:
    return {function.__name__: function(base(gaps), **options) for function in functions}


for gaps in (False, True):
    about = "gaps" if gaps else "complete"
    for inference, prior in (("gibbs", "fsd"), ("gibbs", "tsb"), ("cvb", "fsd"), ("cvb", "tsb"), ("vb", "fsd")):
        settings = {"sampling": M.Sampling(**SHORT), "ascent": E.Ascent(restarts=2), "random_state": 1}
        names = "alpha_ beta_ weights_ certainty_" + " bound_" * (inference != "gibbs")
        case(f"nbce/{about} {inference} {prior}", "", ensemble, E.NBCE(inference, prior, 12, **settings), names, gaps)
    case(f"bce/{about}", "", ensemble, E.BCE(4, random_state=1), "alpha_ bound_", gaps)
    case(f"mixture model/{about}", "", ensemble, E.MixtureModel(4, random_state=1), "log_likelihood_", gaps)
    case(f"consensus/{about}", "", combined, E.consensus, gaps=gaps, **SEEDED)
    case(f"consensus/{about} k", "", combined, E.consensus, gaps=gaps, loss="binder", k=3, **SEEDED)
    case(f"graphs/{about}", "", combined, E.cspa, E.mcla, gaps=gaps, k=4, rng=1)
    case(f"voting/{about}", "", combined, E.voting, E.evidence_accumulation, gaps=gaps, k=4)
    case(f"association/{about}", "", combined, E.co_association, E.dependence, gaps=gaps)
case("hgpa/complete", "", combined, E.hgpa, k=4, rng=1)
fixed = E.NBCE("vb", alpha=1.0, beta=0.5, truncation=12, weights=None, random_state=1)
case("nbce/fixed", "", ensemble, fixed, "bound_")
case("summary/labels", "labels weights certainty agreement pairs", lambda: E.summarize(base()[:, 0], base()))
case("stability/two", "best k pac cdf", lambda: E.ambiguity({3: base()[:, :4], 4: base()[:, 4:]}, rng=1))
case("kmeans/ensemble", "", lambda: {"base": E.kmeans_ensemble(points(), 3, n_clusterings=4, rng=1)})

# Files and the command line


def written(name: str) -> Results:
    """Draws written to a file and read again."""
    with folder():
        pt.write_draws(name, draws("few"))
        text = Path(name).read_text() if name.endswith("csv") else ""
        labels = pt.write_labels("labels.csv", estimate_of("few")).read_text()
        return pick(pt.read_draws(name, burn=10, thin=3), "labels weights index") | {"text": text, "file": labels}


def write_inputs() -> None:
    edges, items = np.argwhere(np.triu(undirected())), np.arange(30)
    for name, columns in {
        "truth": {"item": items, "label": items % 4},
        "labels": {"item": items, "label": items // 8},
        "table": table(),
        "edges": {"source": edges[:, 0], "target": edges[:, 1]},
        "base": {f"c{j}": column for j, column in enumerate(base().T)},
        "points": {"x": points()[:, 0], "y": points()[:, 1]},
        "pairs": dict(zip(("left", "right", "probability"), pairs("listed").pairs(), strict=True)),
    }.items():
        pd.DataFrame(columns).to_csv(f"{name}.csv", index=False)
    for name, rows in {"draws": draws("few")[:100, :30], "other": draws("few")[100:200, 30:60]}.items():
        pt.write_draws(f"{name}.csv", rows)


def page(path: Path) -> Results:
    """What a page says, but for the table of runs, which has their seconds."""
    facts = pt.read_report(path)
    tables = {name: rows for name, rows in facts.tables.items() if name != "runs"}
    return pick(facts, "kind answer labels notes") | {"tables": tables}


def command(words: str) -> Results:
    """What the command prints (JSON as data), the text files that it writes and what its page says."""
    with folder():
        write_inputs()
        before = set(Path().rglob("*"))
        done = CliRunner().invoke(app, words.split())
        if done.exit_code not in (0, 1) or not isinstance(done.exception, SystemExit | None):
            raise RuntimeError(f"partita {words}: {done.output}") from done.exception
        new = [path for path in sorted(set(Path().rglob("*")) - before) if path.name != "runs.csv"]
        files = {path.as_posix(): path.read_text() for path in new if path.suffix in (".csv", ".nwk")}
        pages = [page(path) for path in new if path.suffix == ".html"]
        output = json.loads(done.stdout) if "--json" in words else done.stdout
        return {"output": output, "code": done.exit_code, "files": files, "pages": pages}


for suffix in ("csv", "csv.gz", "npy", "npz", "parquet", "zarr", "nc"):
    case(f"files/{suffix}", "", written, f"draws.{suffix}")
BRIEF = "--draws 25 --warmup 15 --chains 2"
COMMANDS = f"""
estimate draws.csv --seed 1 --jobs 1 --json
estimate draws.csv --seed 1 --jobs 1
estimate draws.csv --seed 1 --jobs 1 --loss binder --a 0.7 --method salso --truth truth.csv --out run
estimate --pairs pairs.csv --seed 1 --jobs 1 --default 0.05 --json
ball draws.csv --seed 1 --jobs 1 --json
ball draws.csv --labels labels.csv --level 0.8
similarity draws.csv
similarity draws.csv --out psm.csv --json
compare truth.csv labels.csv --draws draws.csv --json
compare truth.csv labels.csv
compare-posteriors draws.csv other.csv --permutations 19 --seed 1 --jobs 1 --json
partial draws.csv --probability 0.5 --complete --seed 1 --json
hierarchy draws.csv --seed 1 --jobs 1 --newick tree.nwk --json
monitor draws.csv --once --seed 1 --jobs 1 --json
cluster table.csv --family visits=count {BRIEF} --seed 1 --jobs 1 --out run --json
cluster table.csv --maximize --restarts 2 --seed 1 --out run
blockmodel edges.csv --undirected --restarts 2 --seed 1 --json
blockmodel edges.csv --undirected --restarts 2 --seed 1 --out run
blockmodel edges.csv --undirected --restarts 2 --seed 1 --nested --json
ensemble base.csv --seed 1 --json
ensemble base.csv --method nbce {BRIEF} --seed 1 --quiet --out run
ensemble base.csv --method mixture --k 4 --seed 1
report draws.csv --seed 1 --jobs 1 --partial 0.5 --tree --errors --truth truth.csv --json
sample dpm points.csv {BRIEF} --seed 1 --jobs 1 --out run --json
sample mixture table.csv {BRIEF} --seed 1 --jobs 1 --out run
sample sbm edges.csv --undirected {BRIEF} --seed 1 --jobs 1 --out run --json
convert draws.csv --burn 10 --thin 2 --out less.csv
demo --draws 20 --out demo --json
"""
for words in COMMANDS.strip().splitlines():
    case(f"command/{words}", "", command, words)

QUICK = tuple({name.split("/")[0]: name for name in reversed(CASES)}.values())

# --- The command -----------------------------------------------------------------------------------------------------


def platform() -> Record:
    """What the last bits depend on besides our code: vector instructions, and the versions of NumPy and SciPy."""
    features = [name for name in ("AVX2", "FMA3", "AVX512F", "AVX512_SKX", "NEON") if __cpu_features__.get(name)]
    return {"cpu": features, "numpy": np.__version__, "scipy": scipy.__version__}


def golden_cases() -> dict[str, Record]:
    """The golden results by case."""
    cases: dict[str, Record] = json.loads(FILE.read_text())["cases"]
    return cases


def made_elsewhere() -> str:
    """Where the golden results were made, if another platform may give others; empty on the same."""
    made = json.loads(FILE.read_text())["platform"]
    return "" if made == platform() else f"golden results were made with {made}, this is {platform()}"


def make(pattern: str) -> None:
    kept = golden_cases() if pattern and FILE.exists() else {}
    kept |= {name: run(name) for name in CASES if re.search(pattern, name)}
    lines = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in CASES if name in kept]
    FILE.write_text(f'{{"platform": {json.dumps(platform())},\n"cases": {{\n' + ",\n".join(lines) + "\n}}\n")


def differences(name: str, golden: Mapping[str, Record], exact: bool) -> tuple[list[str], float]:
    """What differs in a case, and the CPU seconds that it took."""
    if name not in golden or name not in CASES:
        return [f"is {'not in golden.json' if name in CASES else 'no longer a case'}"], 0.0
    try:
        now = run(name)
    except Exception as error:  # one case that fails must not hide what the others say
        return [f"{type(error).__name__}: {error}"], 0.0
    return compare(golden[name], now, exact), now["cpu"]


def check(pattern: str, exact: bool) -> int:
    """Prints what differs and how the CPU seconds compare; the number of cases that differ."""
    golden = golden_cases()
    chosen = [name for name in golden | CASES if re.search(pattern, name)]
    then, now, differing = 0.0, 0.0, 0
    for name in chosen:
        found, seconds = differences(name, golden, exact)
        if found:
            differing += 1
            print(f"{name}:", *found, sep="\n    ")
        if seconds:
            before = golden[name]["cpu"]
            then, now = then + before, now + seconds
            if seconds > max(1.5 * before, 0.2):
                print(f"{name}: {before:.2f} CPU seconds then, {seconds:.2f} now")
    ratio = f"CPU seconds {then:.1f} then, {now:.1f} now: ratio {now / then:.2f}" if then else "none was run"
    print(f"{len(chosen)} cases, {differing} differ; {ratio}")
    return differing


def main(action: str, *words: str) -> int:
    pattern = "".join(word for word in words if word != "--exact")
    if action == "make":
        make(pattern)
        return 0
    return int(check(pattern, "--exact" in words) > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
