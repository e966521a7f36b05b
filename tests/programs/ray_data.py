"""Ray Data: `map_batches` with a transformers tokenizer, on a Ray that is started here without a
dashboard. Each data set costs its workers tenths of a second: they unpickle the tokenizer."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from tests.programs.documents import SOURCES, documents
from tests.programs.tokenizer_files import own_and_ours
from tests.programs.turns import Row, compare

INSTALL = ("ray[data]==2.60.0", "transformers==5.24.0")
VERSIONS = ("ray", "transformers", "pyarrow")
CPUS, STORE = 2, 200_000_000
"""Ray's workers, and bytes of its store of objects, which lies in shared memory."""
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_worker_niceness": "0",
    "RAY_raylet_start_wait_time_s": "600",
    "RAY_agent_register_timeout_ms": "600000",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_num_workers_soft_limit": "8",
    "RAY_idle_worker_killing_time_threshold_ms": "3600000",
}
"""By default its workers are nice to all other processes, so on a busy machine they hardly run; and
its own processes start in more than the 30 seconds that each waits for the others. It ends workers
that have nothing to do for a second, so one side or the other would pay for new ones."""


class Encoder:
    """A callable of a batch: the ids of its texts, and how much processor time its worker has had
    before the batch and behind it."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        before = time.process_time()
        ids = self.tokenizer([*batch["text"]])["input_ids"]
        worker = {"worker": os.getpid(), "before": before, "behind": time.process_time()}
        columns = {name: [each] * len(ids) for name, each in worker.items()}
        return {"number": batch["number"], "ids": ids, **columns}


class Workers:
    """The processor time of this process and of Ray's workers, by what they return; that of Ray's
    other processes depends on how long they wait, and the start of a worker is no side's own."""

    def __init__(self) -> None:
        self.first, self.last = dict[int, float](), dict[int, float]()

    def clock(self) -> float:
        return time.process_time() + sum(self.last.values()) - sum(self.first.values())

    def ids_of(self, texts: Sequence[str], tokenizer: Any) -> list[list[int]]:
        """Returns the ids of each text, in their order."""
        import ray

        items = [{"number": number, "text": text} for number, text in enumerate(texts)]
        data = ray.data.from_items(items, override_num_blocks=CPUS)
        made = data.map_batches(Encoder(tokenizer).__call__, batch_size=100).take_all()
        for row in sorted(made, key=lambda row: row["before"]):
            self.first.setdefault(row["worker"], row["before"])
            self.last[row["worker"]] = row["behind"]
        return [[*row["ids"]] for row in sorted(made, key=lambda row: row["number"])]


def rows() -> Iterator[Row]:
    os.environ |= SETTINGS
    import ray

    ray.init(num_cpus=CPUS, include_dashboard=False, object_store_memory=STORE)
    own, ours = own_and_ours()
    ours("the tables, which the workers find on disk")
    workers, texts = Workers(), documents(4_000, 420, 0, (SOURCES,))
    sides = (partial(workers.ids_of, tokenizer=each) for each in (own, ours))
    try:
        yield compare("map_batches", *sides, [texts[:20], texts[20:]], workers.clock, 1)
    finally:
        ray.shutdown()
