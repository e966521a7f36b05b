"""Writes byte-level vocabularies as ``tokenizer.json`` or ``.tiktoken``. Raises OptionError that
names what the format cannot express.

How ranks become a list of merges: `merges_of_ranks` merges the bytes of each token by ranks. If the
last merge makes the token, this merge is the one pair to list for the token, with its rank as
priority. Otherwise no merge makes the token in any text. Reason: until the token is made, the
merges inside it in any text are a beginning of the merges of the token alone. So the ids are equal
on every text."""

import base64
import json
import os
from pathlib import Path
from typing import Any

from tokpar_pure.formats import number_added_tokens, require_none_begins_another
from tokpar_pure.merging import merge_text
from tokpar_pure.patterns import Engine, compile_pattern

from tokpar.errors import FileFormatError, OptionError
from tokpar.formats.openai import KNOWN_ENCODINGS
from tokpar.formats.vocabulary import (
    GPT2_PATTERN,
    Merges,
    Ranks,
    Vocabulary,
    added_entry,
    byte_alphabet,
    byte_level_stage,
    letters_of,
)

Target = str | os.PathLike[str]

_R50K, _CL100K = (KNOWN_ENCODINGS[name].pattern for name in ("r50k_base", "cl100k_base"))
_FOR_ONIGURUMA = {
    _R50K: GPT2_PATTERN,
    _CL100K: _CL100K.replace("{1,3}+", "{1,3}").replace(r"\s++$", r"\s++(?![\s\S])"),
}
"""tiktoken's pattern -> a pattern with the same matches in Oniguruma, which reads two parts in
another way. `{1,3}+` is not possessive there; nothing follows the digits in their alternative, so
the plain `{1,3}` matches the same. `$` matches at ends of lines there. The cl100k pattern in the
Hugging Face files in use is older, and splits "\\n " at the end of a text."""
_COVERING = frozenset(
    {*_FOR_ONIGURUMA.values(), *(known.pattern for known in KNOWN_ENCODINGS.values())}
)
"""Patterns that match every text completely. They leave no gaps, so it makes no difference whether
a format keeps gaps or drops them."""


def write_tokenizer_json(
    vocabulary: Vocabulary, path: Target, *, covering: bool = False, compact: bool = False
) -> None:
    """Writes a ``tokenizer.json`` with the same ids. Raises OptionError if none can exist.

    `covering`: the patterns are known to match every text completely (as ``facts.tiles`` says).
    Without it, if the vocabulary drops gaps, a pattern that this module does not know is written
    with the behavior "Removed". Hugging Face reads such a file, `read_tokenizer_json` refuses it.
    `compact`: writes one line, as the bundled tokenizer is stored."""
    if compact:
        _write_whole(path, compact_json(vocabulary, covering=covering))
        return
    content = tokenizer_json(vocabulary, covering=covering)
    _write_whole(path, json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n")


def compact_json(vocabulary: Vocabulary, *, covering: bool = False) -> bytes:
    """Returns the bytes that `write_tokenizer_json` writes with `compact`. Each merge is a string
    "left right"."""
    content = tokenizer_json(vocabulary, covering=covering)
    content["model"]["merges"] = [" ".join(pair) for pair in content["model"]["merges"]]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8") + b"\n"


def write_ranks(vocabulary: Vocabulary, path: Target, *, covering: bool = False) -> dict[str, Any]:
    """Writes a ``.tiktoken`` file with the same ids. Returns the settings that the file cannot
    hold, as `tokpar.load` takes them: `pat_str`, `special_tokens`.

    `covering`: as in `write_tokenizer_json`. Raises OptionError if no such file can exist. Without
    `covering`, this includes a vocabulary that keeps gaps and has a pattern that this module does
    not know."""
    settings = rank_settings(vocabulary, covering=covering)
    lines = (
        base64.b64encode(token) + b" %d\n" % rank
        for token, rank in sorted(vocabulary.tokens.items(), key=lambda item: item[1])
    )
    _write_whole(path, b"".join(lines))
    return settings


def _write_whole(path: Target, data: bytes) -> None:
    """Writes the file completely. If anything interrupts it, the old file stays unchanged."""
    target = Path(path).resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def merges_of_ranks(ranks: Ranks) -> Merges:
    """Returns the merge that makes each token, for the tokens that merging can make:
    (left id, right id) -> (rank, rank)."""
    merges: Merges = {}
    others = dict(ranks)
    for token, rank in ranks.items():
        del others[token]
        starts = merge_text(token, others)
        others[token] = rank
        if len(starts) == 3:  # two parts are left, and their merge makes the token
            _, middle, _ = starts
            merges[ranks[token[:middle]], ranks[token[middle:]]] = (rank, rank)
    return merges


def tokenizer_json(vocabulary: Vocabulary, *, covering: bool = False) -> dict[str, Any]:
    """Returns the content that `write_tokenizer_json` writes."""
    shown = _shown_tokens(vocabulary)
    by_ranks = vocabulary.semantics == "ranks"
    merges = merges_of_ranks(vocabulary.tokens) if by_ranks else vocabulary.merges
    best_first = sorted(merges, key=lambda pair: merges[pair][0])
    # a merge with a token that is not made of bytes never happens, and is left out
    lines = [[shown[a], shown[b]] for a, b in best_first if a in shown and b in shown]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_entry(token) for token in vocabulary.added],
        "normalizer": None,
        "pre_tokenizer": _pre_tokenizer(vocabulary, covering),
        "post_processor": None,
        "decoder": {**byte_level_stage(use_regex=True), "add_prefix_space": True},  # HF's default
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": vocabulary.whole_piece,
            "vocab": {text: id_ for id_, text in sorted(shown.items())},
            "merges": lines,
        },
    }


def _shown_tokens(vocabulary: Vocabulary) -> dict[int, str]:
    """Returns id -> token of the model's vocabulary, as the file spells it.

    Engines number the added tokens that the vocabulary lacks: one by one, after the vocabulary. If
    that would change an id, the added tokens are in the vocabulary, too. Raises OptionError if this
    cannot keep their ids."""
    shown = {id_: letters_of(token) for token, id_ in vocabulary.tokens.items()}
    id_of = {text: id_ for id_, text in shown.items()}
    if all(
        token.id == expected for token, expected in number_added_tokens(vocabulary.added, id_of)
    ):
        return shown
    alphabet = byte_alphabet()
    for token in vocabulary.added:
        if shown.get(token.id, token.content) != token.content:
            raise OptionError(f"added token {token.content!r}: id {token.id} is another token's")
        if not token.content.isascii() and all(char in alphabet for char in token.content):
            raise OptionError(
                f"added token {token.content!r}: a tokenizer.json cannot keep its id "
                f"{token.id}, because its model would read the content as a token of bytes"
            )
        shown[token.id] = token.content
    if len(set(shown.values())) != len(shown):
        raise OptionError("an added token is spelt like a token of the model, with another id")
    return shown


def _pre_tokenizer(vocabulary: Vocabulary, covering: bool) -> dict[str, Any]:
    patterns = [_for_oniguruma(p, vocabulary.semantics) for p in vocabulary.patterns]
    use_regex = patterns[-1:] == [GPT2_PATTERN]
    splits = [
        {
            "type": "Split",
            "pattern": {"Regex": pattern},
            "behavior": "Isolated" if keep else "Removed",
            "invert": not keep,
        }
        for pattern in (patterns[:-1] if use_regex else patterns)
        for keep in [vocabulary.keep_gaps or covering or pattern in _COVERING]
    ]
    last = byte_level_stage(use_regex)
    return {"type": "Sequence", "pretokenizers": [*splits, last]} if splits else last


def _for_oniguruma(pattern: str, semantics: str) -> str:
    """Returns the pattern with the same matches in the engine of Hugging Face. Raises OptionError
    if its meaning there is not certain."""
    if semantics == "ranks":
        pattern = _FOR_ONIGURUMA.get(pattern, pattern)
        compile_pattern(pattern, "fancy-regex")
    _require_readable(pattern, "oniguruma", "tokenizer.json")
    return pattern


def _require_readable(pattern: str, engine: Engine, file: str) -> None:
    try:
        compile_pattern(pattern, engine)
    except FileFormatError as error:
        raise OptionError(f"a {file} cannot express this: {error}") from error


def rank_settings(vocabulary: Vocabulary, *, covering: bool = False) -> dict[str, Any]:
    """Returns `pat_str` and `special_tokens` for a ``.tiktoken`` file with the same ids. Raises
    OptionError if no such file can exist."""
    for token in vocabulary.added:
        flags = [f for f in ("lstrip", "rstrip", "single_word", "normalized") if getattr(token, f)]
        flags += [] if token.special else ["special=False"]
        if flags:
            raise OptionError(
                f"added token {token.content!r}: a .tiktoken encoding has no {', '.join(flags)}"
            )
    require_none_begins_another(token.content for token in vocabulary.added)
    pattern = _single_pattern(vocabulary, covering)
    if vocabulary.semantics == "pairs":
        _require_ranks(vocabulary)
    special_tokens = {token.content: token.id for token in vocabulary.added}
    return {"pat_str": pattern, "special_tokens": special_tokens}


def _single_pattern(vocabulary: Vocabulary, covering: bool) -> str:
    count = len(vocabulary.patterns)
    if count != 1:
        raise OptionError(f"a .tiktoken encoding has one pattern, this vocabulary has {count}")
    [pattern] = vocabulary.patterns
    if vocabulary.keep_gaps and not covering and pattern not in _COVERING:
        raise OptionError(
            "a .tiktoken encoding drops text that its pattern does not match, this vocabulary "
            f"keeps it, and {pattern!r} is not known to match everything"
        )
    _require_readable(pattern, "fancy-regex", ".tiktoken encoding")
    return pattern


def _require_ranks(vocabulary: Vocabulary) -> None:
    """Raises OptionError unless the ids, used as ranks, merge exactly as the listed pairs do. Also
    raises it if ids could change because tiktoken keeps a pre-token whole that is a token."""
    by_ranks = merges_of_ranks(vocabulary.tokens)
    in_order = sorted(vocabulary.merges.items(), key=lambda item: item[1][0])
    listed = {pair: merged for pair, (_, merged) in in_order}
    for (pair, merged), expected in zip(listed.items(), sorted(listed.values()), strict=True):
        if merged != expected or by_ranks.get(pair) != (merged, merged):
            raise OptionError(
                f"the merge of ids {pair} is not what a rank can express: ranks are ids, the least "
                "is merged first, and a token is made of one pair"
            )
    for pair in by_ranks:
        if pair not in listed:
            raise OptionError(f"a .tiktoken encoding would merge ids {pair}, this vocabulary not")
    made = set(listed.values())
    for token, id_ in vocabulary.tokens.items():
        if not vocabulary.whole_piece and len(token) > 1 and id_ not in made:
            raise OptionError(
                f"token {token!r} is made by no merge, but a .tiktoken encoding would use it for a "
                "pre-token that equals it"
            )
