"""What an adapter may tell besides ids and facts, and the functions that ask for it.

How its engine likes to be run, what it was loaded from, how it decodes, which text it trusts."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray
from tokpar.contract.interfaces import PostProcesses, TokenizerAdapter
from tokpar.types import AddedToken

_BUFFERS = (array, bytearray, memoryview)


@dataclass(frozen=True, slots=True)
class EngineTraits:
    """How an engine likes to be run, and which texts it refuses. All fields are optional.

    No proof reads these fields. A wrong value costs time, or lets a text pass that the engine's own
    call refuses; the ids of all other texts stay right."""

    releases_gil: bool = False
    """`encode` releases the GIL, so other threads run."""
    returns_objects: bool = False
    """The batch call makes an object for each token, so small batches are faster."""
    wants_one_thread: Callable[[Sequence[str]], bool] | None = None
    """Returns True if these texts should run on one thread, because several threads would wait for
    each other. Asked again for each call."""
    check_text: Callable[[str], None] | None = None
    """Raises the error of the engine's own call for a text that the engine refuses.

    The engine may refuse a text for a single character, or for a string in `forbidden`. Nothing
    else: a stream is checked chunk by chunk. A text that is not cut is checked for `forbidden`
    only, because `encode` refuses the characters."""
    forbidden: frozenset[str] = frozenset()
    """Strings that `check_text` refuses anywhere in a text."""
    agreement: str = ""
    """The result of a comparison with another library, for reports: "same ids as tokenizers 0.23.3
    on 8,012 texts"."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What the engine of an adapter runs, as the caller gave it. A checker reads it by itself.

    `source`: the tokenizer object of its library, the bytes of a ``tokenizer.json``, such a file
    parsed, or a `Vocabulary`. `settings`: the caller's settings that decide what is encoded;
    "no_file": why the ids may be others than those of the file."""

    source: object
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loader:
    """What made a tokenizer of a directory, or of a repository of the Hugging Face Hub.

    `name`: "AutoTokenizer" of transformers, or "tokenizer.json" if that file alone decides.
    `tokenizer_class`: the class that transformers chose, or None. `versions`: package -> version,
    of the packages that made the tokenizer."""

    name: str
    tokenizer_class: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """For reports: "AutoTokenizer, class LlamaTokenizer, tokenizers 0.23.3"."""
        chosen = [] if self.tokenizer_class is None else [f"class {self.tokenizer_class}"]
        return ", ".join([self.name, *chosen, *map(" ".join, self.versions.items())])


@dataclass(frozen=True, slots=True)
class DecodingParts:
    """How a tokenizer decodes, part by part, for `Encoder.decode_stream`.

    `token_of`: the token of an id as `decoder` reads it; None for an id that `decode` leaves out;
    raises LookupError where `decode` raises. `in_bytes`: tokens are bytes, and the text is all
    bytes as UTF-8 with U+FFFD; else `decoder` is the "decoder" of a ``tokenizer.json``, or
    {"type": "unknown"}. `replacements`: what is replaced in the whole text afterwards, in order.
    `decode`: the tokenizer's own call for all ids. `id_count`: how many ids from 0 on there
    are; most are tokens. `state`: compared with ==; other parts have another."""

    token_of: Callable[[int], str | bytes | None]
    decode: Callable[[Sequence[int]], str]
    id_count: int
    in_bytes: bool = False
    decoder: Mapping[str, Any] | None = None
    replacements: tuple[tuple[str, str], ...] = ()
    state: object = None


@dataclass(frozen=True, slots=True)
class TrustParts:
    """What an adapter knows about untrusted text (proofs/untrusted.md).

    `added_tokens`: all added tokens that the engine searches. `vocabulary`: all tokens in one
    string, of whose characters no name is made. `default`: the contents of the
    control tokens, if the caller names none. `why_refused`: content -> why it cannot be a control
    token. `given_ids`: the ids of these control tokens that ordinary text may get from the model
    -> their contents. `with_names`: content -> name; returns an adapter of named texts.
    `check_trusted`: raises the error of the own call for a trusted run that it refuses."""

    added_tokens: tuple[AddedToken, ...]
    vocabulary: Callable[[], str]
    default: frozenset[str]
    why_refused: Callable[[str], str | None]
    given_ids: Callable[[Collection[str]], Mapping[int, str]]
    with_names: Callable[[Mapping[str, str]], Any]
    check_trusted: Callable[[str], None] | None = None


@runtime_checkable
class HasTraits(Protocol):
    """An adapter that says how its engine likes to be run."""

    @property
    def traits(self) -> EngineTraits: ...


_NO_TRAITS = EngineTraits()


def traits_of(tokenizer: TokenizerAdapter) -> EngineTraits:
    """Returns how the engine of the adapter likes to be run. The defaults if the adapter says
    nothing."""
    traits: EngineTraits | None = getattr(tokenizer, "traits", None)  # see `facts_of`
    return traits or _NO_TRAITS


def require_accepted(text: str, tokenizer: TokenizerAdapter) -> None:
    """Raises the error of the tokenizer's own call for a text that the tokenizer refuses."""
    check_text = traits_of(tokenizer).check_text
    if check_text is not None:
        check_text(text)


def origin_of(tokenizer: TokenizerAdapter) -> Origin | None:
    """Returns what the engine of the adapter runs, or None if no file tells that. A checker derives
    the facts from it again and compares them."""
    origin: Origin | None = getattr(tokenizer, "origin", None)
    return origin


def loader_of(tokenizer: TokenizerAdapter) -> Loader | None:
    """Returns what made the tokenizer of a directory or of a repository of the Hugging Face Hub.
    None for a tokenizer of an object or of a file."""
    loader: Loader | None = getattr(tokenizer, "loader", None)
    return loader


def trust_parts_of(tokenizer: TokenizerAdapter) -> TrustParts | None:
    """Returns the adapter's `trust_parts()`, or None if it has none: no part of a text can be
    untrusted. Raises OptionError as the method does."""
    call = getattr(tokenizer, "trust_parts", None)
    parts: TrustParts | None = None if call is None else call()
    return parts


def vocabulary_of(tokenizer: TokenizerAdapter) -> Any:
    """Returns what the adapter's `vocabulary()` returns, or None if no file can tell it.

    For a tokenizer of Hugging Face: its ``tokenizer.json`` in format 1.0, parsed. For tiktoken, and
    byte-level BPE in Python: a `tokpar.formats.vocabulary.Vocabulary`."""
    call = getattr(tokenizer, "vocabulary", None)
    return None if call is None else call()


def special_ids_of(tokenizer: TokenizerAdapter) -> Mapping[str, int]:
    """Returns the ids of the special tokens that the caller's object names, as transformers names
    them: "bos_token", "eos_token". Empty if the object names none."""
    ids: Mapping[str, int] = getattr(tokenizer, "special_ids", {})
    return ids


def own_call_of(tokenizer: TokenizerAdapter) -> Callable[[str], IdArray] | None:
    """Returns the engine's own serial call, post-processing included, or None."""
    call: Callable[[str], IdArray] | None = getattr(tokenizer, "encode_whole", None)
    return call


def later_call_of(tokenizer: object) -> Any:
    """Returns the `LaterCall` of the adapter: its compiled call as soon as there is one. None if
    there will be none."""
    return getattr(tokenizer, "later_call", None)


def front_of(tokenizer: object, workers: int = 1) -> Any:
    """Returns the `Front` of the adapter, the door to its compiled call. None if there will be no
    call. `workers`: threads for long texts and large batches."""
    later = later_call_of(tokenizer)
    return None if later is None else later.front(workers)


def why_not_compiled(tokenizer: object) -> str:
    """Returns why no compiled call encodes texts of the adapter, in words; empty if one does."""
    why: str = getattr(tokenizer, "why_not_compiled", "its adapter has no compiled call")
    return why


def token_bytes_of(tokenizer: TokenizerAdapter) -> Callable[[int], bytes | None] | None:
    """Returns the adapter's `token_bytes`, or None.

    `token_bytes(id_)` returns the bytes that a token stands for in a text, an added token as its
    content. None for an unknown id, and for a token that does not stand for bytes of its own."""
    call: Callable[[int], bytes | None] | None = getattr(tokenizer, "token_bytes", None)
    return call


_NO_IDS: IdArray = np.empty(0, dtype=np.uint32)


def inserted_ids(tokenizer: TokenizerAdapter) -> tuple[IdArray, IdArray] | None:
    """Returns the ids that post-processing inserts before and after every text.

    None if post-processing may do more: truncate, pad, or depend on the text. Two empty arrays for
    an adapter that does not post-process."""
    if not isinstance(tokenizer, PostProcesses):
        return _NO_IDS, _NO_IDS
    only_inserts = tokenizer.truncates_to is None and not tokenizer.pads
    return tokenizer.special_tokens if only_inserts else None


def whole_number_array(ids: object) -> NDArray[Any] | None:
    """Returns the ids of an array or buffer of whole numbers, (n,); None for anything else."""
    if isinstance(ids, np.ma.MaskedArray):  # `asarray` gives what the mask hides
        return None
    if isinstance(ids, _BUFFERS) or hasattr(ids, "__array__"):
        with suppress(TypeError, ValueError, RuntimeError):  # no array: the own call says why
            found = np.asarray(ids)
            if found.ndim == 1 and found.dtype.kind in "iu":
                return found
    return None


def ids_for_own_call(ids: Any) -> Any:
    """Returns ids as the own `decode` of a tokenizer takes them: an array of whole numbers as a
    list of int, and all else as it is, so that the own call decides what an id is."""
    if type(ids) is list:
        return ids
    found = whole_number_array(ids)
    return ids if found is None else found.tolist()
