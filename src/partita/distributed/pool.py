"""Tasks on the workers of a Dask cluster, repeated when a worker is lost.

Values that tasks share are sent to the workers once. If the workers that hold a value die, it is sent again, and the
tasks that needed it are repeated: each is a function of its arguments, so the result is the same.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from partita._support.optional import optional
from partita.search.deadline import Deadline

#: How long to wait for the scheduler, and for a first worker, before reporting that there is none.
PATIENCE_SECONDS = 20.0
#: If workers are lost more often than this, the tasks themselves are the cause.
MAX_LOSSES = 50
#: A local cluster gives up a worker that is dead this long after a death, although it may have restarted in between.
LOST_FOR_GOOD = "600s"
#: The address of a cluster that partita starts: this machine only. A dashboard at ":0" would be open to the network.
ON_LOOPBACK = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
#: A value is sent again if sending takes longer than it would at this speed.
MIN_BYTES_PER_SECOND = 1e7
#: Tasks in flight per thread of the workers: enough that no thread waits for its next task.
TASKS_PER_THREAD = 3
_TURN_SECONDS = 0.5


@dataclass(eq=False)
class Shared:
    """A value that tasks use; `worker` is the number of the worker that receives it, from which others fetch it."""

    value: Any
    worker: int | None = None
    future: Any = None


@dataclass(frozen=True)
class _Lost:
    """Replaces the answer of a task that lost its worker."""

    error: Exception


class DaskPool:
    """Tasks on the workers of a `dask.distributed` client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._shared: list[Shared] = []
        self._wait_for_workers()

    @property
    def n_threads(self) -> int:
        """Number of tasks that run at the same time."""
        with self._connection():
            return sum(self.client.nthreads().values())

    def share(self, value: Any, worker: int | None = None) -> Shared:
        """A value for the tasks, sent once to the worker of that number; others fetch it from there."""
        shared = Shared(value, worker)
        with self._connection():
            self._send(shared)
        self._shared.append(shared)
        return shared

    def map(
        self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], stopped: Callable[[], bool] | None = None
    ) -> list[Any]:
        """function(*task) for each task, in order; None for tasks that were not done when `stopped` returned true."""
        with self._connection():
            return self._map(function, tasks, stopped or (lambda: False))

    def _map(
        self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], stopped: Callable[[], bool]
    ) -> list[Any]:
        results: list[Any] = [None] * len(tasks)
        waiting, futures = deque(range(len(tasks))), dict[Any, int]()
        few = len(tasks) <= TASKS_PER_THREAD  # an exchange with shards: all tasks are sent and awaited together
        most = TASKS_PER_THREAD if few else TASKS_PER_THREAD * max(1, self.n_threads)
        losses, patience = 0, Deadline.after(PATIENCE_SECONDS)
        while (waiting or futures) and not stopped():
            places = [waiting.popleft() for _ in range(min(len(waiting), most - len(futures)))]
            futures.update(zip(self._submit(function, [tasks[place] for place in places]), places, strict=True))
            ended = self._wait(list(futures), "ALL_COMPLETED" if few else "FIRST_COMPLETED")
            for future, answer in self._gather(ended):
                place, patience = futures.pop(future), Deadline.after(PATIENCE_SECONDS)
                if isinstance(answer, _Lost):
                    losses += 1
                    if losses > MAX_LOSSES:
                        raise answer.error
                    waiting.appendleft(place)
                else:
                    results[place] = answer
            if patience.is_past:
                self._wait_for_workers()
        if futures:
            self.client.cancel(list(futures), force=True)
        return results

    def _gather(self, ended: list[Any]) -> Iterator[tuple[Any, Any]]:
        """The answers of finished tasks, in one exchange if none was lost."""
        if len(ended) > 1:
            try:
                yield from zip(ended, self.client.gather(ended), strict=True)
                return
            except Exception as error:
                if not _is_loss(error):
                    raise
        for future in ended:
            try:
                yield future, self.client.gather(future)
            except Exception as error:
                if not _is_loss(error):
                    raise
                self._send_what_was_lost()
                yield future, _Lost(error)

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """Turns failures caused by a lost scheduler into an error that says so."""
        try:
            yield
        except Exception as error:
            if self.client.status == "running" or isinstance(error, ConnectionError):
                raise
            raise ConnectionError(f"the Dask scheduler at {_address(self.client)} is gone") from error

    def _submit(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
        """One future per task; all go to the scheduler in one message."""
        if not tasks:
            return []
        own = [[argument.future if isinstance(argument, Shared) else argument for argument in task] for task in tasks]
        futures: list[Any] = self.client.map(function, *zip(*own, strict=True), pure=False, retries=MAX_LOSSES)
        return futures

    def _send(self, shared: Shared) -> None:
        """Sends a value, and sends it again if its worker died in the meantime."""
        limit = PATIENCE_SECONDS + sys.getsizeof(shared.value) / MIN_BYTES_PER_SECOND
        for attempt in range(MAX_LOSSES):
            workers = self._wait_for_workers()
            worker = workers[((shared.worker or 0) + attempt) % len(workers)]

            async def send(worker: str = worker) -> Any:
                return await self.client.scatter([shared.value], [worker], hash=False, asynchronous=True)

            try:
                shared.future = self.client.sync(send, callback_timeout=limit)[0]
                return
            except (KeyError, OSError, TimeoutError):
                if attempt == MAX_LOSSES - 1:
                    raise
                time.sleep(_TURN_SECONDS)

    def _send_what_was_lost(self) -> None:
        for shared in self._shared:
            if shared.future.status != "finished":
                self._send(shared)

    def _wait(self, futures: list[Any], until: str) -> list[Any]:
        """The finished futures, after at most half a second."""
        from distributed import wait

        self._check_connected()
        try:
            with self.client.as_current():
                return list(wait(futures, timeout=_TURN_SECONDS, return_when=until).done)  # type: ignore[no-untyped-call]
        except TimeoutError:
            return []
        except Exception as error:
            if not _is_loss(error):
                raise
            return [future for future in futures if future.status not in ("pending", "finished")]

    def _check_connected(self) -> None:
        patience = Deadline.after(PATIENCE_SECONDS)
        while self.client.status != "running":
            if self.client.status == "closed" or patience.is_past:
                raise ConnectionError(f"the Dask scheduler at {_address(self.client)} is gone")
            time.sleep(0.1)

    def _wait_for_workers(self) -> list[str]:
        """Addresses of the workers; an error if there are none."""
        patience = Deadline.after(PATIENCE_SECONDS)
        while True:
            self._check_connected()
            if workers := sorted(self.client.scheduler_info(n_workers=-1)["workers"]):
                return workers
            if patience.is_past:
                raise ConnectionError(f"the Dask scheduler at {_address(self.client)} has no worker")
            time.sleep(0.1)


def _is_loss(error: BaseException) -> bool:
    """Whether a task failed because its worker was lost."""
    from asyncio import CancelledError as AsyncCancelled
    from concurrent.futures import CancelledError

    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    return isinstance(error, KilledWorker | CancelledError | AsyncCancelled | FutureCancelledError)


def _address(client: Any) -> str:
    scheduler = getattr(client, "scheduler", None)
    return getattr(scheduler, "address", None) or str(getattr(client, "_start_arg", "its address"))


@contextmanager
def connected(client: Any = None, workers: int | None = None) -> Iterator[DaskPool]:
    """A pool on the given client, on the scheduler at the given address, or on a cluster of this machine."""
    dask, distributed = (optional(name, "distributed searches need Dask", "dask") for name in ("dask", "distributed"))
    if client is not None and not isinstance(client, str):
        yield DaskPool(client)
    elif client is not None:
        with _connect(distributed.Client, client) as opened:
            yield DaskPool(opened)
    else:
        from partita._support.validate import available_cores

        n_workers = available_cores() if workers is None else workers
        with (
            dask.config.set({"distributed.deploy.lost-worker-timeout": LOST_FOR_GOOD}),
            distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, **ON_LOOPBACK) as cluster,
            distributed.Client(cluster, set_as_default=False) as opened,
        ):
            yield DaskPool(opened)


def _connect(make: Callable[..., Any], address: str) -> Any:
    from distributed.comm.addressing import get_address_host

    try:
        get_address_host(address)  # a client of an invalid address could not be closed
        return make(address, timeout=PATIENCE_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise ConnectionError(f"there is no Dask scheduler at {address}: {reason}") from None
