"""`as_tiktoken`: a tiktoken.Encoding whose texts tokpar encodes."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tiktoken
import tiktoken.registry

from tokpar.adapters.tiktoken import TiktokenTokenizer, numpy_takes_settings
from tokpar.adapters.tiktoken_encodings import OwnEncoding
from tokpar.arrays import IdArray, concatenate_ids, frozen_ids, plain_text
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.encoder import Spans
from tokpar.errors import OptionError
from tokpar.integrations.tiktoken_arguments import (
    ALL,
    NOTHING,
    AllowedSpecial,
    DisallowedSpecial,
    is_all,
    reusable,
)
from tokpar.integrations.tiktoken_path import MANY_IDS, FastPath
from tokpar.results.encoding import Batch
from tokpar.results.text_counts import UNTRUSTED


class TokparEncoding(tiktoken.Encoding):  # type: ignore[misc]  # tiktoken may be missing
    """A `tiktoken.Encoding` that encodes through tokpar.

    Arguments, results and errors are tiktoken's; methods that are not faster here are inherited.
    It shares the attributes of the original encoding: an attribute set on one is set on both.
    `pickle`, `copy` and `deepcopy` make such an object again. Thread-safe; survives a fork."""

    _tokpar: FastPath

    @property
    def tokpar_calls(self) -> int:
        """How many texts went through tokpar; `tokpar_texts` says how."""
        return self._tokpar.counts.through_tokpar

    @property
    def tokpar_texts(self) -> dict[str, int]:
        """How many texts were encoded in each way: "compiled", "cut", "untrusted", "engine"."""
        return self._tokpar.counts.by_way

    @property
    def tokpar_fallbacks(self) -> dict[str, int]:
        """Why tiktoken encoded texts, and how many; see `tokpar.results.encoder_report.REASONS`."""
        return self._tokpar.counts.fallbacks

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = ALL,
        untrusted: Spans | None = None,
    ) -> list[int]:
        """Ids of `text`. ValueError for a disallowed special token, as tiktoken words it.

        `untrusted`: [start, stop) of parts of the text in which no special token counts, and none
        is an error; code points (docs/untrusted.md)."""
        path = self._tokpar
        is_neutral = allowed_special is NOTHING and disallowed_special is ALL
        if not is_neutral:
            is_neutral = path.are_neutral(allowed_special, disallowed_special)
        if is_neutral and type(text) is str and untrusted is None:  # microseconds count here
            known = path.ask(text)
            if known is not None:
                path.count_one()
                return known.tolist() if len(known) < MANY_IDS else path.int_list([known])
        if untrusted is not None:
            encoder = path.trusted_encoder(allowed_special, disallowed_special)
            trusted: list[int] = encoder.encode(plain_text(text), untrusted=untrusted).ids.tolist()
            path.counts.add({UNTRUSTED: 1}, "")
            return trusted
        own = path.original.encode  # super() costs a short text 0.4 microseconds more
        if isinstance(text, str):
            if not is_neutral:
                disallowed_special = reusable(disallowed_special)
            text = plain_text(text)
            found = path.other_rows(text, allowed_special, disallowed_special)
            if found is not None:
                return path.int_list(found)
        ids: list[int] = own(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        path.count_own(1, is_neutral)
        return ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of `text`; special tokens are encoded as ordinary text."""
        path = self._tokpar
        if type(text) is str:
            known = path.ask(text)
            if known is not None:
                path.count_one()
                return known.tolist() if len(known) < MANY_IDS else path.int_list([known])
        if isinstance(text, str):
            text = plain_text(text)
            found = path.other_rows(text, NOTHING, NOTHING)
            if found is not None:
                return path.int_list(found)
        ids: list[int] = path.original.encode_ordinary(text)
        path.count_own(1, True)
        return ids

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> IdArray:
        """Ids of `text`, uint32, (n,), read-only. UnicodeEncodeError for a surrogate."""
        path = self._tokpar
        is_neutral = allowed_special is NOTHING and disallowed_special is ALL
        if not is_neutral:
            is_neutral = path.are_neutral(allowed_special, disallowed_special)
        if is_neutral and type(text) is str:
            known = path.ask(text)
            if known is not None:
                path.count_one()
                return known
        own = path.original.encode_to_numpy
        if isinstance(text, str):
            if not is_neutral:
                disallowed_special = reusable(disallowed_special)
            text = plain_text(text)
            choice = path.specials.choice(allowed_special, disallowed_special)
            if choice is not None and not numpy_takes_settings():
                choice.check(text)
                allowed_special, disallowed_special = ALL, ()  # as tiktoken 0.9 reads the others
            rows = path.other_rows(text, allowed_special, disallowed_special, False)
            if rows is not None:
                return frozen_ids(concatenate_ids(rows))
        ids: IdArray = own(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        path.count_own(1, is_neutral)
        return ids

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int = 8,
        allowed_special: AllowedSpecial = NOTHING,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> list[list[int]]:
        """The ids of each text. `num_threads` counts only where tiktoken encodes the batch."""
        if not is_all(disallowed_special):
            disallowed_special = frozenset(disallowed_special)
        special = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
        return self._batch("encode_batch", text, num_threads, special)

    def encode_ordinary_batch(
        self, text: Iterable[str], *, num_threads: int = 8
    ) -> list[list[int]]:
        """As `encode_batch`; special tokens are encoded as ordinary text."""
        return self._batch("encode_ordinary_batch", text, num_threads, {})

    def _batch(
        self, name: str, text: Iterable[str], num_threads: int, special: Mapping[str, Any]
    ) -> list[list[int]]:
        """The ids of each text, by tokpar or by the method `name` of tiktoken."""
        path, options = self._tokpar, {"num_threads": num_threads, **special}
        if not path.takes_all:
            getattr(path.original, name)([], **options)  # what tiktoken raises before it reads
        elif not path.takes_batch(num_threads, **special):
            own: list[list[int]] = getattr(path.original, name)(text, **options)
            path.count_own(len(own), False)
            return own
        texts = [*map(plain_text, text)]
        if {*map(type, texts)} <= {str}:
            choice = special or {"allowed_special": NOTHING, "disallowed_special": NOTHING}
            found = path.lists(texts, **choice)
            if found is not None:
                return found
        return [*getattr(super(), name)(texts, **options)]  # which calls and counts each text

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text of `tokens`, and where each token begins in it, in code points. KeyError for
        what is no token, UnicodeDecodeError for bytes that are no UTF-8."""
        path = self._tokpar
        found = path.offsets.decode(tokens)
        if found is None:
            found = path.original.decode_with_offsets(tokens)
        return found

    def _tokpar_original(self) -> tiktoken.Encoding:
        """The original encoding, which `tokpar.load` loads in place of this object."""
        return self._tokpar.original

    def __reduce__(self) -> tuple[object, ...]:
        """By the original, which tiktoken pickles by its name if it is a registered encoding."""
        return self._tokpar.rebuild, (self._tokpar.original,)


def make_faster(
    tokenizer: TokenizerAdapter,
    encode_batch: Callable[[Sequence[str], TokenizerAdapter], Batch],
    smallest_text: int,
    rebuild: Callable[[tiktoken.Encoding], TokparEncoding],
    takes_all: bool = False,
    workers: int = 1,
) -> TokparEncoding:
    """The encoding of `tokenizer` as a `TokparEncoding`, an instance of the encoding's own class
    too. `encode_batch(texts, adapter)` encodes texts of at least `smallest_text` code points.
    `takes_all`: the compiled call takes texts of every length, long ones on `workers` threads.
    Raises OptionError."""
    if isinstance(tokenizer, OwnEncoding):
        raise OptionError(
            f"as_tiktoken cannot follow this encoding: {tokenizer.why}; use the encoding itself"
        )
    if not isinstance(tokenizer, TiktokenTokenizer):
        raise OptionError(
            f"as_tiktoken needs a tiktoken.Encoding or a .tiktoken file, got {tokenizer.name}"
        )
    if not isinstance(smallest_text, int) or smallest_text < 0:
        raise OptionError(
            f"smallest_text must be a number of code points, 0 or more, got {smallest_text!r}"
        )
    original = find_registered(tokenizer.encoding)
    kind = _class_for(type(original))
    made = kind.__new__(kind)
    made.__dict__ = original.__dict__
    columns = tokenizer.refusing_all(), encode_batch, smallest_text, rebuild, takes_all, workers
    made._tokpar = FastPath(original, *columns)
    return made


_classes: dict[type[tiktoken.Encoding], type[TokparEncoding]] = {}


def _class_for(base: type[tiktoken.Encoding]) -> type[TokparEncoding]:
    """The one class that derives from `TokparEncoding` and from `base`, and is named as `base`."""
    names = {
        "__slots__": ("_tokpar",),
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    if base not in _classes:
        bases = (TokparEncoding,) if base is tiktoken.Encoding else (TokparEncoding, base)
        made = types.new_class(base.__name__, bases, exec_body=lambda space: space.update(names))
        _classes.setdefault(base, made)
    return _classes[base]


def find_registered(encoding: tiktoken.Encoding) -> tiktoken.Encoding:
    """The encoding that tiktoken keeps under its name, for another object with its attributes.
    tiktoken pickles only that one by its name, and what tokpar has learned of it serves copies."""
    kept = tiktoken.registry.ENCODINGS.get(encoding.name)
    return kept if kept is not None and vars(kept) is vars(encoding) else encoding
