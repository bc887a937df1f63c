"""Settings of the split–merge moves of mixtures."""

from __future__ import annotations

from dataclasses import dataclass

from partita._support.settings import SettingsGroup
from partita._support.validate import check_count

MAX_MOVES = 10**6


@dataclass(frozen=True, repr=False)
class SplitMergeMoves(SettingsGroup):
    """How often clusters are proposed to be split or merged in one move (Jain & Neal 2004).

    Parameters
    ----------
    split_merge : float or None
        Mean number of proposals per sweep, from 0 (none) to 1e6. None: as many as cost about a fifth of a sweep; their
        number follows the number of clusters during the warm-up and is fixed after it.
    restricted_scans : int
        Number of Gibbs scans that prepare each proposal, at most 1e6.

    Examples
    --------
    >>> from partita.models import GaussianDPM, SplitMergeMoves
    >>> GaussianDPM(moves=SplitMergeMoves(split_merge=2.0))
    GaussianDPM(moves=SplitMergeMoves(split_merge=2.0))
    """

    split_merge: float | None = None
    restricted_scans: int = 1

    def checked(self) -> tuple[float | None, int]:
        """Both settings, in their ranges."""
        scans = check_count(self.restricted_scans, "restricted_scans")
        if scans > MAX_MOVES:
            raise ValueError(f"restricted_scans must be at most {MAX_MOVES:,}, but it is {scans}")
        if self.split_merge is None:
            return None, scans
        if not 0 <= self.split_merge <= MAX_MOVES:
            raise ValueError(f"split_merge must be a number from 0 to {MAX_MOVES:,}, but it is {self.split_merge}")
        return float(self.split_merge), scans
