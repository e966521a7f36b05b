"""The file of a tokenizer, as its adapter hands it to worker processes, before anything is read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from tokpar.certificate.check_context import RefusedError, require
from tokpar.certificate.model.strict_json import digest_of, parse_config
from tokpar.errors import TokparError
from tokpar.interfaces import HasSpec, TokenizerAdapter
from tokpar.types import AddedToken


@dataclass(frozen=True, eq=False)
class JsonFile:
    """A ``tokenizer.json``, as JSON or parsed. Oniguruma runs its patterns.

    `skip_special`: the engine does not match special tokens (`encode_special_tokens`)."""

    source: str | Mapping[str, Any]
    skip_special: bool = False

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The parsed file. Refused if it is no JSON object."""
        return parse_config(self.source)

    @cached_property
    def digest(self) -> str:
        """The sha256 of the JSON, in hexadecimal digits."""
        return digest_of(self.source)


@dataclass(frozen=True, eq=False)
class RankFile:
    """The arguments of a `tiktoken.Encoding`. fancy-regex runs its pattern.

    `allowed_specials`: the special tokens that the engine matches."""

    ranks: Mapping[bytes, int]
    pattern: str
    specials: Mapping[str, int]
    allowed_specials: frozenset[str]
    digest: str


class VocabularyFile(Protocol):
    """The vocabulary of a tokenizer in plain Python, `tokpar.pure.vocabulary.Vocabulary`."""

    @property
    def tokens(self) -> Mapping[bytes, int]: ...
    @property
    def semantics(self) -> str: ...
    @property
    def patterns(self) -> tuple[str, ...]: ...
    @property
    def merges(self) -> Mapping[tuple[int, int], tuple[int, int]]: ...
    @property
    def keep_gaps(self) -> bool: ...
    @property
    def whole_piece(self) -> bool: ...
    @property
    def added(self) -> tuple[AddedToken, ...]: ...


def given_file(tokenizer: TokenizerAdapter) -> JsonFile | RankFile | VocabularyFile:
    """Returns the file of a tokenizer. RefusedError if the adapter tells none."""
    if not isinstance(tokenizer, HasSpec):
        raise RefusedError("file", f"{tokenizer.name} does not tell its file")
    try:
        _, given = tokenizer.spec()
    except TokparError as error:
        raise RefusedError("file", f"{tokenizer.name} does not tell its file: {error}") from error
    exact = not given.get("properize", False)
    require(exact, "file", f"{tokenizer.name} orders its merges in another way")
    if isinstance(given.get("encoding"), Mapping):
        return _ranks(given["encoding"], given.get("allowed_special", ()))
    if "config" in given:
        return JsonFile(given["config"], bool(given.get("encode_special_tokens", False)))
    require("vocabulary" in given, "file", f"the file of {tokenizer.name} is not known")
    vocabulary: VocabularyFile = given["vocabulary"]
    return vocabulary


def _ranks(encoding: Mapping[str, Any], allowed_specials: Iterable[str]) -> RankFile:
    ranks, specials = encoding["mergeable_ranks"], encoding["special_tokens"]
    pattern, allowed_specials = encoding["pat_str"], frozenset(allowed_specials)
    digest = hashlib.sha256(
        repr((pattern, sorted(specials.items()), sorted(allowed_specials))).encode()
    )
    digest.update(repr(list(ranks.items())).encode())
    return RankFile(ranks, pattern, specials, allowed_specials, digest.hexdigest())
