"""Where drop-ins of transformers ask for the compiled call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokpar.encoder import LONGEST_ALONE, Encoder

if TYPE_CHECKING:
    from tokpar.arrays import IdArray
    from tokpar.compiled.compiled_call import TokenPlaces

__all__ = ["LONGEST_ALONE", "call_of", "places_of", "row_of"]


def call_of(encoder: Encoder) -> Any:
    """Returns the compiled call of an encoder, None if it has none or none yet."""
    later = getattr(encoder.tokenizer, "later_call", None)
    return None if later is None or not encoder.takes_compiled_call else later.call


def row_of(call: Any, text: str) -> IdArray | None:
    """Returns the ids of a text below LONGEST_ALONE code points, without special tokens; None if
    only the engine knows them. Raises MismatchError."""
    ids: IdArray | None = call.encode_plain(text)
    return ids


def places_of(call: Any, text: str) -> TokenPlaces | None:
    """Returns what `row_of` returns, with the places of the tokens."""
    places: TokenPlaces | None = call.places(text)
    return places
