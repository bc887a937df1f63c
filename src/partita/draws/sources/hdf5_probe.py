"""Whether a file's metadata can be read to an end: HDF5 follows the references of a damaged file in endless circles.

Nothing can stop the library inside this process, so a short-lived process opens the file first, with a limit on its
processor time. It takes a quarter of a second.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

SECONDS = 5  # of a processor: sound metadata take milliseconds
_OPEN = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2]) + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ImportError:
    pass
try:
    from netCDF4 import Dataset
except ImportError:
    try:
        from h5py import File as Dataset
    except ImportError:
        sys.exit()
try:
    Dataset(sys.argv[1], "r").close()
except Exception:
    pass
"""


def check_metadata_end(path: Path) -> None:
    """Raises an error for a file that makes the library hang or crash; opening the file reports other damage."""
    words = [sys.executable, "-c", _OPEN, str(path), str(SECONDS)]
    try:
        code = subprocess.run(words, capture_output=True, timeout=100 * SECONDS, check=False).returncode
    except subprocess.TimeoutExpired:
        code = -signal.SIGTERM
    except OSError:  # there is no interpreter to start, or no room for a process
        return
    if code < 0:
        raise ValueError("it is damaged: its metadata cannot be read to their end")
