"""Objects that live on the hosts of a split ensemble, one for each part of its base labels.

A host that is lost takes its object's state with it. Dask may make the object anew, without its state, or wait for the
host without end; so every answer is awaited with an eye on the hosts, and a loss is an error of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: How long an answer is awaited before the hosts are looked at.
TURN_SECONDS = 2.0


class HostLostError(ConnectionError):
    """A host of a part of the ensemble is gone."""


class Hosts:
    """The hosts of the parts of an ensemble: `parts` are Dask futures that are in place."""

    def __init__(self, client: Any, parts: Sequence[Any]) -> None:
        from distributed import wait

        self._client, self._parts = client, parts
        wait(parts)  # type: ignore[no-untyped-call]  # until then their hosts are not known
        self._held = client.who_has(parts)
        self._addresses = {address for part in parts for address in self._held[part.key]}

    def check(self) -> None:
        """Raises an error if a host is gone."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        lost = sorted(self._addresses - set(workers))
        if lost or not all(self._held[part.key] for part in self._parts):
            raise HostLostError(
                f"the Dask worker {', '.join(lost) or 'of a part'} is lost, with its part of the ensemble"
            )

    def submit(self, work: Any, *arguments: Any, **options: Any) -> list[Any]:
        """One future of work(part, *arguments) per part, on the host of the part: base labels do not move."""
        return [
            self._client.submit(
                work,
                part,
                *arguments,
                workers=list(self._held[part.key]),
                allow_other_workers=False,
                pure=False,
                **options,
            )
            for part in self._parts
        ]

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """What futures give, in their order."""
        return [self._result(future) for future in futures]

    def _result(self, future: Any) -> Any:
        while True:
            try:
                return future.result(timeout=TURN_SECONDS)
            except TimeoutError:
                self.check()
            except OSError as error:  # the scheduler may not know of it yet
                raise HostLostError("a Dask worker that holds a part of the ensemble cannot be reached") from error
            except Exception:
                self.check()
                raise


class Actors:
    """One object per part: kind(part, *arguments), on the host of the part."""

    def __init__(self, hosts: Hosts, kind: Any, *arguments: Any) -> None:
        self._hosts = hosts
        self._futures = hosts.submit(kind, *arguments, actor=True)  # an actor exists as long as its future
        self._actors = hosts.results(self._futures)

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """What a method gives on every host; the hosts work at the same time."""
        return self.ask_each(method, [arguments] * len(self._actors))

    def ask_each(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The same, with arguments for each host."""
        try:
            asked = [getattr(actor, method)(*given) for actor, given in zip(self._actors, arguments, strict=True)]
        except RuntimeError as error:  # Dask's, if it knows already that the host is gone
            raise HostLostError(str(error)) from error
        return self._hosts.results(asked)
