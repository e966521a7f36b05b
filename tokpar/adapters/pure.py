"""tokpar's own tokenizers in plain Python: readable, exact, the oracle of the other engines.

Ids are those of HF or tiktoken. Where a regex splits the text, that is promised for code points
that all Unicode versions in use classify alike; see `tokpar.pure.patterns` for the others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokpar.adapters.pure_file import FileTokenizer as FileTokenizer
from tokpar.adapters.pure_vocabulary import PureTokenizer as PureTokenizer
from tokpar.adapters.settings import FINISHING, check_names, flags
from tokpar.errors import FileFormatError, OptionError
from tokpar.pure.bert import bert_config
from tokpar.pure.formats import read_config, read_ranks, vocabulary_of
from tokpar.pure.known import KNOWN_ENCODINGS
from tokpar.pure.parts import kind
from tokpar.pure.vocabulary import Vocabulary, byte_alphabet, rank_vocabulary

_RANK_SETTINGS = ("name", "pat_str", "special_tokens")


def load(
    source: object, *, engine: str | None = None, **settings: Any
) -> PureTokenizer | FileTokenizer | None:
    """An adapter of a `Vocabulary`, or of a path that ends in ``.json``, ``.tiktoken``, or ``.txt``
    (BERT's ``vocab.txt``); None for anything else, or if another `engine` than "pure" is asked for.

    Settings of a ``.json`` file: `add_special_tokens`, `truncation` and `padding` (True: as the
    file says). Settings of a ``.txt`` file: those, and `lowercase` (True; False for a cased
    vocabulary). Settings of a
    ``.tiktoken`` file: `name` of a known encoding (else the file's stem), `pat_str`, and
    `special_tokens`, all of which are matched in the text (default: none). A `Vocabulary` takes no
    settings. Raises OptionError, FileFormatError, FileNotFoundError.
    """
    if engine not in (None, "pure"):
        return None
    if isinstance(source, Vocabulary):
        check_names(settings, ())
        return PureTokenizer(source)
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    if path is not None and path.suffix == ".tiktoken":
        return PureTokenizer(_rank_vocabulary(path, settings))
    if path is not None and path.suffix == ".json":
        return _of_json(path, flags(settings, FINISHING))
    if path is not None and path.suffix == ".txt":
        return _of_txt(path, **flags(settings, (*FINISHING, "lowercase")))
    return None


def _of_json(path: Path, settings: Mapping[str, bool]) -> PureTokenizer | FileTokenizer:
    """Byte-level BPE with nothing around it is a `Vocabulary`, everything else a whole file."""
    config = read_config(path)
    if _decodes_bytes(config):
        try:
            return PureTokenizer(vocabulary_of(config, path))
        except FileFormatError:
            pass  # more than that, or broken, and then it is said below what is
    try:
        return FileTokenizer(config, path.stem, **settings)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None


def _decodes_bytes(config: Mapping[str, Any]) -> bool:
    """Decoding gives the bytes of the tokens, of the added ones too: none looks like bytes."""
    decoder = config.get("decoder")
    added = config.get("added_tokens") or []
    return kind(decoder) == "ByteLevel" and all(
        content.isascii() or not byte_alphabet().keys() >= set(content)
        for content in (str(token.get("content")) for token in added if isinstance(token, Mapping))
    )


def _of_txt(path: Path, lowercase: bool = True, **settings: bool) -> FileTokenizer:
    return FileTokenizer(bert_config(path, lowercase), path.stem, **settings)


def _rank_vocabulary(path: Path, settings: Mapping[str, Any]) -> Vocabulary:
    check_names(settings, _RANK_SETTINGS)
    name = settings.get("name") or path.stem
    pattern = settings.get("pat_str")
    if pattern is None and name not in KNOWN_ENCODINGS:
        raise OptionError(
            f"{path}: the file does not hold its regex: pass pat_str, or as name one of "
            f"{', '.join(sorted(KNOWN_ENCODINGS))}"
        )
    pattern = pattern or KNOWN_ENCODINGS[name].pattern
    return rank_vocabulary(name, read_ranks(path), pattern, settings.get("special_tokens") or {})
