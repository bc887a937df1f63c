"""Signals at the right moment: when the main thread is at work in a function, not some seconds after the start.

A signal that comes while modules are still imported, as on a busy machine, interrupts the import; one that comes late
finds the work done, as on a fast machine.
"""

import signal
import sys
import threading
import time


def signal_when_in(function: str, number: int = signal.SIGINT, worked: float = 0.3) -> threading.Thread:
    """Sends the signal once the process has worked this many processor seconds in this function of the main thread."""
    watcher = threading.Thread(target=_watch, args=(function, number, worked), daemon=True)
    watcher.start()
    return watcher


def _watch(function: str, number: int, worked: float) -> None:
    begun = time.process_time()
    while time.process_time() - begun < worked:
        if not _is_at_work_in(function):
            begun = time.process_time()
        time.sleep(0.02)
    signal.raise_signal(number)


def _is_at_work_in(function: str) -> bool:
    frame = sys._current_frames().get(threading.main_thread().ident)
    names = []
    while frame is not None:
        if "importlib" in frame.f_code.co_filename:
            return False
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return function in names
