"""Turns BERT's ``vocab.txt`` into the ``tokenizer.json`` that Hugging Face makes of it.

A ``vocab.txt`` lists only the tokens. All other settings are the same for every BERT vocabulary,
except one switch: cased or uncased."""

import os
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from tokpar.arrays import SPACES
from tokpar.errors import FileFormatError
from tokpar.formats.foreign_files import and_its_kind
from tokpar.formats.vocabulary import added_entry
from tokpar.types import AddedToken

SPECIAL = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
REQUIRED = ("[UNK]", "[CLS]", "[SEP]")

_EXPECTED = "expected one token of a BERT vocabulary per line"


def bert_config(path: str | os.PathLike[str], lowercase: bool = True) -> dict[str, Any]:
    """Returns a parsed ``tokenizer.json`` that encodes as `BertTokenizerFast` does.

    `lowercase`: also removes accents. Raises FileFormatError as `read_vocab_txt` does, and if the
    file lacks one of the tokens `REQUIRED`."""
    ids = read_vocab_txt(path)
    _require_tokens(ids, path)
    found = [AddedToken(token, ids[token]) for token in SPECIAL & ids.keys()]
    special = sorted(found, key=attrgetter("id"))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": list(map(added_entry, special)),
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": _template(ids),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }


def _template(ids: Mapping[str, int]) -> dict[str, Any]:
    """Returns the template of the post-processor: [CLS] A [SEP], and [CLS] A [SEP] B [SEP] for a
    pair of texts."""
    single = [_special("[CLS]", 0), {"Sequence": {"id": "A", "type_id": 0}}, _special("[SEP]", 0)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}, _special("[SEP]", 1)],
        "special_tokens": {
            token: {"id": token, "ids": [ids[token]], "tokens": [token]}
            for token in ("[CLS]", "[SEP]")
        },
    }


def _special(token: str, type_id: int) -> dict[str, Any]:
    return {"SpecialToken": {"id": token, "type_id": type_id}}


def _require_tokens(ids: Mapping[str, int], path: str | os.PathLike[str]) -> None:
    missing = [token for token in REQUIRED if token not in ids]
    if not missing:
        return
    for line, number in ids.items():
        if len(line.split()) > 1 or (number == 0 and line.startswith("{")):
            raise FileFormatError(
                f"{path}, line {number + 1}: {_EXPECTED}, got {line[:60]!r}{and_its_kind(path)}"
            )
    raise FileFormatError(
        f"{path}: {_EXPECTED}, {', '.join(REQUIRED)} among them; none of the {len(ids)} tokens is "
        f"{' or '.join(missing)}{and_its_kind(path)}"
    )


def read_vocab_txt(path: str | os.PathLike[str]) -> dict[str, int]:
    """Returns token -> id of BERT's ``vocab.txt``, as `WordPiece.read_file` of tokenizers does: one
    token per line, without the white space at its end; the id is the number of the line, counted
    from 0. An empty line is the token "", which no text has. Of equal lines the last one counts.

    Raises FileFormatError for a file that is not UTF-8 or is empty. The error counts lines from
    1."""
    data = Path(path).read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{path}, line {number}: expected UTF-8 text ({error}){and_its_kind(path)}"
        ) from error
    if not text:
        raise FileFormatError(f"{path}: {_EXPECTED}, the file is empty")
    lines = text.removesuffix("\n").split("\n")
    # plain `str.rstrip` would also strip U+001C to U+001F
    return {line.rstrip(SPACES): number for number, line in enumerate(lines)}
