"""Files and folders with some bytes changed, checksums recomputed, and the command line as a function."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.checks import Wrong

__all__ = [
    "command", "damage", "damage_json", "damage_run", "damage_store", "damage_zip", "file_of", "folder_of",
    "lengthen_run", "npy_file",
]  # fmt: skip

#: Where the folders of cases are, if it is there: a file system in memory, on which fsync costs nothing.
MEMORY = Path("/dev/shm")
_folder: list[Path] = []


def folder_of(name: str = "") -> str:
    """A path in the folder of this case, which is made at the first call and removed after the case."""
    if not _folder:
        _folder.append(Path(tempfile.mkdtemp(prefix="partita-fuzz-", dir=MEMORY if MEMORY.is_dir() else None)))
    return str(_folder[0] / name)


def forget_folder() -> Path | None:
    """The folder of the case that has ended, if it had one."""
    return _folder.pop() if _folder else None


def file_of(name: str, content: bytes | str) -> str:
    """A file of the case's folder with this content."""
    path = Path(folder_of(name))
    path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    return str(path)


def changed(content: bytes, changes: Sequence[tuple[str, int, int]]) -> bytes:
    """Each change is (what, where, value): positions count modulo the length."""
    data = bytearray(content)
    for what, where, value in changes:
        at = where % len(data) if data else 0
        if what == "set" and data:
            data[at] = value
        elif what == "flip" and data:
            data[at] ^= 1 << value % 8
        elif what == "cut":
            del data[at:]
        elif what == "drop":
            del data[at : at + value]
        elif what == "repeat":
            data[at:at] = data[at : at + value]
        elif what == "fill":
            data[at : at + value] = b"\xff" * len(data[at : at + value])
    return bytes(data)


def damage(path: str, changes: Sequence[tuple[str, int, int]], which: int = 0) -> str:
    """Changes bytes of a file, or of one file of a folder; returns the path."""
    files = [Path(path)]
    if Path(path).is_dir():
        files = sorted(p for p in Path(path).rglob("*") if p.is_file())
    if files:
        file = files[which % len(files)]
        file.write_bytes(changed(file.read_bytes(), changes))
    return path


def damage_zip(path: str, changes: Sequence[tuple[str, int, int]], which: int = 0) -> str:
    """Changes bytes inside one member of a zip file, whose checksums are then right again."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = sorted(members)[which % len(members)]
    members[name] = changed(members[name], changes)
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return path


def damage_run(path: str, what: str, changes: Sequence[tuple[str, int, int]], which: int = 0) -> str:
    """Changes one array (labels, stats or state) of a checkpoint of a run, all checksums recomputed."""
    parts = sorted(Path(path).rglob("part-*.npz"))
    if not parts:
        return path
    part = parts[which % len(parts)]
    with np.load(part) as stored:
        arrays = dict(stored)
    if what in arrays:
        array = arrays[what]
        data = changed(array.tobytes(), changes)
        if len(data) == array.nbytes:
            arrays[what] = np.frombuffer(data, array.dtype).reshape(array.shape)
        elif array.dtype == np.uint8 and array.ndim == 1:
            arrays[what] = np.frombuffer(data, np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    part.write_bytes(buffer.getvalue())
    _relist(part.with_name("parts.json"), {part.name: hashlib.sha256(buffer.getvalue()).hexdigest()})
    return path


def _relist(listing: Path, digests: dict[str, str]) -> None:
    """Writes new digests of files into a listing of a run, with its own checksum recomputed."""
    body = json.loads(listing.read_text())["body"]
    for entry in body["parts"]:
        entry["sha256"] = digests.get(entry["file"], entry["sha256"])
    _write_document(listing, body)


def _write_document(path: Path, body: Any) -> None:
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({"body": body, "sha256": digest}, sort_keys=True))


def lengthen_run(path: str, draws: int = 8) -> str:
    """Makes a finished run unfinished, as one that was killed: its plan asks for more draws."""
    manifest = Path(path) / "manifest.json"
    body = json.loads(manifest.read_text(errors="replace"))["body"]
    body["plan"]["draws"] = draws
    _write_document(manifest, body)
    return path


def npy_file(header: str, content: bytes) -> str:
    """An npy file with any header."""
    text = header.encode() + b"\n"
    return file_of("array.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content)


def damage_json(path: str, keys: Sequence[int], value: Any, which: int = 0) -> str:
    """Replaces one value of a JSON file of a folder, found by walking down `keys`; its checksum is recomputed."""
    files = sorted(Path(path).rglob("*.json"))
    if not files:
        return path
    file = files[which % len(files)]
    document = json.loads(file.read_text())
    checked = isinstance(document, dict) and set(document) == {"body", "sha256"}
    tree = document["body"] if checked else document
    node: Any = tree
    for depth, key in enumerate(keys):
        names = sorted(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
        if not len(names):
            break
        name = names[key % len(names)]
        child = node[name]
        if depth == len(keys) - 1 or not isinstance(child, dict | list) or not child:
            node[name] = value
            break
        node = child
    if checked:
        _write_document(file, tree)
    else:
        file.write_text(json.dumps(tree))
    return path


def damage_store(path: str, name: str, changes: Sequence[tuple[str, int, int]]) -> str:
    """Changes the values of one array of a stored sample; digests that sample.json lists are recomputed."""
    file = Path(path) / f"{name}.npy"
    if not file.exists():
        return path
    array = np.load(file)
    data = changed(array.tobytes(), changes)
    if len(data) == array.nbytes:
        np.save(file, np.frombuffer(data, array.dtype).reshape(array.shape))
    _refresh_digests(Path(path))
    return path


def _refresh_digests(folder: Path) -> None:
    facts = folder / "sample.json"
    document = json.loads(facts.read_text())
    tree = document["body"] if isinstance(document, dict) and "body" in document else document

    def walk(node: Any) -> None:
        if not isinstance(node, dict):
            return
        for key, value in node.items():
            named = folder / key if key.endswith(".npy") else folder / f"{key}.npy"
            if isinstance(value, str) and len(value) == 64 and named.exists():
                node[key] = hashlib.sha256(named.read_bytes()).hexdigest()
            elif isinstance(value, dict) and "sha256" in value and named.exists():
                value["sha256"] = hashlib.sha256(named.read_bytes()).hexdigest()
            else:
                walk(value)

    walk(tree)
    if tree is not document:
        _write_document(facts, tree)
    else:
        facts.write_text(json.dumps(tree))


@cache
def _partita() -> Any:
    """The command, which typer would make anew each time."""
    from typer.main import get_command

    from partita.cli import app

    return get_command(app)


def command(*words: str) -> Any:
    """Runs `partita` with these words: it succeeds, or says why not in one sentence with exit code 2."""
    from click.testing import CliRunner

    result = CliRunner().invoke(_partita(), list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code not in (0, 2):
        raise Wrong(f"exit code {result.exit_code}")
    said = [line for line in result.stderr.splitlines() if not line.startswith("partita: note:")]
    if result.exit_code == 2 and not said[0].startswith("Usage:") and len(said) != 1:
        raise Wrong(f"{len(said)} lines on standard error: {said[:3]}")
    if "\x1b" in result.stderr or ("\x1b" in result.stdout and words[0] != "similarity"):  # a matrix in csv is data
        raise Wrong("an escape byte reaches the terminal")
    return result
