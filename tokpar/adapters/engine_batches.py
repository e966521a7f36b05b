"""Batches for the engines of Hugging Face, also in a forked child and beside a training.

A child has none of the threads that the engine had started in its parent. A batch of two texts
would wait for them for ever; a batch of one text needs no thread. So in a child our threads hand
the engine batches of one, without the GIL. Threads of our pool do so anywhere: while they make
tables, the caller may train the same model. The training locks the model and waits for the
engine's threads, which would wait for the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tokpar.process.fork_locks import is_child
from tokpar.process.limits import worker_count
from tokpar.process.thread_pool import share, this_thread

Item = TypeVar("Item")
Found = TypeVar("Found")


def call_batch(
    call: Callable[..., Sequence[Found]], items: Sequence[Item], **settings: Any
) -> list[Found]:
    """Returns what `call`, a batch call of an engine, gives for `items`. Padding to the longest
    item is left out in a child and in a thread of the pool, see `pad_batch`."""
    if not is_child() and not this_thread.is_worker:
        return [*call([*items], **settings)]
    return share(lambda item: call([item], **settings)[0], items, worker_count(None))


def pad_batch(engine: Any, encodings: Sequence[Any]) -> None:
    """Pad the encodings to the longest one, if the engine pads a batch so; in place."""
    padding = engine.padding
    is_left_out = is_child() or this_thread.is_worker
    if padding is None or padding["length"] is not None or not is_left_out:
        return
    longest = max(map(len, encodings), default=0)
    names = ("direction", "pad_id", "pad_type_id", "pad_token")
    for encoding in encodings:
        encoding.pad(longest, **{name: padding[name] for name in names})
