"""The parts from which `decode_stream` decodes ids one by one, for Hugging Face and tiktoken."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from tokpar.adapters.settings import unless_custom
from tokpar.contract.adapter import DecodingParts
from tokpar.decoding.shapes import CLEANUP_PAIRS
from tokpar.errors import OptionError

CLEANED_BY_TRANSFORMERS = tuple(pair for pair in CLEANUP_PAIRS if pair != (" do not", " don't"))
"""The replacements of `clean_up_tokenization` in transformers, in its order."""
_DECODING = ("decode", "_decode", "clean_up_tokenization", "convert_tokens_to_string")
_UNKNOWN = '{"type": "unknown"}'
_BASES = tuple(f"transformers.tokenization_utils_{name}" for name in ("base", "fast", "tokenizers"))


def parts_of_hf(own: Any, bare: Any, wrapper: Any, skip_special_tokens: bool) -> DecodingParts:
    """The parts of a `tokenizers.Tokenizer` below 1.0, and of the transformers tokenizer around it.

    `bare`: a tokenizer without a decoder that has the tokens of `own`; None if no copy has. The
    decoder is not known then, nor if it is written in Python or the class has a `decode` of its
    own."""
    native, decoder = (own if wrapper is None else wrapper), _UNKNOWN
    if bare is not None and (wrapper is None or own_decoding(wrapper) is None):
        decoder = unless_custom(partial(_state_of, own.decoder)) or _UNKNOWN
    replacements = () if wrapper is None else _cleanup_of(wrapper)
    settings = {"skip_special_tokens": skip_special_tokens}
    return DecodingParts(
        partial(_token_of, bare, _added_texts(own), settings),
        lambda ids: str(native.decode(list(ids), **settings)),
        own.get_vocab_size(with_added_tokens=True),
        decoder=json.loads(decoder),
        replacements=replacements,
        state=(decoder, skip_special_tokens, replacements),
    )


def _state_of(decoder: Any) -> str:
    return "null" if decoder is None else str(decoder.__getstate__().decode())


def _added_texts(own: Any) -> frozenset[str]:
    """Returns the added tokens as `decode` reads them. No other token can be left out."""
    return frozenset(filter(None, map(own.id_to_token, own.get_added_tokens_decoder())))


def _token_of(
    bare: Any, added_texts: frozenset[str], settings: Mapping[str, bool], id_: int
) -> str | None:
    """Returns the token that `decode` reads for an id, or None if it leaves the id out.

    Without a decoder, `decode` joins the tokens with spaces. The list of added tokens does not
    tell them: the engine may decode an added token to its normalized content."""
    token: str | None = bare.id_to_token(id_)
    if token not in added_texts:
        return token
    token = bare.decode([id_], **settings)
    return token if token or bare.decode([id_, id_], **settings) else None


def own_decoding(wrapper: Any) -> str | None:
    """Returns why a transformers tokenizer decodes in its own way, or None."""
    for name in _DECODING:
        if getattr(getattr(wrapper, name), "__module__", None) not in _BASES:
            return f"{type(wrapper).__name__} has its own {name}"
    return None


def _cleanup_of(wrapper: Any) -> tuple[tuple[str, str], ...]:
    """Returns the (old, new) strings that a transformers tokenizer replaces in decoded text."""
    if not wrapper.clean_up_tokenization_spaces:
        return ()
    forced = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"
    is_bpe = type(wrapper.backend_tokenizer.model).__name__ == "BPE"
    if is_bpe and not getattr(wrapper, forced, True):  # older versions clean up always
        return ()
    return CLEANED_BY_TRANSFORMERS


def parts_of_hf_one(
    own: Any, decoder: Mapping[str, Any] | None, size: int, skip_special_tokens: bool
) -> DecodingParts:
    """The parts of a `tokenizers.Tokenizer` from 1.0 on. `decoder`: the "decoder" of its file."""
    settings = {"skip_special_tokens": skip_special_tokens}

    def token_of(id_: int) -> str | None:
        found: list[str] = own.decode_tokens([id_], **settings)
        return found[0] if found else None

    return DecodingParts(
        token_of,
        lambda ids: str(own.decode(list(ids), **settings)),
        size,
        decoder=decoder,
        state=skip_special_tokens,
    )


def refuse_skipping(name: str, skip_special_tokens: bool) -> None:
    """Raises OptionError if `skip_special_tokens` is True: the tokenizer `name` cannot skip
    them."""
    if skip_special_tokens:
        raise OptionError(
            f"skip_special_tokens: decode of {name} has no such setting; leave these ids out"
        )
