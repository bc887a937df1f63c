"""Settings that belong together: one frozen dataclass, each of whose fields is a keyword of its own as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class SettingsGroup:
    """A parameter that holds several settings, each of which is a keyword as well.

    `GaussianDPM(draws=50)` is `GaussianDPM(sampling=Sampling(draws=50))`.
    """

    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def group_of_setting(groups: Mapping[str, SettingsGroup]) -> dict[str, str]:
    """For each setting, the name of the group that holds it.

    >>> from partita.models import GaussianDPM
    >>> group_of_setting(GaussianDPM.groups)["draws"]
    'sampling'
    """
    return {setting: name for name, group in groups.items() for setting in group.settings()}
