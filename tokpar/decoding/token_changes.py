"""What the decoders ByteLevel, WordPiece, CTC and Strip make of one token, exact to Hugging Face's
`tokenizers` 0.23."""

from collections.abc import Callable

from tokpar.errors import EngineError
from tokpar.files.json_parts import Json, character, number
from tokpar.files.vocabulary import byte_alphabet

_BYTE_OF = byte_alphabet()
CLEANUP_PAIRS = tuple((f" {mark}", mark) for mark in ".?!,")
CLEANUP_PAIRS += ((" ' ", "'"), (" n't", "n't"), (" 'm", "'m"), (" do not", " don't"))
CLEANUP_PAIRS += tuple((f" '{end}", f"'{end}") for end in ("s", "ve", "re"))
"""(old, new) of the replacements that the cleanup of WordPiece and CTC makes, in this order."""


def bytes_of(token: str) -> bytes:
    """Returns the bytes of a token of a byte-level vocabulary.

    A token with a character that stands for no byte is plain text, as most added tokens are:
    returns its UTF-8 bytes."""
    try:
        return bytes([_BYTE_OF[char] for char in token])
    except KeyError:
        return token.encode("utf-8")


def clean_up(text: str) -> str:
    """Returns a token after the cleanup of WordPiece and CTC."""
    for old, new in CLEANUP_PAIRS:
        text = text.replace(old, new)
    return text


def read_strip(stage: Json, where: str) -> Callable[[str], str]:
    """Returns a function that does to a token what the decoder Strip does. The function raises
    EngineError for a token on which the library panics."""
    char = character(stage, "content", where)
    front, back = number(stage, "start", where), number(stage, "stop", where)

    def change(token: str) -> str:
        start = min(front, len(token) - len(token.lstrip(char)))
        run = len(token) - len(token.rstrip(char))
        if run == len(token) < front + back and back:
            raise EngineError(f"the decoder Strip of tokenizers fails for {token!r}")
        return token[start : len(token) - min(back, run)]

    return change
