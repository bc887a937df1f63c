"""Gaussian mixtures: item updates and effective samples a second, against rDPGibbs of the R package bayesm.

    python -m benchmarks.sampler [--long]

Without R and bayesm the rival is a plain NumPy collapsed Gibbs sampler. Both run in the same run on one core; times are
CPU seconds, so that other work on the machine does not count. `--long` adds the Old Faithful analysis of Rastelli &
Friel at its full length.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.special import gammaln, multigammaln

from partita.models import GaussianDPM, PowerAlpha, SplitMergeMoves, WishartGrid

SHARED = Path(__file__).parents[1].parent / "shared" / "data"
SWEEPS, WARMUP = 20_000, 2_000

R_CODE = """
suppressMessages(library(bayesm))
args <- commandArgs(TRUE)
y <- as.matrix(read.csv(args[1], header = FALSE))
set.seed(1)
started <- proc.time()[["user.self"]]
sink("/dev/null")
out <- rDPGibbs(Prior = list(), Data = list(y = y), Mcmc = list(R = as.integer(args[2]), keep = 1, nprint = 0))
sink()
seconds <- proc.time()[["user.self"]] - started
writeBin(as.integer(t(out$nmix$zdraw)), args[3])
writeBin(c(seconds, out$alphadraw, out$adraw, out$nudraw, out$vdraw), args[4])
"""


def old_faithful() -> np.ndarray:
    return np.loadtxt(SHARED / "old_faithful.csv", delimiter=",", skiprows=1)


def paper_model(**settings) -> GaussianDPM:
    """The prior of rDPGibbs: Rastelli & Friel's eqs. 24 and 25."""
    return GaussianDPM(standardize=True, alpha=PowerAlpha(), hyperprior=WishartGrid(), **settings)


def effective_size(values: np.ndarray) -> float:
    """Geyer's initial positive sequence."""
    centred = values - values.mean()
    spectrum = np.fft.rfft(centred, 2 * len(values))
    correlation = np.fft.irfft(spectrum * spectrum.conj())[: len(values)]
    correlation /= correlation[0]
    pairs = correlation[1:-1:2] + correlation[2::2]
    end = np.flatnonzero(pairs < 0)
    return float(len(values) / (1 + 2 * pairs[: end[0] if len(end) else None].sum()))


def run_partita(X: np.ndarray, **settings) -> tuple[float, np.ndarray, np.ndarray]:
    """CPU seconds of SWEEPS sweeps of one chain, clusters and log density after the warmup."""
    sampler = paper_model(**settings)._sampler(X, 1, 0)
    started = time.process_time()
    _, stats = sampler.advance(SWEEPS, WARMUP, 1)
    return time.process_time() - started, stats[:, 1], stats[:, 0]


def run_bayesm(X: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("x.csv", "z", "rest", "code.R")]
        np.savetxt(files[0], X, delimiter=",", fmt="%.17g")
        Path(files[3]).write_text(R_CODE)
        command = ["Rscript", files[3], files[0], str(SWEEPS), files[1], files[2]]
        subprocess.run(command, check=True, capture_output=True)
        labels = np.fromfile(files[1], np.int32).reshape(SWEEPS, len(X))[WARMUP:]
        rest = np.fromfile(files[2])
    parameters = rest[1:].reshape(4, SWEEPS)[:, WARMUP:]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    densities = [log_density(scaled, z, *values) for z, values in zip(labels, parameters.T, strict=True)]
    clusters = np.array([len(np.unique(z)) for z in labels], float)
    return float(rest[0]), clusters, np.array(densities)


def log_density(X, z, alpha, a, nu, v) -> float:
    """ln p(X, partition | alpha, a, nu, v), what a Chain calls `log_density`."""
    n, d = X.shape
    groups = [X[z == k] for k in np.unique(z)]
    total = gammaln(alpha) - gammaln(alpha + n) + len(groups) * np.log(alpha)
    for group in groups:
        m, centre = len(group), group.mean(axis=0)
        scale = nu * v * np.eye(d) + (group - centre).T @ (group - centre)
        scale += a * m / (a + m) * np.outer(centre, centre)
        total += gammaln(m) - m * d / 2 * np.log(np.pi) + d / 2 * np.log(a / (a + m))
        total += multigammaln((nu + m) / 2, d) - multigammaln(nu / 2, d) + nu * d / 2 * np.log(nu * v)
        total -= (nu + m) / 2 * np.linalg.slogdet(scale)[1]
    return float(total)


def run_numpy(X: np.ndarray, sweeps: int = 20) -> float:
    """CPU seconds per sweep of a plain collapsed Gibbs sampler at fixed parameters."""
    rng, scaled = np.random.default_rng(1), (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    z = rng.integers(5, size=len(X))

    def predictive(x, group):
        n, d = group.shape
        centre = group.mean(axis=0)
        scale = np.eye(d) + (group - centre).T @ (group - centre) + 0.5 * n / (0.5 + n) * np.outer(centre, centre)
        kappa, nu, mean = 0.5 + n, 5.0 + n, n * centre / (0.5 + n)
        q = (x - mean) @ np.linalg.solve(scale, x - mean) * kappa / (kappa + 1)
        return (
            np.log(n)
            - np.linalg.slogdet(scale)[1] / 2
            - (nu + 1) / 2 * np.log1p(q)
            + d / 2 * np.log(kappa / (kappa + 1))
        )

    started = time.process_time()
    for _ in range(sweeps):
        for i, x in enumerate(scaled):
            z[i] = -1
            scores = np.array([predictive(x, scaled[z == k]) if (z == k).any() else -np.inf for k in range(5)])
            weights = np.exp(scores - scores.max())
            z[i] = rng.choice(5, p=weights / weights.sum())
    return (time.process_time() - started) / sweeps


def has_bayesm() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(bayesm)"], capture_output=True).returncode == 0


def compare_on_old_faithful() -> None:
    X = old_faithful()
    print(f"Old Faithful, standardised, {len(X)} items, {SWEEPS} sweeps of one chain, prior of rDPGibbs, CPU seconds")
    rows = {
        "partita, Gibbs only": run_partita(X, moves=SplitMergeMoves(0.0)),
        "partita, default moves": run_partita(X),
    }
    if has_bayesm():
        rows["rDPGibbs (bayesm)"] = run_bayesm(X)
    print(f"{'':24} {'seconds':>8} {'updates/s':>12} {'clusters':>9} {'ESS/s K':>9} {'ESS/s ln p':>11}")
    figures = {}
    for name, (seconds, clusters, density) in rows.items():
        speed = SWEEPS * len(X) / seconds
        rates = [effective_size(values) / (seconds * len(values) / SWEEPS) for values in (clusters, density)]
        figures[name] = (speed, *rates)
        print(f"{name:24} {seconds:8.2f} {speed:12,.0f} {clusters.mean():9.3f} {rates[0]:9.1f} {rates[1]:11.1f}")
    if not has_bayesm():
        speed = len(X) / run_numpy(X)
        print(
            f"no R with bayesm here; plain NumPy: {speed:,.0f} updates/s, "
            f"ratio {figures['partita, Gibbs only'][0] / speed:.0f}"
        )
        return
    rival = figures.pop("rDPGibbs (bayesm)")
    for name, own in figures.items():
        ratios = [a / b for a, b in zip(own, rival, strict=True)]
        print(f"{name} / rDPGibbs: updates {ratios[0]:.1f}, ESS of K {ratios[1]:.1f}, ESS of ln p {ratios[2]:.1f}")


def resident_megabytes() -> float:
    """Memory in use now, on Linux."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20 if statm.exists() else float("nan")


def large() -> None:
    """100,000 points in 10 dimensions, 20 clusters."""
    rng = np.random.default_rng(0)
    z = rng.integers(20, size=100_000)
    X = rng.normal(size=(20, 10))[z] * 6 + rng.normal(size=(len(z), 10))
    before = resident_megabytes()
    sampler = GaussianDPM()._sampler(X, 1, 0, z.astype(np.uint32))
    sampler.advance(1, 0, 1)
    started = time.process_time()
    sampler.advance(10, 10**9, 1)
    seconds = time.process_time() - started
    clusters = int(sampler.advance(1, 0, 1)[1][0, 1])
    grown = resident_megabytes() - before
    print(
        f"100,000 x 10, {clusters} clusters: {600 / seconds:.0f} sweeps a minute, "
        f"{grown:.0f} MB more memory (data: 8 MB)"
    )


def paper_length() -> None:
    """Rastelli & Friel, Section 7.1: a million sweeps of burn-in, then every hundredth until 10,000."""
    started = time.perf_counter(), time.process_time()
    chain = paper_model().sample(old_faithful(), draws=10_000, warmup=1_000_000, thin=100, chains=1, rng=1)
    wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    counts = np.bincount(chain.n_clusters[0])
    print(
        f"Old Faithful at the paper's length: {cpu:.0f} CPU seconds ({wall:.0f} on the clock; "
        f"the paper: half an hour); "
        f"modal number of clusters {counts.argmax()}"
    )


def main(arguments: list[str] | None = None) -> None:
    options = sys.argv[1:] if arguments is None else arguments
    if not SHARED.exists():
        print("sampler: the shared data folder is not here, nothing measured")
        return
    compare_on_old_faithful()
    large()
    if "--long" in options:
        paper_length()


if __name__ == "__main__":
    main()
