"""Free memory of this machine, so that work that needs more does not start."""

from __future__ import annotations

import os


def free_bytes() -> int | None:
    """Free memory of this machine; None if the system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return int(os.sysconf("SC_AVPHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, AttributeError):
        return None


def check_fits(needed: int, what: str) -> None:
    """Raises an error for what needs more memory than is free."""
    free = free_bytes()
    if free is not None and needed > free:
        raise MemoryError(f"{what} need at least {needed / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free")
