"""Many records at once: the same function over each of them, in several processes or through Ray, in their order.

What is done to a record is somebody else's; here is only how it is spread. Functions and records must be plain values
that pickle.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from .errors import ProxaiError

Record = TypeVar("Record")
Result = TypeVar("Result")
Batched = Callable[[list[Any]], list[Any]]

BATCH = 64  # records that travel together: enough that sending them costs little beside the work
WAITING = 2  # batches for each process that are begun before their turn to be written


class Spread(NamedTuple):
    """How records are spread: how many processes (1: none but this one), and the engine, `local` or `ray`."""

    jobs: int = 1
    engine: str = "local"

    @property
    def is_alone(self) -> bool:
        """Is everything done here, one record after the other?"""
        return self.jobs == 1 and self.engine == "local"


def spread(jobs: str, engine: str) -> Spread:
    """From the words of a call; `0` jobs are as many as there are cores. Raises `bad-call`."""
    if not (jobs.isascii() and jobs.isdigit() and len(jobs) < 4):
        raise ProxaiError("bad-call", "--jobs takes a number of processes", hint="--jobs 0 for as many as cores")
    return Spread(int(jobs) or os.cpu_count() or 1, engine)


def in_order(work: Callable[[Record], Result], records: Iterable[Record], spread: Spread) -> Iterator[Result]:
    """What the work makes of each record, in the order of the records, however they are spread.

    No more than a few batches for each process are held at a time. An exception of the work ends it, and is raised
    here after all results before it. Raises `bad-call` where the engine is not there.
    """
    if spread.is_alone:
        return map(work, records)
    engine = _by_ray if spread.engine == "ray" else _by_processes
    return (_result(one) for done in engine(partial(_batch, work), _batches(records), spread.jobs) for one in done)


def _batches(records: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(records)
    while batch := list(islice(rest, BATCH)):
        yield batch


class _Raised(NamedTuple):
    """An exception on its way out of another process."""

    error: Exception


def _batch(work: Callable[[Any], Any], records: list[Any]) -> list[Any]:
    """The results for a batch, up to the first exception, which is the last of them."""
    done: list[Any] = []
    for record in records:
        try:
            done.append(work(record))
        except Exception as error:
            return [*done, _Raised(error)]
    return done


def _result(one: Any) -> Any:
    if isinstance(one, _Raised):
        raise one.error
    return one


def _by_processes(work: Batched, batches: Iterable[list[Any]], jobs: int) -> Iterator[list[Any]]:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import get_context

    # `spawn` is the same on every platform, and takes nothing along that the parent has open.
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
    waiting: deque[Future[list[Any]]] = deque()
    try:
        for batch in batches:
            waiting.append(pool.submit(work, batch))
            if len(waiting) >= WAITING * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Ctrl-C is for the process that was asked; it ends the others."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _by_ray(work: Batched, batches: Iterable[list[Any]], jobs: int) -> Iterator[list[Any]]:
    """Through Ray Data: a window of batches at a time is a data set of its own, so that nothing is held for longer."""
    import logging

    try:
        import ray
        import ray.data
    except ImportError:
        raise ProxaiError("bad-call", "the engine ray is not installed", hint="pip install 'proxai[ray]'") from None
    # What Ray says of itself is nothing that was asked for.
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    started = not ray.is_initialized()
    if started:
        # With RAY_ADDRESS set Ray takes that cluster by itself.
        local = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": jobs if jobs > 1 else None}
        ray.init(log_to_driver=False, logging_level="ERROR", include_dashboard=False, **local)
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        window = WAITING * max(jobs, os.cpu_count() or 1)
        remaining = iter(batches)
        while some := list(islice(remaining, window)):
            rows = [{"batch": _pickled(batch)} for batch in some]
            done = ray.data.from_items(rows, override_num_blocks=len(rows)).map(partial(_row, work))
            yield from (_unpickled(row["done"]) for row in done.iter_rows())
    finally:
        if started:
            ray.shutdown()


def _row(work: Batched, row: dict[str, bytes]) -> dict[str, bytes]:
    """The work for one row; values travel pickled, since rows hold only what Arrow knows."""
    return {"done": _pickled(work(_unpickled(row["batch"])))}


def _pickled(value: Any) -> bytes:
    import pickle

    return pickle.dumps(value)


def _unpickled(data: bytes) -> Any:
    import pickle

    return pickle.loads(data)
