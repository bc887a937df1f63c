"""What the runs of a search for the largest ICL came to, and how far they agree."""

from __future__ import annotations

from dataclasses import dataclass, replace

SAME = 1e-6  # difference of ICL between two descriptions of one partition


@dataclass(frozen=True)
class BlockRun:
    """One run: how it started ("given", "spectral", "k-means", "communities", "annealed" or "random") and the ICL that
    it reached by itself, before any crossing with others."""

    start: str
    icl: float


@dataclass(frozen=True)
class Runs:
    """The runs of a search, `group_icl` the best of each group of runs (empty if all runs agreed, or if none were
    crossed), `best` the ICL in the end."""

    rows: tuple[BlockRun, ...]
    group_icl: tuple[float, ...]
    best: float
    interrupted: bool
    stopped: bool

    def plus(self, constant: float) -> Runs:
        """With a constant added to every ICL."""
        rows = tuple(replace(row, icl=row.icl + constant) for row in self.rows)
        groups = tuple(icl + constant for icl in self.group_icl)
        return replace(self, rows=rows, group_icl=groups, best=self.best + constant)

    @property
    def ends(self) -> tuple[float, ...]:
        """The ICL of each independent search: of each group of runs, or of each run if there are no two groups."""
        return self.group_icl if self.grouped else tuple(row.icl for row in self.rows)

    @property
    def grouped(self) -> bool:
        """Whether runs were crossed in groups apart."""
        return len(self.group_icl) > 1

    @property
    def times_reached(self) -> int:
        """How many of the independent searches ended at the best ICL."""
        return sum(icl > self.best - SAME for icl in self.ends)

    def in_words(self) -> str:
        """How far the independent searches agree.

        >>> Runs((BlockRun("random", -7.5), BlockRun("spectral", -7.0)), (), -7.0, False, False).in_words()
        'the best was reached by 1 of 2 runs; the others ended up to 0.50 below it'
        """
        what = f"groups of runs ({len(self.rows)} runs)" if self.grouped else "runs"
        below = self.best - min(self.ends)
        others = f"; the others ended up to {below:.2f} below it" if self.times_reached < len(self.ends) else ""
        crossed = " before they were crossed" if self.group_icl and others else ""
        return f"the best was reached by {self.times_reached} of {len(self.ends)} {what}{crossed}{others}"

    def warnings(self, restarts: str = "restarts=") -> tuple[str, ...]:
        """Advice, if independent searches do not agree."""
        found: tuple[str, ...] = ()
        if self.stopped:
            found = ("The search was stopped early: a longer one may find a better partition.",)
        if len(self.ends) > 1 and self.times_reached < 2:
            words = self.in_words()
            advice = f"a better partition may exist, which more runs may find ({restarts}{4 * len(self.rows)})."
            found += (f"{words[0].upper()}{words[1:]}: {advice}",)
        return found
