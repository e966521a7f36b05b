"""SentencePiece for tokpar: ``.model`` files and `SentencePieceProcessor` objects.

All ids are the ids of the library's own `encode`. The model file decides where a text may be cut. A
BPE model without a character map is cut before a space, where no piece can lie across the cut
(lemma 24); the dummy prefix of the right part stands for that space (section 6.4). Texts of all
other models are not cut, and the facts say why. The compiled call encodes all but word models.
"""

from __future__ import annotations

import operator
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tokpar import FileFormatError, OptionError, Rows
from tokpar.plugin.tokenizer import (
    EngineTraits,
    Facts,
    IdArray,
    Piece,
    Scheme,
    SpanArray,
    TokenizerSource,
    cached_property,
    hookimpl,
    path_call,
)
from tokpar_sentencepiece.model_file import (
    BPE,
    CHAR,
    NORMAL,
    UNIGRAM,
    UNUSED,
    USER_DEFINED,
    WORD,
    Model,
    read_kind,
    read_model,
    read_path_model,
)

NEEDED = (0, 2, 3)
"""The first version in which all settings of `encode` can be read back."""
COMPARED = ("0.2.3",)
"""The versions whose ids the compiled call gives: 0.2.1 has others, of Unigram models."""
COMPILED = UNIGRAM, BPE, CHAR
"""The kinds of models that the compiled call has."""
DRAWN_PIECES = 200
"""Pieces of which texts are drawn that the library and the compiled call are compared on."""
SETTINGS = ("add_bos", "add_eos", "reverse", "enable_sampling", "nbest_size", "alpha")
"""Keywords of the library's `encode` that change ids."""
SPACE = "▁"
READ_BY_TRANSFORMERS = (".json", ".txt", ".py", ".tiktoken")
"""Ends of names of files that may decide what `AutoTokenizer` makes of a directory."""

KINDS = {UNIGRAM: "Unigram", BPE: "BPE", WORD: "Word", CHAR: "Char"}
NOT_BPE = {
    UNIGRAM: "a Unigram model scores the text as a whole: pieces may depend on what is far away",
    WORD: "a word model makes one id of unknown words next to each other",
    CHAR: "nothing is proved about a character model",
}


def objection(model: Model) -> str | None:
    """Why no text may be cut, or None.

    Two kinds of models may be cut, both BPE with "▁" for every space and no other change. With a
    dummy prefix, the library may remove spaces at the ends and double spaces: the left part ends in
    no space, and the right part gets its space back from its dummy prefix. Without a dummy prefix,
    the right part must keep its space. The rule for these models also cuts between two spaces, so a
    piece may have "▁" as its first character only.
    """
    if model.kind != BPE:
        return NOT_BPE.get(model.kind, f"nothing is proved about a model of type {model.kind}")
    if model.has_char_map:
        return f"nothing is proved about the character map of the normalizer {model.normalizer!r}"
    if not model.escapes_spaces:
        return "escape_whitespaces is off: pieces hold spaces as they are"
    if model.space_is_suffix:
        return f"treat_whitespace_as_suffix: pieces end with {SPACE!r}"
    if model.removes_spaces and not model.dummy_prefix:
        return (
            "remove_extra_whitespaces without a dummy prefix: parts lose the space they begin with"
        )
    return _objection_to_pieces(model)


def _objection_to_pieces(model: Model) -> str | None:
    matched = {text for text, kind in model.pieces if kind in (NORMAL, USER_DEFINED)}
    unused = next((text for text, kind in model.pieces if kind == UNUSED), None)
    if unused is not None:
        return f"the piece {unused!r} is unused: how it is divided depends on the text around it"
    if SPACE not in matched:
        return f"{SPACE!r} is no piece, so that it may become one unknown piece with its neighbour"
    raw = min((text for text in matched if " " in text), default=None)
    if raw is not None:
        return f"the piece {raw!r} holds a space"
    across = min(
        (text for text in matched if _has_inner_mark(text, model.dummy_prefix)), default=None
    )
    return across and f"the piece {across!r} has {SPACE!r} behind another character"


def _has_inner_mark(piece: str, absorbs: bool) -> bool:
    """True if a cut before a space may lie inside this piece."""
    return SPACE in (piece.lstrip(SPACE) if absorbs else piece[1:])


def facts_of_model(model: Model, sampling: bool) -> Facts:
    """The facts of a model.

    User-defined pieces are not listed as added tokens. The library finds them in the text that has
    the dummy prefix, and a piece without "▁" inside never lies across a cut."""
    why = "enable_sampling draws pieces: no two encodings need agree" if sampling else None
    why = why or objection(model)
    scheme: Scheme = "dummy" if model.dummy_prefix else "metaspace"
    return Facts(
        engine="sentencepiece",
        model=KINDS.get(model.kind, str(model.kind)),
        scheme="none" if why else scheme,
        longest_token=max((len(text.encode()) for text, _ in model.pieces), default=0),
        unprovable=why,
    )


class SentencePieceTokenizer:
    """The adapter that `load` returns. `settings`: a value for each name of SETTINGS."""

    name = "sentencepiece"
    traits = EngineTraits(releases_gil=True, returns_objects=True)  # lists of int

    def __init__(self, processor: Any, settings: Mapping[str, Any]) -> None:
        self._processor = processor
        self._settings = dict(settings)
        self._bare = self._settings | {"add_bos": False, "add_eos": False, "reverse": False}
        self._bos_ids = self._special("add_bos", processor.bos_id())
        self._eos_ids = self._special("add_eos", processor.eos_id())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def _special(self, setting: str, id_: int) -> IdArray:
        if self._settings[setting] and id_ < 0:
            raise OptionError(f"{setting}=True needs a model with such a symbol, this one has none")
        return np.array([id_] if self._settings[setting] else [], dtype=np.int64).astype(np.uint32)

    @cached_property
    def facts(self) -> Facts:
        """The facts of the model file. The file is read at the first text that is long enough to be
        split."""
        model = read_model(self._processor.serialized_model_proto())
        return facts_of_model(model, bool(self._settings["enable_sampling"]))

    @cached_property
    def later_call(self) -> Any:
        """The compiled call; None for models without one, of which `why_not_compiled` says why."""
        return None if isinstance(self._made_call, str) else self._made_call

    @property
    def why_not_compiled(self) -> str:
        """Why no compiled call encodes texts, in words; empty if one does."""
        found = self._made_call
        why: str = found if isinstance(found, str) else found.why_none
        return why

    @cached_property
    def _made_call(self) -> Any:
        version = library().__version__
        data = self._processor.serialized_model_proto()
        if self._settings["enable_sampling"]:
            return "enable_sampling draws pieces"
        if read_kind(data) not in COMPILED:
            return "the compiled call has no such model of SentencePiece"
        if version not in COMPARED:
            return f"sentencepiece {version} was not compared; {COMPARED[-1]} was"
        ids = self.special_tokens
        return path_call(
            ["sentencepiece", version, data],
            partial(read_path_model, data),
            self._encode_each,
            self._some_pieces,
            None if ids is None else (ids[0].tolist(), ids[1].tolist()),
        )

    def _encode_each(self, texts: Sequence[str]) -> list[IdArray]:
        return [self.encode(text) for text in texts]

    def _some_pieces(self) -> list[str]:
        count = self._processor.get_piece_size()
        places = range(0, count, max(1, count // DRAWN_PIECES))
        pieces: list[str] = self._processor.id_to_piece([*places])
        return [piece.replace(SPACE, " ") for piece in pieces]

    def encode(self, text: str) -> IdArray:
        """The ids without BOS and EOS, in the order of the text."""
        return _ids(self._processor.encode(text, return_type="numpy", **self._bare))

    def encode_whole(self, text: str) -> IdArray:
        """The ids of the library's own call with the settings."""
        return _ids(self._processor.encode(text, return_type="numpy", **self._settings))

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """The rows of the library's batch call, which encodes each text by itself."""
        if spans:
            return Rows.of_pieces([Piece(*self._mapping(text)) for text in texts])
        rows = self._processor.encode(list(texts), return_type="numpy", **self._bare)
        return Rows.of(map(_ids, rows))

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """The spans in UTF-8 bytes, as the library gives them.

        Of the byte pieces of one character, the last has the span of the character and the others
        have empty spans. Raises LookupError if `ids` are not the ids of `text`."""
        found, spans = self._mapping(text)
        if not np.array_equal(found, ids):
            raise LookupError("sentencepiece can locate the ids of a text only, not others")
        return spans

    def _mapping(self, text: str) -> tuple[IdArray, SpanArray]:
        """The ids and the spans of a text. The text is given as bytes, so that the library counts
        in bytes."""
        found = self._processor.encode(text.encode(), return_type="offset_mapping", **self._bare)
        spans = np.array(found["offsets"], dtype=np.int64).reshape(-1, 2)
        return np.array(found["ids"], dtype=np.uint32), spans

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """Reverse each row if the setting says so, then add BOS and EOS, as the library does."""
        step = -1 if self._settings["reverse"] else 1
        finished = ((self._bos_ids, rows[k][::step], self._eos_ids) for k in range(len(rows)))
        return Rows.of(np.concatenate(parts) for parts in finished)

    truncates_to = None
    pads = False

    @property
    def special_tokens(self) -> tuple[IdArray, IdArray] | None:
        """The ids of BOS and of EOS, or None with the setting reverse."""
        return None if self._settings["reverse"] else (self._bos_ids, self._eos_ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The text by the library's own call. Raises IndexError for an id that is no piece."""
        text: str = self._processor.decode([*map(operator.index, ids)])
        return text

    def spec(self) -> tuple[Callable[..., SentencePieceTokenizer], dict[str, Any]]:
        """How another process builds the adapter. The model itself is included, because its file
        may be gone or may have changed."""
        data = self._processor.serialized_model_proto()
        return rebuild, {"model": data, "settings": self._settings}


def _ids(row: Any) -> IdArray:
    ids: IdArray = row.view(np.uint32)  # int32 that are never negative
    return ids


def rebuild(model: bytes, settings: Mapping[str, Any]) -> SentencePieceTokenizer:
    """The adapter that `SentencePieceTokenizer.spec` describes."""
    return SentencePieceTokenizer(library().SentencePieceProcessor(model_proto=model), settings)


def library() -> Any:
    """The package sentencepiece. Raises OptionError if it is missing or too old."""
    needed = ".".join(map(str, NEEDED))
    try:
        import sentencepiece
    except ImportError as error:
        raise OptionError(f"pip install 'sentencepiece>={needed}': it is missing") from error
    found = sentencepiece.__version__
    if tuple(map(int, re.findall(r"\d+", found)[:3])) < NEEDED:
        raise OptionError(f"pip install 'sentencepiece>={needed}': {found} is too old")
    return sentencepiece


def load(source: object, **settings: Any) -> SentencePieceTokenizer | None:
    """The adapter of a path that ends in ``.model``, of a directory in which only such a file can
    decide ids, or of a `SentencePieceProcessor`; None for any other source.

    `settings` have names of SETTINGS, and the meaning that they have in the library's `encode`. A
    missing setting is the processor's own. Raises OptionError, FileFormatError,
    FileNotFoundError.
    """
    processor = _processor(source)
    if processor is None:
        return None
    unknown = sorted(settings.keys() - set(SETTINGS))
    if unknown:
        raise OptionError(f"unknown setting {unknown[0]!r}; known: {', '.join(SETTINGS)}")
    own = {name: getattr(processor, f"_{name}") for name in SETTINGS}
    return SentencePieceTokenizer(processor, own | settings)


def _processor(source: object) -> Any:
    if isinstance(source, (str, os.PathLike)):
        path = _model_file(Path(source))
        return None if path is None else _from_file(path)
    kind = getattr(sys.modules.get("sentencepiece"), "SentencePieceProcessor", ())
    if not isinstance(source, kind):
        return None
    library()
    if not source.serialized_model_proto():
        raise OptionError("this SentencePieceProcessor holds no model; load one into it first")
    return source


def _model_file(path: Path) -> Path | None:
    """The model file that a path means, or None. A directory means its ``.model`` file if it has
    one, and no file of the kinds from which transformers makes a tokenizer."""
    if not path.is_dir():
        return path if path.suffix == ".model" else None
    files = [each for each in path.iterdir() if each.is_file()]
    found = [each for each in files if each.suffix == ".model"]
    if len(found) != 1 or any(each.suffix in READ_BY_TRANSFORMERS for each in files):
        return None
    return found[0]


def _from_file(path: Path) -> Any:
    data, package = path.read_bytes(), library()
    if not data:  # the library would take empty bytes for a missing argument
        raise FileFormatError(f"{path} is no SentencePiece model: it is empty")
    try:
        return package.SentencePieceProcessor(model_proto=data)
    except (RuntimeError, ValueError) as error:
        raise FileFormatError(f"{path} is no SentencePiece model: {error}") from error


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [TokenizerSource("sentencepiece", load)]
