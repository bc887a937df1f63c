"""Settings that belong together: one frozen dataclass, which is one parameter of a constructor."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, repr=False)
class SettingsGroup:
    """A parameter that holds several settings, as in `GaussianDPM(sampling=Sampling(draws=50))`."""

    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        changed = (f"{own.name}={getattr(self, own.name)!r}" for own in fields(self) if self._differs(own))
        return f"{type(self).__name__}({', '.join(changed)})"

    def _differs(self, own: Any) -> bool:
        return bool(getattr(self, own.name) != own.default)
