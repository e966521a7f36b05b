"""Regexes and special tokens of tiktoken's own encodings, which ``.tiktoken`` files do not hold,
and `tiktoken_ext.openai_public` only in functions that download a vocabulary."""

from collections.abc import Mapping
from dataclasses import dataclass

_END = "<|endoftext|>"
_PROMPT_END = "<|endofprompt|>"

_R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SUFFIX}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SUFFIX}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_O200K_SPECIAL = {_END: 199999, _PROMPT_END: 200018}
_HARMONY = {
    "<|startoftext|>": 199998,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
}
_RESERVED = (200000, 200001, 200004, 200009, 200010, 200011, *range(200013, 201088))


@dataclass(frozen=True, slots=True)
class KnownEncoding:
    """What a tiktoken encoding has besides its ranks."""

    pattern: str
    special_tokens: Mapping[str, int]


KNOWN_ENCODINGS: Mapping[str, KnownEncoding] = {
    **dict.fromkeys(("gpt2", "r50k_base", "p50k_base"), KnownEncoding(_R50K, {_END: 50256})),
    "cl100k_base": KnownEncoding(
        _CL100K,
        {
            _END: 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            _PROMPT_END: 100276,
        },
    ),
    "o200k_base": KnownEncoding(_O200K, _O200K_SPECIAL),
    "o200k_harmony": KnownEncoding(
        _O200K, {**_O200K_SPECIAL, **_HARMONY, **{f"<|reserved_{id_}|>": id_ for id_ in _RESERVED}}
    ),
}
"""The encodings of tiktoken, by name."""
