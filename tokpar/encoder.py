"""The reusable `Encoder`: turns names into objects for the pipeline."""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar import pipeline
from tokpar.arrays import IdArray
from tokpar.combining import StrategyName, chosen
from tokpar.encoding import Batch, Encoding
from tokpar.errors import OptionError
from tokpar.interfaces import (
    Decodes,
    Executor,
    HasSegmentCache,
    HasSpec,
    TokenizerAdapter,
    facts_of,
)
from tokpar.joining import Method
from tokpar.limits import worker_count
from tokpar.loading import DEFAULT_TOKENIZER, Refreshes, load
from tokpar.registry import registry
from tokpar.results import by_own_call, serial_report
from tokpar.sizes import TOO_SHORT, fit_for, fitting_executor, smallest_row

if TYPE_CHECKING:
    import tiktoken

    from tokpar.sessions.session import Session
    from tokpar.short_texts import ShortTexts

LEAST_CACHED = 64
"""Code points from which on the cache answers a short text faster than the engine."""
CACHE_AFTER = 1 << 14
"""The encoder asks the cache for short texts after this many code points of short texts."""


class Encoder:
    """A tokenizer, a strategy and an executor for many texts.

    An encoder is thread-safe and survives a fork. It is a context manager, because it may hold a
    pool of workers. `tokenizer`: anything that `load` takes. `strategy`: a registered name, or a
    splitter and a merger (names or objects). `options` belong to the strategy or to its two
    parts."""

    def __init__(
        self,
        tokenizer: object = DEFAULT_TOKENIZER,
        *,
        strategy: StrategyName = "auto",
        executor: str | Executor = "auto",
        workers: int | None = None,
        allow_approximate: bool = False,
        **options: Any,
    ) -> None:
        self._arguments = {
            "strategy": strategy,
            "executor": executor,
            "workers": workers,
            "allow_approximate": allow_approximate,
            **options,
        }
        self._workers = worker_count(workers)
        parts = chosen(strategy, options, allow_approximate)
        self._strategy = parts.name
        self._splitter, self._merger = parts.splitter, parts.merger
        self._executors: dict[str, Executor] = {}
        self._lock = threading.Lock()
        self._executor = _known_executor(executor)
        own = self._tokenizer = load(tokenizer)
        never = why_never_cut(own)
        self._smallest_split = 0
        if parts.tunable:
            self._smallest_split = fit_for(own).smallest_split if never is None else sys.maxsize
        self._uncut = never or TOO_SHORT
        self._short = serial_report(parts.name, self._uncut, own)
        self._own_call = getattr(own, "encode_whole", None)
        # other engines encode a short text as fast as the cache looks it up
        slow = (
            isinstance(own, HasSegmentCache)
            and facts_of(own).returns_objects
            and not facts_of(own).has_own_cache
        )
        self._cached = slow and executor in ("auto", "memo")
        self._short_texts: ShortTexts | None = None
        self._short_chars = 0

    def __repr__(self) -> str:
        given = self._arguments | {"executor": None, "workers": self._workers}
        chosen = ", ".join(f"{name}={value!r}" for name, value in given.items() if value)
        return f"<Encoder of {self._tokenizer.name!r}, {chosen}>"

    @property
    def tokenizer(self) -> TokenizerAdapter:
        """The adapter for the caller's tokenizer as it is now."""
        if isinstance(self._tokenizer, Refreshes):
            self._tokenizer = self._tokenizer.refreshed()
        return self._tokenizer

    @property
    def current(self) -> TokenizerAdapter:
        """The adapter of the last call. The caller may have changed the tokenizer since then."""
        return self._tokenizer

    def with_tokenizer(self, adapter: Any) -> Encoder:
        """Returns this encoder with another adapter of the same tokenizer, and with its own pools.

        With `adapter` None, the result can only make other encoders by `with_tokenizer`."""
        twin = object.__new__(type(self))
        twin.__dict__ |= self.__dict__
        twin._tokenizer, twin._executors, twin._lock = adapter, {}, threading.Lock()
        twin._own_call = getattr(adapter, "encode_whole", None)
        twin._short_texts = None
        return twin

    def encode(self, text: str) -> Encoding:
        """Returns the ids of `text`, with the special tokens, truncation and padding of the
        tokenizer's own call."""
        if not isinstance(text, str):
            raise OptionError(f"text must be a str, got {type(text).__name__}")
        if self._own_call is not None and len(text) < self._smallest_split:
            found = self._from_cache(text)
            if found is not None:
                return found
            # Calls the caller's own object, so no refresh is needed. Microseconds count here.
            return by_own_call(text, self._tokenizer, self._own_call, self._short)
        return self._encode_one(text, self.tokenizer)

    def _from_cache(self, text: str) -> Encoding | None:
        """Returns a short text from the cache, or None.

        The cache is asked only after `CACHE_AFTER` code points of short texts, because each lookup
        costs a little."""
        self._short_chars += len(text)
        if self._short_chars < CACHE_AFTER or not self._cached or len(text) < LEAST_CACHED:
            return None
        short = self._short_texts
        if short is None or short.tokenizer is not self._tokenizer:
            from tokpar.short_texts import ShortTexts  # importing tokpar does without it

            short = self._short_texts = ShortTexts(self._tokenizer, self._short)
        return short.encode(text)

    def encode_batch(self, texts: Iterable[str]) -> Batch:
        """Returns the ids of `texts`, padded as the tokenizer's own batch call pads them."""
        return self._encode_batch(_texts(texts), self.tokenizer)

    @property
    def smallest_split(self) -> int:
        """Code points from which on a single text is encoded in parallel, or from the cache."""
        return self._smallest_split

    def unprocessed_batch(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> Batch:
        """Returns the ids of `texts` before special tokens, truncation and padding.

        `tokenizer`: the value of `Encoder.tokenizer` for this call."""
        return self._encode_batch(texts, tokenizer, postprocess=False)

    def _encode_batch(
        self, texts: Sequence[str], tokenizer: TokenizerAdapter, postprocess: bool = True
    ) -> Batch:
        from tokpar.cache.text_arrays import lengths_of  # importing tokpar does without it

        lengths = lengths_of(texts)
        smallest = self._smallest_split
        if len(texts) > 1:
            smallest = smallest_row(tokenizer, smallest)
        long = np.flatnonzero(lengths >= smallest)
        sizes = int(lengths.sum()), int(lengths[long].sum()) if len(texts) > 1 else None
        executor = self._executor_for(tokenizer, *sizes)
        whole = self._smallest_split > 0  # the caller set no chunk size
        method = Method(self._splitter, executor, self._merger, self._strategy, whole, self._uncut)
        return pipeline.encode_batch(
            texts, tokenizer, method, long=long.tolist(), postprocess=postprocess
        )

    def stream(self, chunks: Iterable[str]) -> Iterator[IdArray]:
        """Returns an iterator of arrays of ids for the text that `chunks` make up.

        Each array comes as soon as its ids are final. All arrays together are the ids of `encode`.
        docs/streaming.md says which ids come how soon."""
        from tokpar import streaming

        return streaming.stream(chunks, self.tokenizer, lambda text: self.encode(text).ids)

    def session(self, text: str = "") -> Session:
        """Returns a session: a text that may be edited, and its ids.

        Each edit encodes only the text near it. See docs/sessions.md. Raises OptionError for a
        text with a lone surrogate."""
        from tokpar.sessions.session import Session  # importing tokpar does without it

        return Session(self, text)

    def session_from_bytes(self, blob: bytes, *, encode_again: bool = False) -> Session:
        """Returns the session that `Session.to_bytes` wrote for the same tokenizer.

        `encode_again`: encode each segment, and compare the ids. Raises FileFormatError."""
        from tokpar.sessions.session import Session

        return Session.from_bytes(self, blob, encode_again=encode_again)

    @property
    def exact(self) -> bool:
        """True if a seam that no rule licenses is never joined."""
        return not self._arguments["allow_approximate"]

    def count(self, text: str) -> int:
        """Returns the number of ids of `encode(text)`."""
        return len(self.encode(text).ids)

    def decode(self, ids: Sequence[int] | IdArray) -> str:
        """Returns the text of `ids`. Raises LookupError if the tokenizer has no decoder."""
        tokenizer = self.tokenizer
        if not isinstance(tokenizer, Decodes):
            raise LookupError(f"{tokenizer.name} cannot decode")
        return tokenizer.decode(ids.tolist() if isinstance(ids, np.ndarray) else ids)

    def as_hf(self, *, smallest_text: int | None = None) -> Any:
        """Returns the transformers tokenizer of this encoder, which encodes long texts by tokpar.

        The result is an object of the tokenizer's own class: see `tokpar.as_hf`. Raises
        OptionError if the encoder's tokenizer is no fast tokenizer of transformers."""
        tokenizer = getattr(getattr(self.tokenizer, "caller", None), "wrapper", None)
        if tokenizer is None:
            raise OptionError(
                f"as_hf needs a fast tokenizer of transformers, got {self.tokenizer.name}; a "
                "tokenizers.Tokenizer below 1.0, or a file, becomes one by "
                "transformers.PreTrainedTokenizerFast(tokenizer_object=...)"
            )
        from tokpar.integrations import hf

        return hf.as_hf(tokenizer, partial(Encoder, **self._arguments), smallest_text)

    def as_tiktoken(self, *, smallest_text: int | None = None) -> tiktoken.Encoding:
        """Returns a tiktoken.Encoding that encodes long texts and batches by this encoder.

        `smallest_text`: texts with this many code points or more go through tokpar; None: texts for
        which tokpar is faster. Raises OptionError if the encoder's tokenizer is no
        tiktoken.Encoding, and for an encoding with its own `encode`. See docs/tiktoken.md."""
        from tokpar.integrations.tiktoken import made_faster

        smallest = self._smallest_split if smallest_text is None else smallest_text
        rebuild = partial(_tiktoken_again, self._arguments, smallest_text)
        return made_faster(self.tokenizer, self._encode_batch, smallest, rebuild)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the recipe of the tokenizer and the arguments, without pools.

        Raises TypeError if the tokenizer cannot be built again."""
        tokenizer = self.tokenizer
        if isinstance(tokenizer, HasSpec):
            try:
                build, settings = tokenizer.spec()
            except OptionError as error:
                raise TypeError(
                    f"an Encoder of {tokenizer.name} cannot be pickled: it {error}"
                ) from None
            return _built, (build, dict(settings), self._arguments)
        try:
            pickle.dumps(tokenizer)
        except Exception as error:
            raise TypeError(
                f"an Encoder of {tokenizer.name} cannot be pickled: {error}; give the tokenizer a "
                "spec(), or pass on what it is loaded from and make the Encoder there"
            ) from error
        return partial(Encoder, **self._arguments), (tokenizer,)

    def close(self) -> None:
        """Shut down the pools of this encoder. The encoder can be used again afterwards."""
        if not self._executors:
            return
        with self._lock:
            executors, self._executors = self._executors, {}
        for executor in executors.values():
            if hasattr(executor, "close"):
                executor.close()

    def __enter__(self) -> Encoder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _encode_one(
        self, text: str, tokenizer: TokenizerAdapter, postprocess: bool = True
    ) -> Encoding:
        return self._encode_batch([text], tokenizer, postprocess)[0]

    def _executor_for(self, tokenizer: TokenizerAdapter, length: int, long: int | None) -> Executor:
        name = self._executor
        if not isinstance(name, str):
            return name
        if name == "auto":
            name = fitting_executor(tokenizer, length, self._workers, long)
        with self._lock:
            if name not in self._executors:
                self._executors[name] = registry().executor_kind(name).build(self._workers)
            return self._executors[name]


def _known_executor(executor: str | Executor) -> str | Executor:
    if isinstance(executor, str):
        if executor != "auto":
            registry().executor_kind(executor)
    elif not callable(getattr(executor, "map", None)):
        raise OptionError(
            f"executor must be a name or an object with a map method, got {type(executor).__name__}"
        )
    return executor


def _built(
    build: Callable[..., TokenizerAdapter],
    settings: Mapping[str, Any],
    arguments: Mapping[str, Any],
) -> Encoder:
    return Encoder(build(**settings), **arguments)


def _tiktoken_again(
    arguments: Mapping[str, Any], smallest_text: int | None, encoding: tiktoken.Encoding
) -> tiktoken.Encoding:
    """Returns `as_tiktoken` of an encoder with these arguments, in this or another process."""
    from tokpar.integrations.tiktoken import registered

    encoder = Encoder(registered(encoding), **arguments)
    return encoder.as_tiktoken(smallest_text=smallest_text)


def why_never_cut(tokenizer: TokenizerAdapter) -> str | None:
    """Returns why no text of the tokenizer is ever cut, or None.

    None if some texts are cut, or may be cut after the caller changes the tokenizer."""
    facts = facts_of(tokenizer)
    if isinstance(tokenizer, Refreshes) or facts.unprovable is None:
        return None
    from tokpar.cuts.finder import finder_for  # importing tokpar does without it

    return None if finder_for(facts).edges.refusal is None else facts.unprovable


def _texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise OptionError("encode_batch takes several texts, got one str; use encode for one text")
    return list(texts)  # the caller may change the list before asking for a row
