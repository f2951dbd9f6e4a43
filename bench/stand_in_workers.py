"""Workers of a cluster that grade nothing: each task takes a measured time and gives a recorded score.

Several workers share a process, because 50 with libraries of their own do not fit on a laptop. Each has its own TCP
connections, threads and events, as `dask worker` has.
"""

import argparse
import asyncio
import itertools
import time
from dataclasses import replace
from pathlib import Path

import dask
import msgpack
from distributed import Worker, get_worker

from viva.model.grade_request import Graded
from viva.model.plain import from_plain
from viva.plugins.cluster import cluster_worker
from viva.plugins.cluster.cluster_messages import News, Reply, Task


class Recorded:
    """Replies that were recorded, and how long each took."""

    def __init__(self, file: Path, task_s: float | None) -> None:
        """Read them.

        Args:
            file: rows of seconds and a packed result.
            task_s: how long a task takes; None for as long as it was measured.
        """
        rows = msgpack.unpackb(file.read_bytes(), raw=False)
        self._rows = [(task_s if task_s is not None else seconds, from_plain(Graded, plain)) for seconds, plain in rows]
        self._next = itertools.count()

    def grade(self, message: bytes) -> bytes:
        """Answer a task as `cluster_worker.grade` does, with an event for each entry."""
        worker = get_worker()
        key = worker.get_current_task()
        task = Task.from_bytes(message)
        seconds, graded = self._rows[next(self._next) % len(self._rows)]
        for entry in graded.score.entries:
            time.sleep(seconds / len(graded.score.entries))
            worker.log_event(cluster_worker.TOPIC, News(key, entry).to_bytes())
        submission = task.request.submission
        score = replace(graded.score, submission=submission.name, content_hash=submission.content_hash)
        return Reply(replace(graded, score=score), worker.address).to_bytes()


async def serve(scheduler: str, workers: int, threads: int) -> None:
    """Run workers until the scheduler ends."""
    started = [
        Worker(scheduler, nthreads=threads, host="127.0.0.1", dashboard=False, memory_limit=0) for _ in range(workers)
    ]
    await asyncio.gather(*started)
    await asyncio.gather(*(worker.finished() for worker in started))


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(prog="python -m bench.stand_in_workers", description=__doc__)
    parser.add_argument("scheduler")
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--task-s", type=float)
    options = parser.parse_args()
    cluster_worker.grade = Recorded(options.recorded, options.task_s).grade
    # Each worker samples its own stacks a hundred times a second; here all of them share one machine.
    dask.config.set({"distributed.worker.profile.enabled": False})
    asyncio.run(serve(options.scheduler, options.workers, options.threads))


if __name__ == "__main__":
    main()
