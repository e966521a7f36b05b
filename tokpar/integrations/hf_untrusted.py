"""Calls of a transformers tokenizer whose texts hold spans that are not trusted."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import transformers
from transformers import BatchEncoding

from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.adapters.hf_version import numbers, own_methods
from tokpar.arrays import SpanArray
from tokpar.errors import OptionError
from tokpar.integrations.hf_columns import Columns
from tokpar.integrations.hf_encodings import EncodedCall

if TYPE_CHECKING:
    from tokpar.integrations.chat_provenance import RenderedChats
    from tokpar.integrations.hf import Acceleration

_Spans = Sequence[tuple[int, int]]


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
    columns: Columns | None,
    add_special_tokens: bool,
    verbose: bool,
) -> BatchEncoding:
    """The result for a text or a batch. `untrusted`: the spans (start, stop) of the text, code
    points; a row of spans for each text of a batch; or the chats that were rendered to the texts.

    Raises OptionError for spans and arguments that cannot be used."""
    texts, spans = _texts_and_spans(text, untrusted)


class UntrustedCall(EncodedCall):
    """What a call encoded whose texts hold spans that are not trusted. The engine by itself has
    other ids for these texts, so it answers no question.

    `spans`: the offsets of the ids in `rows`, code points, int64 (n, 2)."""

    def __init__(self, *args: Any, spans: Sequence[SpanArray]) -> None:
        super().__init__(*args)
        self._spans = spans

    @cached_property
    def own_encodings(self) -> list[Any]:
        raise OptionError(
            "only the engine answers this question about an encoding, and it has other ids for a "
            "text with untrusted spans: ask for ids, offsets, masks or tokens"
        )

    @property
    def kept_words(self) -> list[list[int]]:
        raise LookupError("the engine numbers the pre-tokens of a text that is trusted")
