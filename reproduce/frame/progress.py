"""How far a long run is, and how long the rest will take."""

from __future__ import annotations

import time


class Progress:
    """Prints one line per finished piece of work: how many are done, and the time that the others will take.

    Pieces that an earlier run left behind count as done but not for the pace.
    """

    def __init__(self, title: str, total: int, done: int = 0) -> None:
        self.title, self.total, self.done = title, total, done
        self._before, self._began = done, time.monotonic()
        if done:
            print(f"{title}: {done:,} of {total:,} were there", flush=True)

    def step(self) -> None:
        self.done += 1
        pace = (time.monotonic() - self._began) / (self.done - self._before)
        left = duration(pace * (self.total - self.done))
        print(f"{self.title}: {self.done:,} of {self.total:,}, {left} left", flush=True)


def duration(seconds: float) -> str:
    """In the two largest units: "2 h 05 min", "3 min 20 s", "12 s"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
