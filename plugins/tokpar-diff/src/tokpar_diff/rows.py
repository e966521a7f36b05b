"""Ask a tokenizer for its rows: ids, offsets and decoded text, by the tokenizer's own calls.

This file imports nothing of tokpar. `python rows.py NAME` runs it in any Python that has
tokenizers, transformers or tiktoken: the first line that it prints describes the tokenizer, then
each line of standard input, a JSON list of texts, is answered by a line, the JSON list of their
rows."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

Row = dict[str, Any]
ASPECTS = {
    "ids": "ids",
    "plain_ids": "ids without special tokens",
    "offsets": "offsets",
    "text": "decode",
    "plain_text": "decode without special tokens",
}
"""The keys of a row, and what a report calls each. `offsets`: [start, stop) of each of `ids` in
code points. `text`: the ids decoded; `plain_text`: with skip_special_tokens=True. A value is None
if the tokenizer does not tell it. A row of a text on which the tokenizer fails has the one key
"error"."""
_TIKTOKEN = "tiktoken"
_BASES = tuple(f"transformers.tokenization_utils_{name}" for name in ("base", "fast", "tokenizers"))
_CALLS = ("__call__", "encode", "_encode_plus", "_batch_encode_plus")
_DECODING = ("decode", "_decode", "clean_up_tokenization", "convert_tokens_to_string")
_FORCED = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"
_LIBRARIES = {"transformers": ("tokenizers", "transformers"), "tokenizers": ("tokenizers",)}


def kind_of(tokenizer: Any) -> str | None:
    """Returns "transformers", "tokenizers", "tiktoken" or "object" (with `encode`); None for what
    is no tokenizer."""
    if isinstance(tokenizer, type):
        return None
    if hasattr(tokenizer, "encode_ordinary"):
        return _TIKTOKEN
    if callable(tokenizer) and hasattr(tokenizer, "convert_ids_to_tokens"):
        return "transformers"
    if hasattr(tokenizer, "encode_batch") and type(tokenizer).__module__.startswith("tokenizers"):
        return "tokenizers"
    return "object" if callable(getattr(tokenizer, "encode", None)) else None


def versions_of(tokenizer: Any) -> dict[str, str]:
    """Returns the versions of the libraries that encode: {"tokenizers": "0.23.3"}."""
    kind = kind_of(tokenizer) or "object"
    names = _LIBRARIES.get(kind, (_TIKTOKEN,) if kind == _TIKTOKEN else ())
    found: dict[str, str] = {}
    for name in names:
        if name == "transformers" or name in sys.modules:
            found[name] = str(import_module(name).__version__)
    return found


def rows_of(tokenizer: Any, texts: Sequence[str]) -> list[Row]:
    """Returns the row of each text."""
    kind = kind_of(tokenizer)
    if kind == "transformers":
        try:
            return _rows_of_transformers(tokenizer, list(texts))
        except Exception:  # of any class of transformers; the loop below finds the text
            pass
    return [_row_of(tokenizer, kind, text) for text in texts]


def _row_of(tokenizer: Any, kind: str | None, text: str) -> Row:
    try:
        if kind == "transformers":
            return _rows_of_transformers(tokenizer, [text])[0]
        if kind == "tokenizers":
            return _row_of_tokenizers(tokenizer, text)
        if kind == _TIKTOKEN:
            ids = tokenizer.encode(text, allowed_special="all")
            return _row(ids, tokenizer.encode_ordinary(text), None, tokenizer.decode(ids), None)
        ids = [int(id_) for id_ in tokenizer.encode(text)]
        decode = getattr(tokenizer, "decode", None)
        return _row(ids, None, None, decode(ids) if callable(decode) else None, None)
    except BaseException as error:  # a panic of an engine is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)):
            raise
        return {"error": f"{type(error).__name__}: {str(error)[:200]}"}


def _row(ids: Any, plain_ids: Any, offsets: Any, text: Any, plain_text: Any) -> Row:
    return dict(zip(ASPECTS, (ids, plain_ids, offsets, text, plain_text)))  # noqa: B905  # of Python 3.10


def _row_of_tokenizers(own: Any, text: str) -> Row:
    encoding, plain = own.encode(text), own.encode(text, add_special_tokens=False)
    ids, offsets = list(encoding.ids), getattr(encoding, "offsets", None)  # 1.x has none
    return _row(
        ids,
        list(plain.ids),
        None if offsets is None else [list(pair) for pair in offsets],
        own.decode(ids, skip_special_tokens=False),
        own.decode(ids, skip_special_tokens=True),
    )


def _rows_of_transformers(tokenizer: Any, texts: list[str]) -> list[Row]:
    settings = {
        "padding": False,
        "truncation": False,
        "return_attention_mask": False,
        "verbose": False,
    }
    fast = bool(getattr(tokenizer, "is_fast", False))
    batch = tokenizer(texts, add_special_tokens=True, return_offsets_mapping=fast, **settings)
    plain = tokenizer(texts, add_special_tokens=False, **settings)["input_ids"]
    rows = []
    for k, ids in enumerate(batch["input_ids"]):
        offsets = [list(pair) for pair in batch["offset_mapping"][k]] if fast else None
        decoded = [tokenizer.decode(ids, skip_special_tokens=skips) for skips in (False, True)]
        rows.append(_row(list(ids), list(plain[k]), offsets, *decoded))
    return rows


def open_name(name: str) -> Any:
    """Returns the tokenizer of a tokenizer.json, of a directory or repository (by AutoTokenizer),
    or of a name of tiktoken. Raises what the libraries raise."""
    if name.endswith(".json"):
        return import_module("tokenizers").Tokenizer.from_file(name)
    if not os.path.isdir(name):
        try:
            tiktoken: Any = import_module(_TIKTOKEN)
            known = name in tiktoken.list_encoding_names()
            return tiktoken.get_encoding(name) if known else tiktoken.encoding_for_model(name)
        except (ImportError, KeyError):
            pass
    auto = import_module("transformers").AutoTokenizer
    return auto.from_pretrained(name, trust_remote_code=False)


def describe(tokenizer: Any) -> dict[str, Any]:
    """Returns what decides the rows besides the engine's file: versions, class, methods of its own.

    `own_calls`, `own_decoding`: a method of the class that is not the library's, or None."""
    kind, found = kind_of(tokenizer), dict.fromkeys(("own_calls", "own_decoding"))
    if kind == "transformers":
        switch = getattr(tokenizer, "_switch_to_input_mode", None)
        if switch is not None:
            switch()  # as each call does: translation models set their post-processor
        found = {"own_calls": _own(tokenizer, _CALLS), "own_decoding": _own(tokenizer, _DECODING)}
    flag = "split_special_tokens" if kind == "transformers" else "encode_special_tokens"
    return {
        "kind": kind,
        "class": type(tokenizer).__name__,
        "versions": versions_of(tokenizer),
        "skips_special": bool(getattr(tokenizer, flag, False)),
        "cleans_up": kind == "transformers" and _cleans_up(tokenizer),
        **found,
    }


def _own(tokenizer: Any, names: Sequence[str]) -> str | None:
    for name in names:
        module = getattr(getattr(tokenizer, name, None), "__module__", None)
        if module not in (*_BASES, None):
            return f"{type(tokenizer).__name__} has its own {name}"
    return None


def _cleans_up(tokenizer: Any) -> bool:
    """True if decoded text loses spaces before punctuation. New releases do that to BPE only if a
    second flag is set."""
    model = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    is_left_alone = type(model).__name__ == "BPE" and not getattr(tokenizer, _FORCED, True)
    return bool(getattr(tokenizer, "clean_up_tokenization_spaces", False)) and not is_left_alone


def file_of(tokenizer: Any) -> dict[str, Any]:
    """Returns the engine's `file`, its tokenizer.json, and the `size` of its model's vocabulary, or
    the `encoding` of tiktoken; None for each that there is not."""
    own = getattr(tokenizer, "backend_tokenizer", tokenizer)
    encoding = _encoding_of(own) if kind_of(own) == _TIKTOKEN else None
    size = own.get_vocab_size(with_added_tokens=False) if hasattr(own, "get_vocab_size") else None
    return {"encoding": encoding, "file": _written_by(own), "size": size}


def _encoding_of(own: Any) -> dict[str, Any]:
    ranks = {token.hex(): rank for token, rank in own._mergeable_ranks.items()}
    return {"pat_str": own._pat_str, "ranks": ranks, "specials": own._special_tokens}


def _written_by(own: Any) -> str | None:
    if kind_of(own) != "tokenizers":
        return None
    if hasattr(own, "to_str"):
        return str(own.to_str())
    written = own.__reduce__()[1][0]  # 1.x writes its file only to be pickled
    return written if isinstance(written, str) else str(written, "utf-8")


def main() -> None:
    """Answer the requests of another process."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer

    def answer(value: Any) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        tokenizer = open_name(sys.argv[1])
        description = {**describe(tokenizer), **file_of(tokenizer)}
    except BaseException as error:  # of any library, panics included: the other process reports it
        answer({"error": f"{type(error).__name__}: {str(error).strip()[:300]}"})
        return
    answer(description)
    for line in sys.stdin:
        answer(rows_of(tokenizer, json.loads(line)))


if __name__ == "__main__":
    main()
