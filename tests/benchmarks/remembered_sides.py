"""What takes turns in `tests.benchmarks.remembered`: texts, and calls of new objects on them."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tokpar
from tests.benchmarks.speed_engines import (
    PEERS,
    Many,
    Own,
    Subject,
    huggingface_subject,
    is_wanted,
    library_subjects,
)
from tokpar.arrays import IdArray
from tokpar.errors import OptionError

State = Literal["cold", "warm", "seen"]
STATES: tuple[State, ...] = ("cold", "warm", "seen")
SENTENCEPIECE = {
    "botchan Unigram": "botchan__unigram.json",
    "botchan BPE": "botchan__bpe.json",
    "Llama 2": "llama_2.json",
    "Mistral v3": "mistral_v3.json",
    "T5": "t5__small.json",
    "Gemma": "gemma__small.json",
}
MODELS = ("unigram_6000", "bpe_6000")


@dataclass(frozen=True)
class Text:
    """Texts of a kind to be encoded together, or one alone."""

    kind: str
    texts: list[str]
    together: bool = False

    @property
    def bytes(self) -> int:
        return sum(len(text.encode()) for text in self.texts)

    def halves(self) -> tuple[Text, Text]:
        """Of the documents, or of the one text."""
        if self.together:
            middle = len(self.texts) // 2
            first, second = self.texts[:middle], self.texts[middle:]
        else:
            [text] = self.texts
            middle = len(text) // 2
            first, second = [text[:middle]], [text[middle:]]
        return Text(self.kind, first, self.together), Text(self.kind, second, self.together)


@dataclass(frozen=True)
class Side:
    """`new`: the call of a new object, which has seen no text, and what takes its ids apart."""

    name: str
    new: Callable[[], Many]


def every_subject(vocab: Path, files: Path | None, only: Sequence[str]) -> Iterator[Subject]:
    """Of `vocab`, then those of SentencePiece in `files`."""
    yield from library_subjects(vocab, only)
    if files is None:
        return
    with tempfile.TemporaryDirectory() as directory:
        for name, file in SENTENCEPIECE.items():
            if (files / file).is_file() and is_wanted(only, f"{name}, Hugging Face"):
                yield huggingface_subject(name, files / file, Path(directory))
    for name in MODELS:
        path = files / f"{name}.model"
        known = find_spec("sentencepiece") and find_spec("tokpar_sentencepiece")
        if known and path.is_file() and is_wanted(only, f"{name}, sentencepiece"):
            yield _sentencepiece(name, path)


def _sentencepiece(name: str, path: Path) -> Subject:
    def own() -> Own:
        library: Any = import_module("sentencepiece")
        processor = library.SentencePieceProcessor(model_file=str(path))

        def one(text: str) -> IdArray:
            return np.array(processor.encode(text), dtype=np.uint32)

        def many(texts: list[str]) -> list[IdArray]:
            return [np.array(ids, dtype=np.uint32) for ids in processor.encode(texts)]

        return Own({"encode": one}, {"encode": Many(many)})

    def load(**settings: Any) -> Any:
        return tokpar.load(path, **settings)

    return Subject(f"{name}, sentencepiece", "sentencepiece", load, own, path)


def own_sides(subject: Subject, together: bool) -> list[Side]:
    """The engine's own calls; the first is the one that its users make."""
    own = subject.own()
    names = own.many if together else own.one
    return [Side(name, partial(_call, subject.own, name, together)) for name in names]


def ours(subject: Subject, together: bool, workers: int | None = None, **settings: Any) -> Many:
    """The call of an encoder with an adapter that has seen no text."""
    encoder = tokpar.Encoder(subject.load(**settings), workers=workers)
    if together:
        return Many(encoder.encode_batch, rows_of_batch)
    return Many(lambda texts: encoder.encode(texts[0]), lambda encoding: [encoding.ids])


def rows_of_batch(batch: tokpar.Batch) -> Sequence[IdArray]:
    return np.split(batch.ids, batch.offsets[1:-1])


def straight(subject: Subject, together: bool) -> Side:
    """tokpar without a memory."""
    return Side("tokpar without memory", lambda: ours(subject, together, cache_bytes=0))


def takes_memory(subject: Subject) -> bool:
    """Whether its memory has a budget that can be set."""
    try:
        subject.load(cache_bytes=0)
    except OptionError:
        return False
    return True


def peer_sides(peers: Mapping[str, Callable[[], Own]], together: bool) -> list[Side]:
    """The best calls of other engines."""
    return [
        Side(engine, partial(_call, own, PEERS[engine], together)) for engine, own in peers.items()
    ]


def _call(own: Callable[[], Own], name: str, together: bool) -> Many:
    new = own()
    if together:
        return new.many[name]
    call = new.one[name]
    return Many(lambda texts: call(texts[0]), lambda ids: [ids])


def prepared(side: Side, text: Text, state: State) -> tuple[Callable[[], Any], Many]:
    """What is to be timed: the call of a new object that has seen what `state` says."""
    gc.collect()  # what the last one held
    many = side.new()
    if state == "warm":
        seen, timed = text.halves()
        many.call(seen.texts)
    else:
        timed = text
        if state == "seen":
            many.call(text.texts)
    return partial(many.call, timed.texts), many
