"""A linkage in a folder, so that tomorrow's records can be added: the present state, and the one before it.

linkage.json     which state is the present one, and which was before it; it has its own checksum
state-000002/    state.json (settings, constraints, size and SHA-256 of each file) and plain npy files
lock             held by the process that writes

The rows of pairs and the names that an update did not change are files that a state shares with the one before it
(hard links, or copies where there are none); what changed since is in files of its own.

A state is written beside the others and flushed to the disk before linkage.json names it, with one rename. A process
that is killed at any moment leaves the state before or the one after.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Ints
from partita._support.atomic import atomic_folder, remove_leftovers, write_bytes
from partita._support.checked_json import from_checked_json, to_checked_json
from partita._support.folder_lock import lock_folder
from partita._support.names import as_named
from partita._support.npy import write_npy
from partita.draws.store import read_array
from partita.estimation.linkage_ids import Ledger
from partita.estimation.pair_estimate import Origin, PairEstimate, found_partition, ledger_of
from partita.pairs.losses import PAIR_LOSSES, PairLoss
from partita.pairs.probabilities import Similarity
from partita.pairs.revision import Patch, RevisedSimilarity
from partita.partitions.codes import is_null
from partita.partitions.labels import canonical
from partita.search.constraints import Constraints, resolve
from partita.search.pair_graph import Parts, bound_of
from partita.search.settings import Search

FORMAT, VERSION = "partita linkage", 2
POINTER, FACTS, RESULTS = "linkage.json", "state.json", "results"
FIRST = "state-000001"
_STATE = re.compile(r"state-\d{6,18}")
_SEARCH = ("runs", "seconds", "zealous", "p_sequential")
#: Files of pairs that states share.
_ROWS = ("offsets", "neighbors", "probabilities")
_NAMES = ("names_text", "names_ends", "sources_text", "sources_ends")


def write_linkage(path: str | os.PathLike[str], est: PairEstimate) -> PairEstimate:
    """Stores an estimate in a folder, so that it can be updated later.

    A new folder takes any estimate. A folder that is there takes an update of what was read from it, and keeps the
    state before it for one step back; if another process has written to it since, nothing is written.

    Parameters
    ----------
    path : path
        The folder.
    est : PairEstimate
        An estimate from pair probabilities.

    Returns
    -------
    PairEstimate
        The same estimate, of which an update can be written to the same folder.

    Examples
    --------
    >>> import tempfile
    >>> from partita import as_similarity, estimate, update
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = estimate(as_similarity([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]), "binder", rng=1)
    ...     stored = write_linkage(f"{folder}/linked", first)
    ...     _ = write_linkage(f"{folder}/linked", update(stored, removed=["2"]))
    ...     read_linkage(f"{folder}/linked").labels, read_linkage(f"{folder}/linked", step_back=True).labels
    (array([0, 0]), array([0, 0, 1]))
    """
    folder = Path(path)
    if est._parts is None:
        raise ValueError("est has no components: only an estimate from pair probabilities can be stored")
    if est._origin is None:
        with atomic_folder(folder) as building:
            store_first(building, est)
        return _stored(est, folder, FIRST)
    with locked_linkage(folder):
        return store_next(folder, est)


def store_first(folder: Path, est: PairEstimate) -> None:
    """Writes the first state to a folder that is being made."""
    _write_state(folder, FIRST, est)
    (folder / POINTER).write_bytes(_pointer(FIRST, None))


@contextmanager
def locked_linkage(folder: Path) -> Iterator[None]:
    """Keeps other processes from writing to a linkage meanwhile; what killed ones left is removed."""
    _present(folder)
    with lock_folder(folder, "linkage"):
        remove_leftovers(folder)
        yield


def store_next(
    folder: Path, est: PairEstimate, results: Callable[[Path], None] | None = None, former: Iterable[str] = ()
) -> PairEstimate:
    """Writes the state after the one that an estimate comes from; the caller has the lock.

    `results` writes tables and a report to a folder that belongs to the state. Copies of them replace those of the
    folder itself, one by one, once the state is the present one; `former` names files that are then removed if they
    are not among them.
    """
    present, before = _present(folder)
    origin = est._origin
    if origin is None or _digest(folder / POINTER) != origin.pointer:
        raise ValueError(
            f"{folder} has changed since it was read (its state is {present} now); read it again and repeat the update"
        )
    for entry in folder.iterdir():  # of an update that was killed before it was named, or could not be deleted then
        if _STATE.fullmatch(entry.name) and entry.name not in (present, before):
            shutil.rmtree(entry)
    last = max(int(name.removeprefix("state-")) for name in (present, before) if name)
    name = f"state-{last + 1:06d}"
    _write_state(folder, name, est, results)
    write_bytes(folder / POINTER, _pointer(name, origin.state))
    if results is not None:
        made = sorted((folder / name / RESULTS).iterdir())
        for file in made:
            write_bytes(folder / file.name, file.read_bytes())
        for outdated in set(former) - {file.name for file in made}:
            (folder / outdated).unlink(missing_ok=True)
    for old in {present, before} - {name, origin.state, None}:
        shutil.rmtree(folder / str(old), ignore_errors=True)
    return _stored(est, folder, name)


def read_linkage(path: str | os.PathLike[str], *, step_back: bool = False) -> PairEstimate:
    """The estimate of a folder that `write_linkage` made, checked.

    Parameters
    ----------
    path : path
        The folder.
    step_back : bool
        Whether to read the state before the last one. An update of it replaces the last one.

    Returns
    -------
    PairEstimate
    """
    folder = Path(path)
    seen = _digest(folder / POINTER) if (folder / POINTER).is_file() else ""
    present, before = _present(folder)
    if step_back and before is None:
        raise ValueError(f"{folder} has no state before {present}")
    state = str(before) if step_back else present
    try:
        est = _read_state(folder / state)
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise ValueError(f"{folder / state} is damaged, or no state of a linkage: {error}") from None
    return _stored(est, folder, state, seen)


def _stored(est: PairEstimate, folder: Path, state: str, seen: str = "") -> PairEstimate:
    """The estimate with its origin, so that the next state can share files."""
    pairs, place = est.similarity, folder / state
    base = pairs.base if isinstance(pairs, RevisedSimilarity) else pairs
    facts = from_checked_json((place / FACTS).read_bytes())["files"]
    files = {name: (own, _identity(place / name)) for name, own in facts.items()}
    return replace(est, _origin=Origin(state, seen or _digest(folder / POINTER), place, base, files))


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def _present(folder: Path) -> tuple[str, str | None]:
    """The names of the present state and of the one before it."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist: there is no linkage to continue")
    if not (folder / POINTER).is_file():
        raise ValueError(f"{folder} has no {POINTER}: it is not a linkage")
    try:
        facts = _checked_version(from_checked_json((folder / POINTER).read_bytes()), FORMAT)
        names = (facts["present"], facts["before"])
        if not all(name is None or _STATE.fullmatch(name) for name in names) or names[0] is None:
            raise ValueError("it names no state")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder / POINTER}: {error}") from None
    return names


def _checked_version(facts: dict[str, Any], kind: str) -> dict[str, Any]:
    if facts.get("format") != kind:
        raise ValueError("it is not that of a linkage")
    if facts.get("oldest_reader") != VERSION:
        raise ValueError(f"it was written by partita {facts.get('library')!s:.30}; this one reads version {VERSION}")
    return facts


def _headed(body: dict[str, Any]) -> bytes:
    from partita import __version__

    head = {"format": FORMAT, "version": VERSION, "oldest_reader": VERSION, "library": __version__}
    return to_checked_json(head | body)


def _pointer(present: str, before: str | None) -> bytes:
    return _headed({"present": present, "before": before})


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_state(folder: Path, name: str, est: PairEstimate, results: Callable[[Path], None] | None = None) -> None:
    """One folder with everything, which appears with one rename."""
    parts, pairs, ledger = est._parts, est.similarity, ledger_of(est)
    assert parts is not None
    arrays: dict[str, NDArray[Any]] = {
        "component": _small(parts.component),
        **{name: getattr(parts, name) for name in Parts.BY_COMPONENT},
        "ids": _small(ledger.ids),
    }
    base = pairs
    if isinstance(pairs, RevisedSimilarity):
        base = pairs.base
        arrays |= {f"patch_{one.name}": getattr(pairs.patch, one.name) for one in fields(Patch)}
        arrays |= {"gone": pairs.gone, **_as_arrays("later", pairs.later)}
        arrays |= _as_arrays("later_sources", pairs.later_sources)
    with atomic_folder(folder / name) as building:
        constraints = None if est.constraints is None else _constraint_facts(est, arrays)
        facts = {
            "loss": {"name": est.loss.name, "a": getattr(est.loss, "a", None), "b": getattr(est.loss, "b", None)},
            "default": pairs.default,
            "method": est.method,
            "search": {key: getattr(est.search, key) for key in _SEARCH},
            "constraints": constraints,
            "seed": est.seed,
            "interrupted": est.interrupted,
            "expected_loss": est.expected_loss,
            "next_id": ledger.next_id,
        }
        shared = _shared(est._origin, base, building)
        for what, array in (arrays | ({} if shared else _base_arrays(base))).items():
            path = building / f"{what}.npy"
            shared[path.name] = {"sha256": write_npy(path, array), "bytes": path.stat().st_size}
        facts["files"] = shared
        (building / FACTS).write_bytes(_headed(facts))
        if results is not None:
            (building / RESULTS).mkdir()
            results(building / RESULTS)


def _small(numbers: Ints) -> NDArray[Any]:
    return numbers.astype(np.uint32) if int(numbers.max()) < 2**32 else numbers


def _base_arrays(base: Similarity) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {name: getattr(base, name) for name in _ROWS}
    for what, texts in (("names", base.names), ("sources", base.sources)):
        if texts is not None:
            arrays |= _as_arrays(what, texts)
    return arrays


def _shared(origin: Origin | None, base: Similarity, building: Path) -> dict[str, Any]:
    """Links to the files of pairs that the state before has too, and their facts; empty if they are to be written."""
    if origin is None or origin.base is not base:
        return {}
    found = {}
    try:
        for what in (*_ROWS, *_NAMES):
            if f"{what}.npy" in origin.files:
                found[f"{what}.npy"], seen = origin.files[f"{what}.npy"]
                os.link(origin.place / f"{what}.npy", building / f"{what}.npy")
                if _identity(building / f"{what}.npy") != seen:
                    raise FileNotFoundError(f"{what}.npy is another file now")
    except OSError:  # there are no links on this file system, or the state before is gone: all are written
        for path in building.iterdir():
            path.unlink()
        return {}
    return found


def _constraint_facts(est: PairEstimate, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Constraints by the numbers of items; the sources go to arrays."""
    pairs, own = est.similarity, est.constraints
    assert own is not None
    groups = (*own.together, *own.apart)
    place = {} if not groups or pairs.names is None else {name: number for number, name in enumerate(pairs.names)}

    def numbers(groups: Sequence[Sequence[Any]]) -> list[list[int]]:
        return [[place[item] if isinstance(item, str) else int(item) for item in group] for group in groups]

    if own.one_per is not None:
        values = as_named(own.one_per, "one_per").in_order_of(pairs.names, pairs.n_items, "similarity")
        texts = [None if is_null(value) else str(value) for value in values]
        arrays |= _as_arrays("one_per", ["" if text is None else text for text in texts])
        arrays["has_source"] = np.array([text is not None for text in texts])
    facts = {"together": numbers(own.together), "apart": numbers(own.apart), "max_size": own.max_size}
    return facts | {"one_per": own.one_per is not None}


def _read_state(folder: Path) -> PairEstimate:
    facts = _checked_version(from_checked_json((folder / FACTS).read_bytes()), FORMAT)
    files = facts["files"]

    def load(what: str) -> NDArray[Any] | None:
        return read_array(folder / f"{what}.npy", files.get(f"{what}.npy"))

    def need(what: str, dtype: type[Any], size: int | None = None) -> NDArray[Any]:
        array = load(what)
        fits = array is not None and array.ndim == 1 and np.issubdtype(array.dtype, dtype)
        if array is None or not fits or (size is not None and array.size != size):
            raise ValueError(f"{what}.npy has not the numbers of a state")
        return array

    def texts(what: str, size: int) -> tuple[str, ...] | None:
        content, ends = load(f"{what}_text"), load(f"{what}_ends")
        return None if content is None or ends is None else _as_texts(content, ends, size)

    offsets = need("offsets", np.int64)
    n = offsets.size - 1
    default = float(facts["default"])
    rows = (offsets, need("neighbors", np.uint32), need("probabilities", np.float64))
    _check_rows(offsets, rows[1], rows[2], n)
    pairs = base = Similarity.of_rows(*rows, texts("names", n), default, texts("sources", n))
    if "gone.npy" in files:
        patch = Patch(*(need(f"patch_{one.name}", np.number) for one in fields(Patch)))
        count = need("later_ends", np.int64).size
        later_sources = texts("later_sources", count if base.sources is not None else 0)
        pairs = RevisedSimilarity.without(
            base, need("gone", np.int64), patch, texts("later", count) or (), later_sources or ()
        )
        n = pairs.n_items
        _check_rows(patch.offsets, patch.neighbors, patch.probabilities, n)
        if patch.items.size != patch.offsets.size - 1 or (patch.items.size and patch.items.max() >= n):
            raise ValueError("its revised pairs are damaged")
    component, ids = (need(what, np.integer, n).astype(np.int64) for what in ("component", "ids"))
    labels = canonical(ids)
    bounds = need("bounds", np.float64)
    next_id = int(facts["next_id"])
    if not np.array_equal(canonical(component), component) or component.max() + 1 != bounds.size:
        raise ValueError("its components are not those of a state")
    if ids.min() < 0 or ids.max() >= next_id:
        raise ValueError("its identifiers do not fit its labels")
    values, proven = need("values", np.float64, bounds.size), need("proven", np.bool_, bounds.size)
    parts = Parts(labels, component, values, bounds, proven, bool(facts["interrupted"]))
    own = facts["constraints"]
    constraints = None
    if own is not None:
        sources = texts("one_per", n) if own["one_per"] else None
        if sources is not None:
            there = need("has_source", np.bool_, n).tolist()
            sources = [source if known else None for source, known in zip(sources, there, strict=True)]  # type: ignore[assignment]
        constraints = Constraints(own["together"], own["apart"], sources, own["max_size"])
        broken = resolve(constraints, pairs.names, n, "similarity").broken_by(labels)
        if broken:
            raise ValueError(f"its clusters do not obey its constraints: {broken}")
    loss = _loss(facts["loss"])
    search = Search(**{key: facts["search"][key] for key in _SEARCH})
    found = (parts, bound_of(parts, pairs, loss))
    value = float(facts["expected_loss"])
    est = found_partition(pairs, found, loss, str(facts["method"]), search, constraints, facts["seed"], value)
    return replace(est, _ledger=Ledger(ids, next_id, ids.copy(), np.zeros(0, np.int64)))


def _check_rows(offsets: Ints, neighbors: NDArray[Any], probabilities: NDArray[Any], n_items: int) -> None:
    """What the core relies on; that the rows are symmetric follows from the checksum."""
    whole = offsets[0] == 0 and (np.diff(offsets) >= 0).all() and offsets[-1] == neighbors.size == probabilities.size
    if not whole or (neighbors.size and not (neighbors.min() >= 0 and neighbors.max() < n_items)):
        raise ValueError("its pairs are damaged")


def _loss(facts: dict[str, Any]) -> PairLoss:
    weights = {key: float(facts[key]) for key in ("a", "b") if facts[key] is not None}
    loss: PairLoss = PAIR_LOSSES[facts["name"]](**weights)
    return loss


def _as_arrays(what: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Texts as their bytes, one after the other, and where each ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {f"{what}_text": np.frombuffer(b"".join(encoded), np.uint8), f"{what}_ends": ends}


def _as_texts(content: NDArray[Any], ends: Ints, size: int) -> tuple[str, ...]:
    begins = np.concatenate([[0], ends])[:-1]
    if ends.shape != (size,) or (ends < begins).any() or (size and ends[-1] != content.size):
        raise ValueError("its names are damaged")
    raw, places = content.astype(np.uint8).tobytes(), map(slice, begins.tolist(), ends.tolist())
    if raw.isascii():  # bytes and characters are the same
        return tuple(map(raw.decode("ascii").__getitem__, places))
    return tuple(raw[place].decode("utf-8", "surrogatepass") for place in places)
