"""Tokenizers in Python around a `tiktoken.Encoding`, after the public shape of remote code: that of
Kimi K2 (`KimiLike`) and of the first Qwen (`QwenLike`). `save_remote_code` copies this file, which
needs transformers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import tiktoken

transformers = import_module("transformers")

LONGEST_PART, LONGEST_RUN = 400_000, 25_000
"""Code points of a text, and of a run of space or of none, that are given to tiktoken at once."""
KIMI_PATTERN = "|".join(
    [
        r"[\p{Han}]+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)


class KimiLike(transformers.PreTrainedTokenizer):  # type: ignore[misc, name-defined]
    """Keeps its encoding as `model`. Its `encode` without arguments asks tiktoken for the text in
    parts; each other call goes through transformers, which asks `_tokenize` between added tokens.
    A token is the text of its bytes in Latin-1."""

    def __init__(self, ranks: dict[bytes, int] | None = None, **options: Any) -> None:
        ranks = ranks or {bytes([byte]): byte for byte in range(256)}
        names = ["[BOS]", "[EOS]", "<|im_user|>", "<|im_end|>"]
        names += [f"<|reserved_token_{k}|>" for k in range(4, 8)]
        self.special_tokens = {name: len(ranks) + k for k, name in enumerate(names)}
        self.model = tiktoken.Encoding(
            "kimi-like",
            pat_str=KIMI_PATTERN,
            mergeable_ranks=ranks,
            special_tokens=self.special_tokens,
        )
        shown = self.model.decode_single_token_bytes
        self.decoder = {id_: shown(id_).decode("latin-1") for id_ in range(self.model.n_vocab)}
        self.encoder = {token: id_ for id_, token in self.decoder.items()}
        super().__init__(
            bos_token="[BOS]",
            eos_token="[EOS]",
            additional_special_tokens=["<|im_user|>", "<|im_end|>"],
            **options,
        )

    def encode(self, text: str, allow_special_tokens: bool = True, **options: Any) -> list[int]:
        if options:
            return list(super().encode(text, **options))
        allowed: dict[str, Any] = {"allowed_special": "all"}
        if not allow_special_tokens:
            allowed = {"disallowed_special": ()}
        ids: list[int] = []
        for start in range(0, len(text), LONGEST_PART):
            for part in parts_of(text[start : start + LONGEST_PART]):
                ids += self.model.encode(part, **allowed)
        return ids

    def decode(self, ids: Any, **options: Any) -> str:
        return str(super().decode(ids, **options) if options else self.model.decode(ids))

    @property
    def vocab_size(self) -> int:
        return int(self.model.n_vocab)

    def get_vocab(self) -> dict[str, int]:
        return self.encoder

    def _tokenize(self, text: str, **_: Any) -> list[str]:
        return [self.decoder[id_] for id_ in self.encode(text)]

    def _convert_token_to_id(self, token: str) -> int | None:
        return self.encoder.get(token)

    def _convert_id_to_token(self, id_: int) -> str | None:
        return self.decoder.get(id_)

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        return "".join(tokens).encode("latin-1").decode("utf-8", "replace")


def parts_of(text: str) -> Iterator[str]:
    """The text in parts in which no run of space, nor of other characters, is longer than
    LONGEST_RUN."""
    start = length = 0
    was_space = None
    for place, character in enumerate(text):
        is_space = character.isspace()
        length = length + 1 if is_space == was_space else 1
        was_space = is_space
        if length > LONGEST_RUN:
            yield text[start:place]
            start, length = place, 1
    yield text[start:]


class QwenLike(transformers.PreTrainedTokenizer):  # type: ignore[misc, name-defined]
    """Keeps its encoding as `tokenizer`, of which a pickle is made without. Its `tokenize` finds
    special tokens, in the text in form NFC; a token is bytes, or the str of a special token."""

    def __init__(self, ranks: dict[bytes, int], **options: Any) -> None:
        self.mergeable_ranks = ranks
        names = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
        self.special_tokens = {name: len(ranks) + k for k, name in enumerate(names)}
        self.decoder: dict[int, bytes | str] = {id_: token for token, id_ in ranks.items()}
        self.decoder |= {id_: token for token, id_ in self.special_tokens.items()}
        self.tokenizer = self._encoding()
        super().__init__(**options)

    def _encoding(self) -> tiktoken.Encoding:
        return tiktoken.Encoding(
            "qwen-like",
            pat_str=QWEN_PATTERN,
            mergeable_ranks=self.mergeable_ranks,
            special_tokens=self.special_tokens,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "tokenizer"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.tokenizer = self._encoding()

    @property
    def vocab_size(self) -> int:
        return int(self.tokenizer.n_vocab)

    def __len__(self) -> int:
        return self.vocab_size

    def get_vocab(self) -> dict[bytes, int]:
        return self.mergeable_ranks

    def tokenize(  # type: ignore[override]
        self, text: str, allowed_special: Any = "all", disallowed_special: Any = (), **_: Any
    ) -> list[bytes | str]:
        text = unicodedata.normalize("NFC", text)
        how = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
        return [self.decoder[id_] for id_ in self.tokenizer.encode(text, **how)]

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        if isinstance(tokens, (str, bytes)):
            return self._convert_token_to_id(tokens)
        return [self._convert_token_to_id(token) for token in tokens]

    def _convert_token_to_id(self, token: Any) -> int | None:
        return self.special_tokens.get(token, self.mergeable_ranks.get(token))

    def _decode(self, ids: Any, skip_special_tokens: bool = False, **_: Any) -> str:
        kept = [id_ for id_ in ids if not skip_special_tokens or id_ < len(self.mergeable_ranks)]
        return str(self.tokenizer.decode(kept))
