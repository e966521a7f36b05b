"""What the adapter of a `tiktoken.Encoding` knows about untrusted text (proofs/untrusted.md).

Special tokens count in trusted text only. A disallowed one raises there, as in the own call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import tiktoken

from tokpar.adapters.tiktoken_encodings import arguments_of
from tokpar.contract.adapter import TrustParts
from tokpar.errors import OptionError
from tokpar.types import AddedToken

if TYPE_CHECKING:
    from tokpar.adapters.tiktoken import TiktokenTokenizer


def trust_parts_of(
    encoding: tiktoken.Encoding,
    allowed_specials: frozenset[str],
    load: Callable[[tiktoken.Encoding], TiktokenTokenizer],
    check_trusted: Callable[[str], None],
) -> TrustParts:
    """Returns the parts of an encoding. `load`: returns the adapter of one whose special tokens
    are all allowed. `check_trusted`: raises for a disallowed special token in a text."""
    specials: Mapping[str, int] = encoding._special_tokens

    def with_names(names: Mapping[str, str]) -> Any:
        if names.keys() != allowed_specials:
            left = sorted(allowed_specials - names.keys())
            raise OptionError(
                f"all special tokens of tiktoken are control tokens: leave out control, or add "
                f"{left} to it"
            )
        arguments = arguments_of(encoding)
        arguments["special_tokens"] = {name: specials[each] for each, name in names.items()}
        return load(tiktoken.Encoding(**arguments))

    def given_ids(control: Collection[str]) -> dict[int, str]:
        ranked = {*encoding._mergeable_ranks.values()}
        return {specials[each]: each for each in control if specials[each] in ranked}

    return TrustParts(
        added_tokens=tuple(AddedToken(each, specials[each]) for each in sorted(allowed_specials)),
        vocabulary=lambda: "".join(specials),
        default=allowed_specials,
        why_refused=lambda content: (
            None if content in allowed_specials else "it is not in allowed_special of the encoding"
        ),
        given_ids=given_ids,
        with_names=with_names,
        check_trusted=check_trusted,
    )
