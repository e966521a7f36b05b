"""Makes the stages of a decoder from the "decoder" of a ``tokenizer.json``.

Up to the first stage that joins all tokens (ByteLevel, Fuse) a stage sees tokens; after that stage
there is one token, the text, which grows with each id. A stage whose result for a text so far may
change however long the text is, is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tokpar.adapter_parts import DecodingParts
from tokpar.decoding.stages import (
    ByteRuns,
    ByteTokenText,
    DropRepeats,
    EachToken,
    FirstToken,
    LastToken,
    ReplaceText,
    Stage,
    StripText,
    Utf8,
)
from tokpar.decoding.token_changes import CLEANUP_PAIRS, bytes_of, clean_up, read_strip
from tokpar.errors import FileFormatError, OptionError
from tokpar.files.json_parts import Json, character, choice, flag, kind, number, stages, string

JOINING = frozenset({"ByteLevel", "Fuse"})
_SCHEMES = ("always", "first", "never")


def interpret_stages(decoding_parts: DecodingParts) -> list[Stage]:
    """Returns the stages of a decoder; without one, tokens are joined by spaces.

    Raises OptionError for a stage whose text may change without bound, and FileFormatError for one
    that is unknown."""
    if decoding_parts.decoder is None:
        return [FirstToken(lambda token: token, lambda token: f" {token}")]
    parts = [(kind(part), part) for part in stages(decoding_parts.decoder, "decoder", "decoders")]
    made: list[Stage] = []
    joined = left_out = False
    for number_, (name, part) in enumerate(parts):
        later = {later for later, _ in parts[number_ + 1 :]}
        place = _Place(
            part, f"decoder {name}", later <= {"Fuse"}, decoding_parts, tuple(made), left_out
        )
        readers = _OF_TEXT if joined else _OF_TOKENS
        if name not in readers:
            raise OptionError(f"decode_stream does not know the decoder {name}")
        made += readers[name](place)
        left_out = left_out or (joined and name == "CTC")
        joined = joined or name in JOINING
    return made


def replacement_stages(pairs: Sequence[tuple[str, str]]) -> list[Stage]:
    """Returns the stages that replace each string by another one in the whole text, in order."""
    return [ReplaceText(old, new) for old, new in pairs if old != new]


@dataclass(frozen=True, slots=True)
class _Place:
    """A stage in the file; `last`: no later stage asks where a token ends. `stages_before`: the
    stages before it. `left_out`: one of them leaves out the whole text if that is empty."""

    part: Json
    where: str
    last: bool
    parts: DecodingParts
    stages_before: tuple[Stage, ...]
    left_out: bool


def _refusal(place: _Place, why: str) -> OptionError:
    return OptionError(
        f"decode_stream cannot be used: {place.where}, after the tokens were joined, {why}; "
        "decode all ids at the end instead"
    )


def _literal(place: _Place, old: str, new: str) -> list[Stage]:
    if not old:
        raise _refusal(place, "replaces the empty string")
    return replacement_stages([(old, new)])


# ---------------------------------------------------------------------------- of tokens


def _byte_level(place: _Place) -> list[Stage]:
    return [EachToken(bytes_of), Utf8()]


def _word_piece(place: _Place) -> list[Stage]:
    prefix = string(place.part, "prefix", place.where, default="##")
    clean = clean_up if flag(place.part, "cleanup", place.where, default=True) else str

    def later(token: str) -> str:
        return clean(token.removeprefix(prefix) if token.startswith(prefix) else f" {token}")

    return [FirstToken(clean, later)]


def _marks(place: _Place) -> tuple[str, str]:
    """The mark that stands for a space, and what becomes of it in the first token."""
    mark = character(place.part, "replacement", place.where)
    scheme = choice(place.part, "prepend_scheme", _SCHEMES, place.where, default="always")
    return mark, " " if scheme == "never" else ""


def _metaspace(place: _Place) -> list[Stage]:
    mark, first = _marks(place)
    return [FirstToken(lambda t: t.replace(mark, first), lambda t: t.replace(mark, " "))]


def _strip(place: _Place) -> list[Stage]:
    return [EachToken(read_strip(place.part, place.where))]


def _replace(place: _Place) -> list[Stage]:
    content = string(place.part, "content", place.where)
    match place.part.get("pattern"), place.parts.replace_regex:
        case {"String": str(old)}, _ if old:
            return [EachToken(lambda token: token.replace(old, content), len(content))]
        case {"Regex": str(regex)}, engine if engine is not None:
            return [EachToken(engine(regex, content), len(content))]
    found = place.part.get("pattern")
    raise FileFormatError(f"{place.where}: pattern {found!r} is no String or Regex")


def _bpe(place: _Place) -> list[Stage]:
    suffix = string(place.part, "suffix", place.where, default="</w>")
    longest: int | None = max(1, place.parts.longest_token())
    for stage in place.stages_before:
        longest = stage.most_held(longest)
    if longest is not None and not suffix:  # a space comes between any two characters
        longest = 2 * longest + 1
    return [LastToken(suffix, place.last, longest)]


def _ctc_parts(place: _Place) -> tuple[str, str, bool]:
    return (
        string(place.part, "pad_token", place.where, default="<pad>"),
        string(place.part, "word_delimiter_token", place.where, default="|"),
        flag(place.part, "cleanup", place.where, default=True),
    )


def _ctc(place: _Place) -> list[Stage]:
    pad, delimiter, cleans = _ctc_parts(place)

    def change(token: str) -> str:
        token = token.replace(pad, "")
        return clean_up(token).replace(delimiter, " ") if cleans else token

    return [DropRepeats(change)]


_OF_TOKENS: Mapping[str, Callable[[_Place], list[Stage]]] = {
    "BPEDecoder": _bpe,
    "ByteFallback": lambda place: [ByteRuns()],
    "ByteLevel": _byte_level,
    "CTC": _ctc,
    "Fuse": lambda place: [],
    "Metaspace": _metaspace,
    "Replace": _replace,
    "Strip": _strip,
    "WordPiece": _word_piece,
}

# -------------------------------------------------------------------------- of one text


def _byte_level_text(place: _Place) -> list[Stage]:
    raise _refusal(place, "reads all text in another way once a character is outside its alphabet")


def _word_piece_text(place: _Place) -> list[Stage]:
    return replacement_stages(
        CLEANUP_PAIRS if flag(place.part, "cleanup", place.where, default=True) else ()
    )


def _metaspace_text(place: _Place) -> list[Stage]:
    mark, first = _marks(place)
    return replacement_stages([(mark, first)])


def _strip_text(place: _Place) -> list[Stage]:
    char = character(place.part, "content", place.where)
    front, back = (number(place.part, end, place.where) for end in ("start", "stop"))
    if back and place.left_out:
        raise _refusal(place, "fails for an empty text, which CTC may leave out before")
    return [StripText(char, front, back)]


def _replace_text(place: _Place) -> list[Stage]:
    regex = place.part["pattern"].get("Regex")
    if regex is not None:
        raise _refusal(place, f"looks for the regex {regex!r}, of which a match has no bound")
    return _literal(
        place, place.part["pattern"]["String"], string(place.part, "content", place.where)
    )


def _bpe_text(place: _Place) -> list[Stage]:
    return _literal(place, string(place.part, "suffix", place.where, default="</w>"), "")


def _ctc_text(place: _Place) -> list[Stage]:
    pad, delimiter, cleans = _ctc_parts(place)
    made = _literal(place, pad, "")
    return (
        [*made, *replacement_stages(CLEANUP_PAIRS), *_literal(place, delimiter, " ")]
        if cleans
        else made
    )


_OF_TEXT: Mapping[str, Callable[[_Place], list[Stage]]] = {
    "BPEDecoder": _bpe_text,
    "ByteFallback": lambda place: [ByteTokenText()],
    "ByteLevel": _byte_level_text,
    "CTC": _ctc_text,
    "Fuse": lambda place: [],
    "Metaspace": _metaspace_text,
    "Replace": _replace_text,
    "Strip": _strip_text,
    "WordPiece": _word_piece_text,
}
