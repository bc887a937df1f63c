"""The data sets inside the package; README.md beside this file states their sources and licences."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.optional import data_frame
from partita._support.validate import check_count, check_probability, check_rng

_VOTES = {"y": 1, "n": 0, "?": -1}


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Data with names and source.

    Attributes
    ----------
    name : str
        Name of the data set.
    data : (rows, columns) array
        The data.
    names : tuple of str
        The names of the columns.
    source : str
        Where the data come from, and how they may be used.
    target : (rows,) integer array, optional
        A known grouping of the rows, as canonical labels.
    target_names : tuple of str
        The names of these groups.
    """

    name: str
    data: NDArray[Any]
    names: tuple[str, ...]
    source: str
    target: NDArray[np.int64] | None = None
    target_names: tuple[str, ...] = ()

    def to_pandas(self) -> Any:
        """The data as a pandas table."""
        return data_frame(self.data, columns=list(self.names))

    def __repr__(self) -> str:
        groups = f", groups {', '.join(self.target_names)}" if self.target_names else ""
        return f"Dataset({self.name}: {' x '.join(map(str, self.data.shape))}{groups})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p><p>{escape(self.source)}</p>"


def load_galaxies(corrected: bool = False) -> Dataset:
    """Velocities of 82 galaxies in the Corona Borealis region, in km/s.

    Parameters
    ----------
    corrected : bool
        The 78th velocity is 26690 in the copy that is distributed with statistical software and analysed in papers;
        True gives 26960, the value without the misprint.

    Returns
    -------
    Dataset
        `data` is (82, 1).

    Examples
    --------
    >>> load_galaxies().data[77], load_galaxies(corrected=True).data[77]
    (array([26690.]), array([26960.]))

    References
    ----------
    Roeder (1990), Density estimation with confidence sets exemplified by superclusters and voids in the
    galaxies.
    """
    column = "velocity_corrected" if corrected else "velocity_mass"
    velocities = np.array([float(row[column]) for row in _rows("galaxies.csv")])
    source = (
        "Postman, Huchra & Geller (1986), Astronomical Journal 92, 1238-1247; as listed by Roeder (1990), "
        "JASA 85, 617-624. Published measurements."
    )
    return Dataset("galaxies", _frozen(velocities[:, None]), ("velocity",), source)


def load_old_faithful() -> Dataset:
    """Duration of 272 eruptions of the Old Faithful geyser and the waiting time to the next, in minutes.

    Examples
    --------
    >>> load_old_faithful()
    Dataset(old faithful: 272 x 2)
    """
    rows = list(_rows("old_faithful.csv"))
    data = np.array([[float(value) for value in row.values()] for row in rows])
    source = (
        "Azzalini & Bowman (1990), Applied Statistics 39, 357-365; Härdle (1991), Smoothing Techniques with "
        "Implementation in S. Published measurements."
    )
    return Dataset("old faithful", _frozen(data), tuple(rows[0]), source)


def load_house_votes() -> Dataset:
    """Sixteen votes of the 435 members of the US House of Representatives in 1984, and their parties.

    Returns
    -------
    Dataset
        `data` is (435, 16): 1 is yea, 0 is nay, -1 is neither. `target` is the party.

    Examples
    --------
    >>> votes = load_house_votes()
    >>> votes, int((votes.data == -1).sum())
    (Dataset(house votes: 435 x 16, groups republican, democrat), 392)
    """
    rows = list(_rows("house_votes_84.csv"))
    names = tuple(rows[0])[1:]
    data = np.array([[_VOTES[row[name]] for name in names] for row in rows], np.int8)
    target, target_names = _numbered([row["party"] for row in rows])
    source = (
        "Congressional Voting Records (1987), UCI Machine Learning Repository, doi 10.24432/C5C01P. Licence CC BY 4.0."
    )
    return Dataset("house votes", _frozen(data), names, source, target, target_names)


def load_karate() -> Dataset:
    """Friendships among the 34 members of a karate club, and the club that each joined after the split.

    Returns
    -------
    Dataset
        `data` is the (34, 34) symmetric 0/1 adjacency matrix of 78 friendships. `target` is the later club.

    Examples
    --------
    >>> karate = load_karate()
    >>> karate, int(karate.data.sum()) // 2
    (Dataset(karate: 34 x 34, groups Mr. Hi, Officer), 78)
    """
    members = list(_rows("karate_nodes.csv"))
    adjacency = np.zeros((len(members), len(members)), np.int8)
    for edge in _rows("karate_edges.csv"):
        source_id, target_id = int(edge["source"]), int(edge["target"])
        adjacency[source_id, target_id] = adjacency[target_id, source_id] = 1
    target, target_names = _numbered([member["club"] for member in members])
    names = tuple(member["id"] for member in members)
    source = "Zachary (1977), Journal of Anthropological Research 33, 452-473. Free to use."
    return Dataset("karate", _frozen(adjacency), names, source, target, target_names)


def load_leiden_runs() -> Dataset:
    """Labels of 700 blood cells by a hundred runs of Leiden: ten resolutions from 0.2 to 2.5 with ten seeds each.

    Returns
    -------
    Dataset
        `data` is (700, 100); column ``leiden_0.8_3`` has resolution 0.8 and seed 3.

    Examples
    --------
    >>> load_leiden_runs()
    Dataset(leiden runs: 700 x 100)
    """
    packed = files("partita.datasets").joinpath("leiden_runs.csv.gz").read_bytes()
    header, *rows = csv.reader(gzip.decompress(packed).decode().splitlines())
    data = np.array([row[1:] for row in rows]).astype(np.uint8)
    source = (
        "Made by examples/leiden_runs.py with scanpy 1.11.5 from its pbmc68k_reduced: Zheng et al. (2017), Nature "
        "Communications 8, 14049. The labels are free to use."
    )
    return Dataset("leiden runs", _frozen(data), tuple(header[1:]), source)


def _rows(file_name: str) -> Iterator[dict[str, str]]:
    with files("partita.datasets").joinpath(file_name).open(encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def _numbered(values: list[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    names = tuple(dict.fromkeys(values))
    return _frozen(np.array([names.index(value) for value in values], np.int64)), names


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


_ROWS_PER_BLOCK = 256


def make_draws(
    n_items: int,
    n_draws: int,
    n_clusters: int = 8,
    *,
    doubt: float = 0.1,
    split: float = 0.1,
    merge: float = 0.1,
    rng: Any = None,
) -> NDArray[np.int64]:
    """Draws of a partition that vary like those of an MCMC sampler.

    A base partition is drawn first. Each item also has a second cluster and a probability of being there:
    near zero for most items, large for some. In each draw a cluster may also split in two along a hidden
    order of its items, or merge with the cluster before it.

    Parameters
    ----------
    n_items, n_draws : int
        The shape of the result.
    n_clusters : int
        Clusters of the base partition; some may be empty if there are few items.
    doubt : float
        The average probability that an item is in its second cluster.
    split, merge : float
        The probability that a cluster is split, or merged with the one before it, in a draw.
    rng : None, int or numpy Generator
        The same seed gives the same draws.

    Returns
    -------
    (n_draws, n_items) integer array
        Labels, not canonical.

    Examples
    --------
    >>> draws = make_draws(60, 500, n_clusters=4, rng=1)
    >>> draws.shape, bool((draws == make_draws(60, 500, n_clusters=4, rng=1)).all())
    ((500, 60), True)
    """
    n_items, n_draws = check_count(n_items, "n_items", 1), check_count(n_draws, "n_draws", 1)
    n_clusters = check_count(n_clusters, "n_clusters", 1)
    split, merge = check_probability(split, "split"), check_probability(merge, "merge")
    generator = check_rng(rng)
    base = generator.choice(n_clusters, n_items, p=generator.dirichlet(np.full(n_clusters, 5.0)))
    other = generator.integers(n_clusters, size=n_items)
    item_doubt = _item_doubts(n_items, check_probability(doubt, "doubt"), generator)
    order = generator.random(n_items)
    draws = np.empty((n_draws, n_items), np.int64)
    for start in range(0, n_draws, _ROWS_PER_BLOCK):
        block = draws[start : start + _ROWS_PER_BLOCK]
        moved = generator.random(block.shape) < item_doubt
        block[:] = np.where(moved, other, base)
        _split_and_merge(block, order, n_clusters, split, merge, generator)
    return draws


def _item_doubts(n_items: int, mean: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Beta distributed, so that few items have most of the doubt."""
    if mean in (0.0, 1.0):
        return np.full(n_items, mean)
    return generator.beta(0.5, 0.5 * (1 - mean) / mean, n_items)


def _split_and_merge(
    draws: NDArray[np.int64],
    order: NDArray[np.float64],
    n_clusters: int,
    split: float,
    merge: float,
    generator: np.random.Generator,
) -> None:
    """Changes the draws in place; a split-off part gets the label of its cluster plus n_clusters."""
    shape = (len(draws), n_clusters)
    cut = np.where(generator.random(shape) < split, generator.uniform(0.2, 0.8, shape), np.inf)
    stays = generator.random(shape) >= merge
    stays[:, 0] = True
    group = np.cumsum(stays, axis=1) - 1
    rows = np.arange(len(draws))[:, None]
    split_off = order > cut[rows, draws]
    draws[:] = group[rows, draws] + n_clusters * split_off
