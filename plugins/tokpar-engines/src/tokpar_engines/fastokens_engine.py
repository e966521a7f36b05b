"""fastokens for tokpar: BPE of a ``tokenizer.json`` or a ``.tiktoken`` file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from tokpar import Rows
from tokpar.plugin.tokenizer import AddedToken, IdArray, TokenizerSource, hookimpl
from tokpar_engines import Calls, Engine, JsonFile, RankFile, engine_source

_POSSESSIVE = re.compile(r"\{[0-9]+(?:,[0-9]+)?\}\+")
_BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))


def encode(tokenizer: Any, text: str) -> IdArray:
    """The ids of a text, as they lie in the engine's buffer: little-endian uint32."""
    ids, _ = tokenizer.encode_batch_flat([text])
    return np.frombuffer(ids, dtype="<u4")


def encode_many(tokenizer: Any, texts: list[str]) -> Rows:
    """The rows, in the engine's own buffers: the ids, and the offset of each text's ids."""
    if not texts:
        return Rows.of([])
    ids, offsets = tokenizer.encode_batch_flat(texts)
    return Rows(np.frombuffer(ids, dtype="<u4"), np.frombuffer(offsets, dtype="<u8").view(np.int64))


def of_json(fastokens: Any, file: JsonFile) -> Calls:
    return calls(fastokens.Tokenizer.from_json_str(file.plain))


def of_ranks(fastokens: Any, file: RankFile) -> Calls:
    return calls(
        fastokens.Tokenizer.from_tiktoken(
            str(file.path), pattern=file.pattern, special_tokens=dict(file.special)
        )
    )


def calls(tokenizer: Any) -> Calls:
    return Calls(partial(encode, tokenizer), partial(encode_many, tokenizer))


def differs(file: JsonFile) -> str | None:
    """Why some text has other ids in fastokens 0.3.5 than in tokenizers; None if no such reason is
    known."""
    why = possessive(file.config) or unreachable(file) or stripping(file)
    return why or (None if _normalizes(file) else overlapping(file.added))


def possessive(config: Mapping[str, Any]) -> str | None:
    """A complaint about a pattern with `{1,3}+`, or None.

    tokenizers reads it as a repetition of repetitions, fastokens as a possessive one."""
    for pattern in _patterns(config.get("pre_tokenizer")):
        found = _POSSESSIVE.search(pattern.replace("\\\\", "").replace("\\{", ""))
        if found:
            return (
                f"the pattern holds {found[0]!r}, which tokenizers reads as a repetition of "
                f"repetitions, and fastokens as a possessive one"
            )
    return None


def unreachable(file: JsonFile) -> str | None:
    """A complaint about tokens that fastokens finds and merges cannot make, or None.

    Merges cannot make a token if one of its characters is no token. The second complaint is about a
    vocabulary without unknown token and byte fallback: tokenizers leaves out characters that are no
    tokens and merges the text around them, fastokens does not merge it."""
    model = file.config["model"]
    stages = json.dumps([file.config.get("normalizer"), file.config.get("pre_tokenizer")])
    if model.get("type", "BPE") != "BPE" or '"ByteLevel"' in stages:
        return None
    vocab = model["vocab"]
    fallback = model.get("byte_fallback") and vocab.keys() >= _BYTES
    if model.get("unk_token") is None and not fallback and model["merges"]:
        return (
            "characters that are no tokens are left out and what stands around them is merged, "
            "but fastokens does not merge it"
        )
    found = {t.content for t in file.added if not (t.normalized and _normalizes(file))}
    for token in vocab:
        if len(token) > 1 and token not in found and any(char not in vocab for char in token):
            return f"no merge makes the token {token!r}, but fastokens finds it in the text"
    return None


def stripping(file: JsonFile) -> str | None:
    """A complaint about an added token that is white space next to a token that strips, or None.

    tokenizers gives such white space to the stripping token, if the white-space token is searched
    later, or if nothing is left of it once its own stripping is applied."""
    strips = [token for token in file.added if token.lstrip or token.rstrip]
    for token, space in product(strips, file.added):
        later = space.normalized > token.normalized and not _normalizes(file)
        nothing = space.normalized == token.normalized and space.lstrip and space.content.isspace()
        behind = token.rstrip and (nothing or (later and space.content[:1].isspace()))
        if behind or (token.lstrip and later and space.content[-1:].isspace()):
            flag = "rstrip" if behind else "lstrip"
            return (
                f"added token {token.content!r} has {flag}, but fastokens leaves the white space "
                f"beside it to {space.content!r}"
            )
    return None


def overlapping(added_tokens: Sequence[AddedToken]) -> str | None:
    """A complaint about an added token with `normalized` that overlaps one without, or None.

    tokenizers searches tokens with `normalized` in the text that the other added tokens leave, also
    in a file without normalizer. fastokens searches all added tokens at once, from the left."""
    plain = [token.content for token in added_tokens if not token.normalized and token.content]
    begins = {content[:k] for content in plain for k in range(1, len(content) + 1)}
    for token in (each.content for each in added_tokens if each.normalized):
        inside = (token[k:n] for k in range(len(token)) for n in range(k + 1, len(token)))
        ends = (token[k:] for k in range(1, len(token)))
        if any(part in plain for part in inside) or any(end in begins for end in ends):
            return (
                f"added token {token!r} has normalized, but fastokens does not look for it after "
                f"those that have not"
            )
    return None


def _normalizes(file: JsonFile) -> bool:
    """True if the file has a normalizer that is not an empty sequence."""
    stage = file.config.get("normalizer")
    return stage is not None and bool(stage) and stage.get("normalizers") != []


def _patterns(stage: Any) -> Iterator[str]:
    """The regexes of a stage and of the stages inside it."""
    for value in stage.values() if isinstance(stage, dict) else stage or ():
        if isinstance(stage, dict) and isinstance(stage.get("Regex"), str):
            yield stage["Regex"]
        elif isinstance(value, dict | list):
            yield from _patterns(value)


FASTOKENS = Engine("fastokens", "0.3.5", of_json, of_ranks, differs)


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [engine_source(FASTOKENS)]
