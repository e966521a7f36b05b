"""BERT's ``vocab.txt``, which lists tokens only, as the ``tokenizer.json`` that HF makes of it.

The rest is the same for all of BERT's vocabularies, but for one switch: cased or uncased."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokpar.errors import FileFormatError
from tokpar.pure.classes import white
from tokpar.pure.vocabulary import added_entry
from tokpar.types import AddedToken

SPECIAL = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
REQUIRED = ("[UNK]", "[CLS]", "[SEP]")

_EXPECTED = "expected one token of a BERT vocabulary per line"
_OTHER_FORMAT = re.compile(r'\s*\{\s*"|\S+ \d+\r?\n')  # how JSON and ``.tiktoken`` files begin


def bert_config(path: str | os.PathLike[str], lowercase: bool = True) -> dict[str, Any]:
    """A parsed ``tokenizer.json`` that does what `BertTokenizerFast` does; `lowercase` takes
    accents off too. FileFormatError as of `read_vocab_txt`, and without one of `REQUIRED`."""
    ids = read_vocab_txt(path)
    _require_tokens(ids, path)
    special = [AddedToken(token, id_) for token, id_ in ids.items() if token in SPECIAL]
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
    """[CLS] a [SEP], and for a pair of texts [CLS] a [SEP] b [SEP]."""
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
        if len(line.split()) > 1:
            raise FileFormatError(f"{path}, line {number + 1}: {_EXPECTED}, got {line[:60]!r}")
    raise FileFormatError(
        f"{path}: {_EXPECTED}, {', '.join(REQUIRED)} among them; none of the {len(ids)} lines is "
        f"{' or '.join(missing)}"
    )


def read_vocab_txt(path: str | os.PathLike[str]) -> dict[str, int]:
    """Tokens of BERT's ``vocab.txt``, one per line; the number of the line, from 0, is the id.
    FileFormatError, with the line from 1, for what is not UTF-8, an empty line, or a token listed
    twice."""
    data = Path(path).read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise FileFormatError(f"{path}, line {number}: expected UTF-8 text ({error})") from error
    lines = text.removesuffix("\n").split("\n") if text else []
    if _OTHER_FORMAT.match(text):
        raise FileFormatError(f"{path}, line 1: {_EXPECTED}, got {lines[0][:60]!r}")
    ids: dict[str, int] = {}
    for number, line in enumerate(lines):
        token = line.rstrip(white())  # not U+001C to U+001F, which `str.rstrip` strips too
        where = f"{path}, line {number + 1}"
        if not token:
            raise FileFormatError(f"{where}: {_EXPECTED}, the line is empty")
        if token in ids:
            first = ids[token] + 1
            raise FileFormatError(f"{where}: {_EXPECTED}, {token!r} is already on line {first}")
        ids[token] = number
    if not ids:
        raise FileFormatError(f"{path}: {_EXPECTED}, the file is empty")
    return ids
