"""The bytes of text files: compressed ones, workbooks, which are not text, and encodings."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from partita._support.warn import warn_user

#: What reading a damaged or truncated file raises.
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)
#: How Excel workbooks begin: xlsx and ods are zip files, xls is older.
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
#: How XML files begin, among them networks such as .gexf.
XML = b"<?xml"
#: How Pajek's networks begin, in small letters.
PAJEK = (b"*vertices", b"*network")
#: How text begins that Excel calls Unicode.
UTF16 = (b"\xff\xfe", b"\xfe\xff")
WORKBOOK_NAMES = (".xlsx", ".xlsm", ".xls", ".ods")


def open_bytes(path: str | Path) -> BinaryIO:
    """The content of a file, decompressed if its name ends in .gz; what is not text in UTF-8 raises an error."""
    if str(path).lower().endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, "rb"))
    stream = open(path, "rb")  # noqa: SIM115 - the caller closes it
    try:
        refuse_workbook(stream.peek(9), str(path))
    except ValueError:
        stream.close()
        raise
    return stream


def refuse_workbook(start: bytes, where: str) -> None:
    """Raises an error if these first bytes are those of a workbook, of XML, of Pajek or of UTF-16."""
    if start.startswith(WORKBOOKS):
        raise ValueError(f"{where} is an Excel workbook or another zip file, not text; save the sheet as CSV UTF-8")
    if start.startswith(UTF16):
        raise ValueError(f"{where} is UTF-16 text; save it as CSV UTF-8")
    if start.startswith(XML):
        raise ValueError(f"{where} is an XML file, not a table; of networks in XML only .graphml files can be read")
    if start[:9].lower().startswith(PAJEK):
        raise ValueError(f"{where} is a Pajek file, not a table; save the network as .graphml or as a csv of edges")


#: Bytes that Latin-1 text does not have: a file with them is not text.
_CONTROLS = frozenset({*range(9), *range(14, 32), *range(127, 160)} - {27})


def decode(data: bytes, where: str) -> str:
    """The text of bytes; UnicodeDecodeError if they are neither UTF-8 nor plausible Latin-1.

    >>> decode("Zürich".encode(), "cities.csv")
    'Zürich'
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if not _CONTROLS.isdisjoint(data):
            raise
    warn_user(f"{where} is not UTF-8 and is read as Latin-1; save it as UTF-8 if its names look wrong")
    return data.decode("latin-1")
