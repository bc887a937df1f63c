"""JSON with a checksum: {"body": ..., "sha256": ...}, the checksum of the body as Python's `json` dumps it by keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def to_checked_json(body: Mapping[str, Any]) -> bytes:
    """A document with this body."""
    document = {"body": body, "sha256": _digest(body)}
    return json.dumps(document, sort_keys=True, indent=1, allow_nan=False).encode()


def from_checked_json(content: bytes) -> dict[str, Any]:
    """The body of a document; ValueError if it is damaged, or none of ours."""
    try:
        document = json.loads(content)
        body: Any = document["body"]
        intact = _digest(body) == document["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"it is damaged, or not a partita file: {error}") from error
    if not intact:
        raise ValueError("it is damaged: its checksum does not fit its content")
    if not isinstance(body, dict):
        raise ValueError("it is not a partita file: its body is no table of names")
    return body


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
