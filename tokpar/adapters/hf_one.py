"""Tokenizers of Hugging Face's package tokenizers from 1.0 on, and the files that it reads.

Such an object can encode and decode, and give itself as JSON. It cannot be changed but for its
truncation and padding, which each call may leave out: chunks are encoded on the caller's own
object, and everything else that is to be known follows from that JSON, once for each object.

Its words are kept by a memory of its own, so tokpar's is not used.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from tokpar.adapters.hf_finish import (
    Finish,
    Padding,
    Truncation,
    finished,
)
from tokpar.adapters.hf_one_json import config_of, known
from tokpar.adapters.pure_file import FileTokenizer
from tokpar.adapters.settings import FINISHING, flags
from tokpar.errors import EngineError, FileFormatError
from tokpar.kernels import IdArray, SpanArray, concatenate_ids, has_surrogate, offsets_of
from tokpar.pure.bert import bert_config
from tokpar.types import Facts, Rows

_DEFAULTS: Mapping[str, bool] = dict.fromkeys(FINISHING, True)
_BARE: Mapping[str, Any] = {"add_special_tokens": False, "padding": None, "truncation": None}


def load(source: object, **settings: Any) -> HuggingFaceOneTokenizer | None:
    """An adapter of a `tokenizers.Tokenizer`, or of the file named by a path that ends in ``.json``
    or ``.txt`` (BERT's ``vocab.txt``); None for anything else.

    Settings: `add_special_tokens`, `truncation` and `padding` (True: as the tokenizer has them),
    and of a ``.txt`` file `lowercase` (True; False for a cased vocabulary). Raises OptionError for
    others, FileNotFoundError, and FileFormatError for a file that the library does not read.
    """
    if isinstance(source, Tokenizer):
        return HuggingFaceOneTokenizer(source, flags(settings, FINISHING))
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    if path is not None and path.suffix == ".json":
        checked = flags(settings, FINISHING)
        return HuggingFaceOneTokenizer(_from_file(path), checked)
    if path is not None and path.suffix == ".txt":
        return _of_vocab_txt(path, **flags(settings, (*FINISHING, "lowercase")))
    return None


def _of_vocab_txt(path: Path, lowercase: bool = True, **settings: bool) -> HuggingFaceOneTokenizer:
    return HuggingFaceOneTokenizer(_of_config(bert_config(path, lowercase)), settings)


def _from_file(path: Path) -> Any:
    path.read_bytes()  # its own error for a file that is not there names no path
    try:
        return Tokenizer.from_file(str(path))
    except BaseException as error:
        if not isinstance(error, Exception) and not _is_panic(error):
            raise
        raise FileFormatError(f"{path} is not a tokenizer.json of Hugging Face: {error}") from error


def rebuilt(config: Mapping[str, Any], digest: str) -> HuggingFaceOneTokenizer:
    """The adapter that `HuggingFaceOneTokenizer.spec` describes. Raises EngineError if the library
    does not read the file as it wrote it."""
    own = _of_config(config)
    if known(own).digest != digest:
        raise EngineError("this tokenizer is not the same when it is written and read again")
    own.truncation = own.padding = None
    return HuggingFaceOneTokenizer(own)


def _of_config(config: Mapping[str, Any]) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "tokenizer.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        return _from_file(file)


class HuggingFaceOneTokenizer:
    """The adapter; see `load`."""

    def __init__(self, own: Any, settings: Mapping[str, bool] = _DEFAULTS) -> None:
        self._own = own
        self._settings = {**_DEFAULTS, **settings}
        left_out = {name: None for name in ("truncation", "padding") if not self._settings[name]}
        self._call = {"add_special_tokens": self._settings["add_special_tokens"], **left_out}
        self._known = known(own)
        self._state = _state(own)
        self._finish = self._finish_now()

    def _finish_now(self) -> Finish:
        around = self._known.around
        if isinstance(around, str):
            return Finish(unknown=around)
        prefix, suffix = around if self._settings["add_special_tokens"] else ((), ())
        truncation, padding = self._state
        return Finish(
            np.array(prefix, dtype=np.uint32),
            np.array(suffix, dtype=np.uint32),
            _truncation(
                truncation if self._settings["truncation"] else None, len(prefix) + len(suffix)
            ),
            _padding(padding if self._settings["padding"] else None),
        )

    @property
    def name(self) -> str:
        """ "huggingface:" and the kind of model."""
        return f"huggingface:{self.facts.model}"

    @property
    def facts(self) -> Facts:
        """What proofs may use."""
        return self._known.facts

    def encode(self, text: str) -> IdArray:
        """Ids before special tokens, truncation and padding. Raises EngineError on a panic."""
        try:
            ids: IdArray = self._own.encode(text, **_BARE).ids_array
        except BaseException as error:
            _raise_panic(error, len(text))
            raise
        return ids

    def encode_whole(self, text: str) -> IdArray:
        """The caller's own call on the caller's own object. Raises what that raises, and
        EngineError on a panic."""
        try:
            encoding = self._own.encode(text, **self._call)
        except BaseException as error:
            _raise_panic(error, len(text))
            raise
        ids: IdArray = encoding.ids_array
        return ids

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans of the ids that `encode(text)` gave; LookupError for other ids.

        The library tells no offsets. Where tokens do not tile the text `tokpar.pure` finds them,
        which is slow; LookupError where it does not know such a tokenizer, or has other ids.
        """
        if self._known.lengths is None:
            return self._pure.locate(ids, text)
        return self._known.lengths.spans(ids, text)

    @cached_property
    def _pure(self) -> FileTokenizer:
        try:
            return FileTokenizer(config_of(self._own), self.name)
        except FileFormatError as error:
            raise LookupError(
                f"tokenizers 1.x does not tell where tokens lie, and neither does engine='pure': "
                f"{error}"
            ) from error

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """One row per text, on all cores, GIL released. Raises EngineError on a panic."""
        rows = self._batch(texts, _BARE)
        if not spans:
            return rows
        located = [self.locate(rows[k], text) for k, text in enumerate(texts)]
        return replace(rows, spans=np.concatenate(located) if located else None)

    def finish(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """As the batch call of the engine, see `hf_finish.finished`."""
        return finished(self._finish, rows, texts, self)

    def whole_batch(self, texts: Sequence[str]) -> Rows:
        """The caller's own call on several texts. Raises as `encode_whole` does."""
        return self._batch(texts, self._call)

    def _batch(self, texts: Sequence[str], settings: Mapping[str, Any]) -> Rows:
        try:
            encodings = self._own.encode_batch(list(texts), **settings)
        except BaseException as error:
            _raise_panic(error, sum(map(len, texts)))
            raise
        arrays = [encoding.ids_array for encoding in encodings]
        return Rows(concatenate_ids(arrays), offsets_of(map(len, arrays)))

    @property
    def around(self) -> tuple[IdArray, IdArray] | None:
        """Ids that `finish` puts before and after a text; None where it may cut or pad."""
        finish = self._finish
        if finish.unknown or finish.truncation is not None or finish.padding is not None:
            return None
        return finish.prefix, finish.suffix

    def check_text(self, text: str) -> None:
        """Raises what the caller's own call raises for a text that is not valid Unicode."""
        if has_surrogate(text):
            self.encode_whole(text)

    def decode(self, ids: Sequence[int]) -> str:
        """The caller's own decoder, special tokens kept (skip_special_tokens=False)."""
        some = np.asarray(ids, dtype=np.int64).tolist()
        text: str = self._own.decode(some, skip_special_tokens=False)
        return text

    def refreshed(self) -> HuggingFaceOneTokenizer:
        """Itself, or a new adapter if the caller has set another truncation or padding."""
        if _state(self._own) == self._state:
            return self
        return HuggingFaceOneTokenizer(self._own, self._settings)

    def spec(self) -> tuple[Callable[..., HuggingFaceOneTokenizer], Mapping[str, Any]]:
        """`rebuilt`, the tokenizer as format 1.0, and by what to know it again. Not the object
        itself: 1.0.0rc3 gives added tokens of DeepSeek-V3 other ids when it reads its own 2.0."""
        return rebuilt, {"config": config_of(self._own), "digest": self._known.digest}


State = tuple[Any, Any]


def _state(own: Any) -> State:
    """What ids depend on, as far as the caller can change it; compared with ==."""
    return own.truncation, own.padding


def _truncation(settings: Any, added: int) -> Truncation | None:
    """Nothing is left of the text where special tokens take all the room; there is no stride."""
    if settings is None:
        return None
    limit = max(0, settings.max_length - added)
    return Truncation(limit, settings.strategy, settings.direction, 0)


def _padding(settings: Any) -> Padding | None:
    if settings is None:
        return None
    multiple = settings.pad_to_multiple_of or 0
    return Padding(settings.length, multiple, settings.direction, settings.pad_id)


def _is_panic(error: BaseException) -> bool:
    return type(error).__name__ == "PanicException"


def _raise_panic(error: BaseException, length: int) -> None:
    """Raises EngineError if `error` is a panic of the engine."""
    if _is_panic(error):
        raise EngineError(f"the tokenizer panicked: {error}", 0, length) from error
