"""Calls of a transformers tokenizer whose texts hold spans that are not trusted."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import transformers
from transformers import BatchEncoding

from tokpar.adapters.hf_trust import template_control
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.adapters.hf_version import numbers, own_methods
from tokpar.arrays import IdArray, IntArray, SpanArray
from tokpar.errors import OptionError
from tokpar.integrations.hf_answers import result_of
from tokpar.integrations.hf_encodings import OWN_ANSWERS, EncodedCall
from tokpar.integrations.row_columns import CallColumns
from tokpar.process.cached_property import cached_property
from tokpar.results.encoding import Encoding
from tokpar.results.text_counts import UNTRUSTED
from tokpar.types import Rows
from tokpar.untrusted.trusted_encoder import NamedOrigin

if TYPE_CHECKING:
    from tokpar.integrations.hf import Acceleration

OLDEST_FOR_CHATS = (5, 24)


def apply_template(
    tokenizer: Any, original: Any, untrusted: object, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What `tokenizer.apply_chat_template(*args, **kwargs)` returns, where text that neither the
    template nor a trusted role wrote spells no control token. With `tokenize=False` a `ChatText`,
    or a list of them. `original`: the tokenizer as an object of its own class.

    Raises OptionError as `chats_of_call` and `RenderedChats.texts`, and for a class that applies
    templates in its own way."""
    _require_own_template(original)
    from tokpar.integrations.chat_provenance import chats_of_call

    own_call = type(original).apply_chat_template.__get__(tokenizer)
    call = inspect.signature(own_call).bind(*args, **kwargs)
    call.apply_defaults()
    chats = chats_of_call(tokenizer, untrusted, call)
    if not call.arguments["tokenize"]:
        texts = own_call(*args, **kwargs)
        return chats.texts([texts])[0] if isinstance(texts, str) else chats.texts(texts)
    options = call.arguments["tokenizer_kwargs"] or {}
    call.arguments["tokenizer_kwargs"] = {**options, "untrusted": chats}
    return own_call(*call.args, **call.kwargs)


def _require_own_template(original: Any) -> None:
    if numbers(transformers.__version__) < OLDEST_FOR_CHATS:
        raise OptionError(
            "untrusted text in chats needs transformers 5.24 or later, "
            f"{transformers.__version__} is installed: pip install -U transformers"
        )
    for reason in own_methods(original, ("apply_chat_template", "get_chat_template")).values():
        raise OptionError(f"cannot tell which text of a chat is not trusted: {reason}")


def require_one_text(text: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises OptionError if a call with spans also has a second text or a target."""
    more = [*args[:3], *(kwargs.get(f"text_{name}") for name in ("pair", "target", "pair_target"))]
    if text is None or any(each is not None for each in more):
        raise OptionError("untrusted spans are of one text, or of a batch of texts: pass no others")


def encode_untrusted(
    state: Acceleration,
    text: Any,
    untrusted: Any,
    columns: CallColumns | None,
    add_special_tokens: bool,
    verbose: bool,
) -> BatchEncoding:
    """The result for a text or a batch. `untrusted`: the spans (start, stop) of the text, code
    points; a row of spans for each text of a batch; or the chats that were rendered to the texts.

    Raises OptionError for spans and arguments that cannot be used, and as `TrustedEncoder`."""
    encoder = state.encoder()
    adapter, frame = state.adapter_and_frame(encoder, bool(add_special_tokens))
    if columns is None or frame is None or not columns.fits(frame):
        raise OptionError(
            "untrusted takes a text or a batch of texts, with padding and with truncation that "
            "leaves room for text: no pairs, words, stride, return_overflowing_tokens or "
            f"split_special_tokens{'' if frame else f', and {adapter.postprocess_refused}'}"
        )
    texts = [text] if isinstance(text, str) else list(text)
    spans, control = _spans_and_control(text, untrusted, state.original)
    trusted = encoder.trusted_encoder(control)
    encodings = [trusted.encode(*each) for each in zip(texts, spans, strict=True)]
    call = _TrustedCall(adapter, texts, encodings, frame, columns, bool(add_special_tokens))
    try:
        data = call.values()
    except OWN_ANSWERS as error:
        raise OptionError(f"the offsets of this text are not known: {error}") from error
    state.counts.add({UNTRUSTED: len(texts)}, "")
    return result_of(state.original, data, call, isinstance(text, str), verbose)


def _spans_and_control(text: Any, untrusted: Any, original: Any) -> tuple[list[Any], Any]:
    """The spans of each text, and the control tokens."""
    texts = [text] if isinstance(text, str) else text
    if not all(isinstance(each, str) for each in texts):
        raise OptionError(f"untrusted takes a text or a batch of texts, got {text!r:.80}")
    if hasattr(untrusted, "texts"):  # RenderedChats, whose module needs jinja2
        return [each.untrusted_spans for each in untrusted.texts(texts)], untrusted.control_tokens
    control = template_control(original) or "default"
    if isinstance(text, str):
        return [untrusted], control
    if not isinstance(untrusted, (list, tuple)) or len(untrusted) != len(text):
        raise OptionError(
            f"a batch of {len(text)} texts needs a list with the untrusted spans of each, got "
            f"{untrusted!r:.80}"
        )
    return list(untrusted), control


class _TrustedCall(EncodedCall):
    """What a call encoded whose texts may hold spans that are not trusted. The engine by itself has
    other ids for such texts, so it answers no question."""

    def __init__(
        self,
        adapter: HuggingFaceTokenizer,
        texts: Sequence[str],
        encodings: Sequence[Encoding],
        *others: Any,
    ) -> None:
        rows, self._origins = [], list[NamedOrigin | None]()
        for encoding in encodings:
            assert encoding.origin is not None
            rows.append(encoding.origin.before_postprocess(encoding.ids))
            named = encoding.origin if isinstance(encoding.origin, NamedOrigin) else None
            self._origins.append(named)
        super().__init__(adapter, texts, rows, *others)

    @cached_property
    def own_encodings(self) -> list[Any]:
        raise OptionError(
            "only the engine answers this question about an encoding, and it has other ids for a "
            "text with untrusted spans: ask for ids, offsets, masks, tokens or words"
        )

    def _spans_of(
        self, texts: Sequence[str], rows: Rows, cut: tuple[IntArray, IntArray] | None
    ) -> SpanArray:
        if not any(self._origins):
            return super()._spans_of(texts, rows, cut)
        parts = map(self._char_offsets, range(len(texts)))
        spans = np.concatenate([np.empty((0, 2), np.int64), *parts])
        add = self.add_special_tokens
        return self.adapter.offset_mapping(
            texts, rows, add_special_tokens=add, cut=cut, char_spans=spans
        )

    def _char_offsets(self, number: int) -> SpanArray:
        origin = self._origins[number]
        if origin is None:
            return self.adapter.char_offsets([self.texts[number]], Rows.of([self.rows[number]]))
        own, ids = _named_call(origin)
        named = origin.named_text
        return named.original(own.char_offsets([named.text], Rows.of([ids])))

    def _words_of(self, number: int) -> IntArray:
        origin = self._origins[number]
        if origin is None:
            return super()._words_of(number)
        own, ids = _named_call(origin)
        return own.word_numbers(origin.named_text.text, ids)


def _named_call(origin: NamedOrigin) -> tuple[HuggingFaceTokenizer, IdArray]:
    """The adapter that encoded a text with names, and its ids."""
    own, inner = origin.engine.encoder.tokenizer, origin.inner
    assert isinstance(own, HuggingFaceTokenizer)
    assert inner.origin is not None
    return own, inner.origin.before_postprocess(inner.ids)
