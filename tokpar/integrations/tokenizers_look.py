"""What decides the ids and the texts of a `tokenizers.Tokenizer`, read at each call.

A reader takes some microseconds; two equal values mean the same ids, or the same texts. It does not
see all that a new model, a training or new tokens change: `EngineState` is told of these."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from tokpar.adapters.hf_look import Look, settings_of

_read_engine = attrgetter(
    *("truncation", "padding", "encode_special_tokens"),
    *("normalizer", "pre_tokenizer", "post_processor", "model"),
)
_read_decoding = attrgetter("decoder", "model")
EncodingState = tuple[Any, Any, tuple[object, ...]]
"""Truncation and padding as the engine gives them, and all else that decides the ids."""


def encoding_reader(own: Any, look: Look) -> Callable[[], EncodingState]:
    """Returns a function that reads what decides the ids of `own`. It raises where a component is
    written in Python, and where the model is of another class.

    `look`: a look at `own` as it is."""
    read_settings = settings_of(own.model.__class__)
    size_of, token_of, free = own.get_vocab_size, own.id_to_token, look.asked_ids[0]
    last = max(0, size_of(False) - 1)
    middle = last // 2

    def read() -> EncodingState:
        cut, pad, skips, normalizer, pretokenizer, postprocessor, model = _read_engine(own)
        token_of_model = model.id_to_token
        rest = (
            skips,
            None if normalizer is None else normalizer.__getstate__(),
            None if pretokenizer is None else pretokenizer.__getstate__(),
            None if postprocessor is None else postprocessor.__getstate__(),
            read_settings(model),
            size_of(False),
            token_of(free),
            token_of_model(last),
            token_of_model(middle),
        )
        return cut, pad, rest

    return read


def decoding_reader(own: Any, look: Look) -> Callable[[], tuple[object, ...]]:
    """Returns a function that reads what decides the texts of ids of `own`, see
    `encoding_reader`."""
    size_of, token_of, free = own.get_vocab_size, own.id_to_token, look.asked_ids[0]
    last = max(0, size_of(False) - 1)

    def read() -> tuple[object, ...]:
        decoder, model = _read_decoding(own)
        state = None if decoder is None else decoder.__getstate__()
        return state, size_of(False), token_of(free), model.id_to_token(last)

    return read
