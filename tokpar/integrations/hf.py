"""`tokpar.as_hf`: a transformers fast tokenizer, of its own class, whose long texts tokpar encodes.

The object is of a subclass that overrides `_encode_plus`, through which every call of transformers
encodes (batches of transformers 4 through `_batch_encode_plus`), and `__call__`, for calls with few
arguments. All else is inherited: chat templates,
saving, decoding, padding, adding tokens."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tokenizers import Tokenizer
from transformers import BatchEncoding, PreTrainedTokenizerFast
from transformers.tokenization_utils_base import PaddingStrategy, TruncationStrategy

from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.adapters.hf_version import own_methods
from tokpar.arrays import IdArray, has_surrogate, plain_text
from tokpar.contract.adapter import later_call_of
from tokpar.encoder import Encoder
from tokpar.errors import OptionError
from tokpar.integrations.hf_answers import Answers, result_of
from tokpar.integrations.hf_arguments import is_for_own_call, settings_of_call
from tokpar.integrations.hf_classes import give_name, keep, of_base, state_of
from tokpar.integrations.hf_columns import columns_of, is_handed_over
from tokpar.integrations.hf_cut_calls import encode_kept
from tokpar.integrations.hf_encodings import OWN_ANSWERS, EncodedCall
from tokpar.integrations.hf_own_calls import OwnCalls, has_own_engine
from tokpar.integrations.hf_release import (
    FOLLOWED_METHODS,
    HAS_BATCH_CALL,
    copied_settings,
)
from tokpar.integrations.hf_running_calls import begin_call, end_call
from tokpar.integrations.hf_untrusted import apply_template, encode_untrusted, require_one_text
from tokpar.integrations.row_columns import CallColumns, Frame, frame_of
from tokpar.process.fork_locks import is_child, own_lock
from tokpar.results.text_counts import ARGUMENTS, LEFT_OVER, OF_DROP_INS, TextCounts

if TYPE_CHECKING:
    from tokpar.compiled.front import Front

SMALLEST_TEXT = 4096
"""Code points of a text, or of all texts of a batch, below which only the engine is asked where the
tokenizer has no compiled call."""


def calls() -> int:
    """How many texts tokpar encoded for all transformers tokenizers of this process, and for all
    results of `as_tiktoken`."""
    return OF_DROP_INS.through_tokpar


NEVER = sys.maxsize
"""A `smallest_text` that no text has: the engine encodes all of them."""


def as_hf(
    tokenizer: Any,
    encoder_of: Callable[[Any], Encoder] = Encoder,
    smallest_text: int | None = None,
) -> Any:
    """See `tokpar.as_hf`, which checks the options. `encoder_of` makes the Encoder. Raises
    OptionError for a tokenizer that cannot be followed."""
    require_followed(tokenizer)
    if isinstance(tokenizer, AcceleratedMixin):
        tokenizer = tokenizer._tokpar_original()
    view = _rebuild_view(tokenizer, encoder_of, smallest_text)
    view.__dict__.update(copied_settings(view.__dict__))
    return view


def require_followed(tokenizer: Any) -> None:
    """Raises OptionError for a tokenizer that `as_hf` cannot take."""
    kind = type(tokenizer).__name__
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise OptionError(
            "as_hf needs a fast tokenizer of transformers, or one in Python that keeps a "
            f"tiktoken.Encoding in an attribute, got {kind}; a tokenizers.Tokenizer becomes one by "
            "transformers.PreTrainedTokenizerFast(tokenizer_object=...), and tokpar.Encoder takes "
            "it as it is"
        )
    if not has_own_engine(tokenizer):
        engine = type(tokenizer.__dict__.get("_tokenizer")).__qualname__
        raise OptionError(f"as_hf needs a tokenizers.Tokenizer below {kind}, got {engine}")
    own = (
        {} if isinstance(tokenizer, AcceleratedMixin) else own_methods(tokenizer, FOLLOWED_METHODS)
    )
    if own:
        raise OptionError(f"as_hf cannot follow {kind}: {next(iter(own.values()))}")


def _rebuild_view(
    tokenizer: Any, encoder_of: Callable[[Any], Encoder], smallest_text: int | None
) -> Any:
    base: Any = type(tokenizer)
    view: Any = object.__new__(accelerate_class(base))
    view.__dict__.update(tokenizer.__dict__)
    state = Acceleration(base, view.__dict__, encoder_of, smallest_text)
    if has_own_engine(view) and smallest_text != NEVER:
        state.encoder()  # to learn a tokenizer is not left to the first call
    keep(view, state)
    return view


class AcceleratedMixin:
    """Marks the classes that `accelerate_class` makes."""

    _tokpar_original: Callable[[], Any]


class Acceleration:
    """What one object of an accelerated class keeps, beside the attributes of its base class.

    `attributes`: the `__dict__` of the object. Thread-safe."""

    def __init__(
        self,
        base: type,
        attributes: dict[str, Any],
        encoder_of: Callable[[Any], Encoder] = Encoder,
        smallest_text: int | None = None,
    ) -> None:
        self.encoder_of, self.smallest_text = encoder_of, smallest_text
        original: Any = object.__new__(base)
        original.__dict__ = attributes  # the same dict: what is set on one is set on both
        self.original = original
        self.counts = TextCounts(OF_DROP_INS)
        self._encoder: Encoder | None = None
        self._lock = own_lock(self)
        self.own_calls = OwnCalls(original, lambda: self.encoder().tokenizer)
        self._answers: Answers | None = None
        self._frames: tuple[object, dict[bool, Frame]] = (None, {})

    def encoder(self) -> Encoder:
        """The Encoder of the original tokenizer as it is now."""
        made = self._encoder
        if made is not None and _is_current(made, self.original):
            return made
        with self._lock:  # the others wait for the first
            made = self._encoder
            if made is None or not _is_current(made, self.original):
                made = self._encoder = self.encoder_of(self.original)
            return made

    def takes(self, text: Any) -> bool:
        """Whether a text, or a batch of texts, is long enough for tokpar."""
        if not has_own_engine(self.original):
            return False
        least = max(1, self.smallest_text or 0)
        if self.smallest_text is None and not self._has_call() and not is_child():
            least = SMALLEST_TEXT  # the own batch call never ends in a child
        if isinstance(text, str):
            return len(text) >= least
        if not isinstance(text, (list, tuple)) or not all(isinstance(each, str) for each in text):
            return False
        return sum(map(len, text)) >= least

    def _has_call(self) -> bool:
        """True once the tokenizer has a compiled call, which answers texts of any length."""
        later = None if self._encoder is None else later_call_of(self._encoder.tokenizer)
        return later is not None and later.call is not None and not later.why_none

    def reason_to_leave(self, text: Any, kwargs: Mapping[str, Any]) -> str | None:
        """Why a short text is the own call's: the tokenizer has no compiled call, and will have
        none. None for other texts."""
        made = self._encoder
        if made is None or type(text) is not str or len(text) >= SMALLEST_TEXT:
            return None
        if self.smallest_text is not None or "untrusted" in kwargs:
            return None
        later = later_call_of(made.tokenizer)
        is_without = later is None or (later.call is None and not later.is_being_made)
        return made.fallback_reason if is_without else None

    def count_own(self, text: Any) -> None:
        """Count a text, or a batch of texts, that the engine encodes by its own call."""
        is_one = not isinstance(text, (list, tuple))
        made = self._encoder
        reason = ARGUMENTS if made is None else made.fallback_reason
        if reason == LEFT_OVER and not (isinstance(text, str) and has_surrogate(text)):
            reason = ARGUMENTS  # the compiled call was not asked
        self.counts.add_own(1 if is_one else len(text), reason)

    def hand_over(
        self,
        method: Callable[..., Any],
        text: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        reason: str = ARGUMENTS,
    ) -> Any:
        """What a method of the base class returns, for arguments that only transformers reads, or
        for another `reason`."""
        is_one = isinstance(text, str) or not isinstance(text, (list, tuple)) or not text
        if is_one or (kwargs.get("is_split_into_words") and isinstance(text[0], str)):
            if reason == ARGUMENTS:
                self.counts.one_handed_over()
            else:
                self.counts.add_own(1, reason)
        else:
            self.counts.add_own(len(text), reason)
        original = self.original
        settings = settings_of_call(original, kwargs)
        engine = original.__dict__["_tokenizer"]
        if type(engine) is not Tokenizer or not begin_call(engine, settings):
            return self.own_calls.run(method, settings, text, *args, **kwargs)
        try:  # microseconds count here
            return method(original, text, *args, **kwargs)
        finally:
            end_call(engine)

    @property
    def answers(self) -> Answers | None:
        """What answers calls from the compiled call; None without one, and before the first
        call."""
        known, encoder = self._answers, self._encoder
        if known is not None and known.encoder is encoder:
            return known
        front = None if encoder is None else _front_of(encoder)
        if encoder is None or front is None or not has_own_engine(self.original):
            return None
        if self.smallest_text == NEVER or not _is_current(encoder, self.original):
            return None
        known = self._answers = Answers(self, encoder, front)
        return known

    def answer(
        self,
        tokenizer: Any,
        text: Any,
        is_plain: bool,
        add_special_tokens: Any,
        how: tuple[Any, Any],
        kwargs: dict[str, Any],
    ) -> BatchEncoding | None:
        """The result of a call of `_encode_plus`, or of `_batch_encode_plus`; None where the own
        call has to be made. Raises as `encode_untrusted`.

        `is_plain`: `text` is a text or a batch of texts, and all further arguments are in `kwargs`.
        `how`: the strategies of padding and truncation."""
        untrusted = kwargs.pop("untrusted", None)
        verbose = kwargs.get("verbose", True)
        if untrusted is not None:
            columns = columns_of(tokenizer, *how, kwargs) if is_plain else None
            return encode_untrusted(self, text, untrusted, columns, add_special_tokens, verbose)
        if not is_plain or not isinstance(add_special_tokens, bool) or not self.takes(text):
            return None
        columns = columns_of(tokenizer, *how, kwargs)
        return columns and self.encode(text, add_special_tokens, columns, verbose)

    def encode(
        self, text: Any, add_special_tokens: bool, columns: CallColumns, verbose: bool
    ) -> BatchEncoding | None:
        """The result for a text or a batch; None where only the engine's own call is exact, or is
        as fast."""
        encoder = self.encoder()
        adapter, frame = self.adapter_and_frame(encoder, add_special_tokens)
        if frame is None or not columns.fits(frame):
            return None
        texts = [text] if isinstance(text, str) else list(text)
        found = encode_kept(encoder, texts, frame, columns, add_special_tokens)
        if found is None:
            rows = self._rows(encoder, adapter, texts)
            if rows is None:
                return None
            more = frame, columns, add_special_tokens
            found = EncodedCall(adapter, texts, rows[0], *more), rows[1]
        encoded, ways = found
        try:
            data = encoded.values()
        except OWN_ANSWERS:
            return None
        self.counts.add(ways, encoder.fallback_reason)
        return result_of(self.original, data, encoded, isinstance(text, str), verbose)

    def _rows(
        self, encoder: Encoder, adapter: HuggingFaceTokenizer, texts: Sequence[str]
    ) -> tuple[Sequence[IdArray], Mapping[str, int]] | None:
        """The ids of texts before post-processing, and how many texts were encoded in each way;
        None where only the engine's own call is exact, or is as fast."""
        is_short = len(texts) == 1 and len(texts[0]) < encoder.smallest_split
        if is_short and self.smallest_text is None and _front_of(encoder) is None:
            return None
        try:
            if any(map(has_surrogate, texts)):
                return None  # the engine has its own error for them
            rows, ways = encoder.rows_of_parts.rows_and_ways(texts)
        except OWN_ANSWERS:
            return None
        edges = pairwise(rows.offsets.tolist())
        return [rows.ids[start:stop] for start, stop in edges], ways

    def adapter_and_frame(
        self, encoder: Encoder, add_special_tokens: bool
    ) -> tuple[HuggingFaceTokenizer, Frame | None]:
        """The adapter of `encoder`, and what is put around each text; None where only the engine's
        own post-processing is exact."""
        adapter = encoder.tokenizer
        assert isinstance(adapter, HuggingFaceTokenizer)
        if adapter.postprocess_refused is not None:
            return adapter, None
        known, frames = self._frames
        if known is not adapter:  # the tokenizer was changed
            frames = {}
            self._frames = adapter, frames
        if add_special_tokens not in frames:
            frames[add_special_tokens] = frame_of(adapter, add_special_tokens)
        return adapter, frames[add_special_tokens]


def _front_of(encoder: Encoder) -> Front | None:
    """The front of an encoder whose compiled call is there."""
    front = encoder.front
    return None if front is None or front.call is None else front


def _is_current(encoder: Encoder, tokenizer: Any) -> bool:
    """True if the tokenizer is what it was when the encoder was made."""
    adapter = encoder.tokenizer
    assert isinstance(adapter, HuggingFaceTokenizer)
    return adapter.look.is_same(tokenizer.backend_tokenizer, tokenizer)


def _is_followed(tokenizer: Any, kind: type) -> bool:
    """True if the tokenizer, of class `kind` or of a subclass, has no method of its own that
    transformers' `__call__` would call."""
    own = type(tokenizer)
    if own is not kind and any(
        name in vars(each)
        for name in FOLLOWED_METHODS
        for each in own.__mro__[: own.__mro__.index(kind)]
    ):
        return False
    attributes: dict[str, Any] = tokenizer.__dict__
    return attributes.keys().isdisjoint(FOLLOWED_METHODS)


def _plain(text: Any) -> Any:
    """A text, or a list of texts, of subclasses of str as plain str; anything else as it is."""
    if not isinstance(text, (list, tuple)):
        return plain_text(text)
    odd = any(isinstance(each, str) and type(each) is not str for each in text)
    return [plain_text(each) for each in text] if odd else text


@cache
def accelerate_class(base: Any) -> type:
    """The subclass of `base`, a class of fast tokenizers, that encodes long texts with tokpar."""

    class AcceleratedTokenizer(base, AcceleratedMixin):  # type: ignore[misc]
        __doc__ = base.__doc__

        @wraps(base.__call__)
        def __call__(self, text: Any = None, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("untrusted") is not None:
                require_one_text(text, args, kwargs)
            elif _is_followed(self, kind):
                state = self._tokpar_state()
                if is_for_own_call(self, args, kwargs):
                    return state.hand_over(base.__call__, text, args, kwargs)
                answers = None if args else state.answers
                reason = state.reason_to_leave(text, kwargs) if answers is None else None
                if reason is not None:
                    return state.hand_over(base.__call__, text, args, kwargs, reason)
                found = None if answers is None else answers.call(text, kwargs)
                if found is not None:
                    return found
            return base.__call__(self, text, *args, **kwargs)

        @wraps(base.encode)
        def encode(self, text: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("untrusted") is None and _is_followed(self, kind):
                state = self._tokpar_state()
                if is_for_own_call(self, args, kwargs):
                    return state.hand_over(base.encode, text, args, kwargs)
                answers = None if args else state.answers
                reason = state.reason_to_leave(text, kwargs) if answers is None else None
                if reason is not None:
                    return state.hand_over(base.encode, text, args, kwargs, reason)
                found = None if answers is None else answers.ids(text, kwargs)
                if found is not None:
                    return found
            return base.encode(self, text, *args, **kwargs)

        if base.tokenize is PreTrainedTokenizerFast.tokenize:

            @wraps(base.tokenize)
            def tokenize(
                self, text: Any, pair: Any = None, add_special_tokens: Any = False, **kwargs: Any
            ) -> Any:
                if pair is None and not kwargs and _is_followed(self, kind):
                    answers = self._tokpar_state().answers
                    found = None if answers is None else answers.tokens(text, add_special_tokens)
                    if found is not None:
                        return found
                return base.tokenize(self, text, pair, add_special_tokens, **kwargs)

        @wraps(base.apply_chat_template)
        def apply_chat_template(self, *args: Any, untrusted: Any = None, **kwargs: Any) -> Any:
            if untrusted is None or untrusted is False:
                return base.apply_chat_template(self, *args, **kwargs)
            return apply_template(self, self._tokpar_original(), untrusted, args, kwargs)

        @property
        def tokpar_calls(self) -> int:
            """How many texts went through tokpar for this object; `tokpar_texts` says how."""
            return self._tokpar_state().counts.through_tokpar

        @property
        def tokpar_texts(self) -> dict[str, int]:
            """How many texts were encoded in each way: "compiled", "cut", "untrusted", "engine"."""
            return self._tokpar_state().counts.by_way

        @property
        def tokpar_fallbacks(self) -> dict[str, int]:
            """Why the engine encoded texts, and how many: `REASONS` of `encoder_report`."""
            return self._tokpar_state().counts.fallbacks

        def _encode_plus(
            self,
            text: Any,
            text_pair: Any = None,
            add_special_tokens: bool = True,
            padding_strategy: Any = PaddingStrategy.DO_NOT_PAD,
            truncation_strategy: Any = TruncationStrategy.DO_NOT_TRUNCATE,
            *args: Any,
            **kwargs: Any,
        ) -> Any:
            state, how = self._tokpar_state(), (padding_strategy, truncation_strategy)
            is_plain = text_pair is None and not args and not is_handed_over(kwargs)
            if is_plain or "untrusted" in kwargs:
                text = _plain(text)
                is_plain = is_plain and not (HAS_BATCH_CALL and not isinstance(text, str))
                found = state.answer(self, text, is_plain, add_special_tokens, how, kwargs)
                if found is not None:
                    return found
            state.count_own(text)
            settings = how, args, settings_of_call(self, {**kwargs, "padding": True})
            given = text, text_pair, add_special_tokens, *how, *args
            return state.own_calls.run(base._encode_plus, settings, *given, **kwargs)

        if HAS_BATCH_CALL:

            def _batch_encode_plus(
                self,
                batch_text_or_text_pairs: Any,
                add_special_tokens: bool = True,
                padding_strategy: Any = PaddingStrategy.DO_NOT_PAD,
                truncation_strategy: Any = TruncationStrategy.DO_NOT_TRUNCATE,
                *args: Any,
                **kwargs: Any,
            ) -> Any:
                state, how = self._tokpar_state(), (padding_strategy, truncation_strategy)
                texts = batch_text_or_text_pairs
                is_plain = isinstance(texts, (list, tuple)) and not args
                is_plain = is_plain and not is_handed_over(kwargs)
                if is_plain or "untrusted" in kwargs:
                    texts = _plain(texts)
                    found = state.answer(self, texts, is_plain, add_special_tokens, how, kwargs)
                    if found is not None:
                        return found
                state.count_own(texts)
                settings = how, args, settings_of_call(self, {**kwargs, "padding": True})
                given = texts, add_special_tokens, *how, *args
                return state.own_calls.run(base._batch_encode_plus, settings, *given, **kwargs)

        if hasattr(base, "convert_to_native_format"):  # from 5.0 on

            @classmethod
            @wraps(base.convert_to_native_format.__func__)
            def convert_to_native_format(cls, *args: Any, **kwargs: Any) -> Any:
                # how from_pretrained reads files: `base` looks for an __init__ of its own class
                return base.convert_to_native_format(*args, **kwargs)

        def __reduce__(self) -> tuple[Any, ...]:
            # not __reduce_ex__, which would win over the __reduce__ of vLLM's cached tokenizer
            state = self._tokpar_state()
            plain: Any = object.__new__(base)
            plain.__dict__.update(self.__dict__)
            return _rebuild_view, (plain, state.encoder_of, state.smallest_text)

        def _tokpar_state(self) -> Acceleration:
            return state_of(self, lambda: Acceleration(base, self.__dict__))

        def _tokpar_original(self) -> Any:
            """An object of the base class that shares all attributes with this one."""
            return self._tokpar_state().original

        @wraps(base.save_pretrained)
        def save_pretrained(self, *args: Any, **kwargs: Any) -> Any:
            saved = self if self._auto_class is None else of_base(self, base)
            return base.save_pretrained(saved, *args, **kwargs)

    kind = AcceleratedTokenizer
    give_name(kind, base)
    return AcceleratedTokenizer
