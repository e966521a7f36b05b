"""Objects that other libraries accept as their own tokenizers, with ids from tokpar.

Imported by: `run`, `tokpar`.
Read first: `hf.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from tokpar.encoder import Encoder
from tokpar.errors import OptionError
from tokpar.process.limits import require_count, worker_count
from tokpar.registry.tables import registry, require_options

if TYPE_CHECKING:
    import tiktoken


def as_hf(tokenizer: Any, *, smallest_text: int | None = None, **options: Any) -> Any:
    """`tokenizer`, a fast tokenizer of transformers, as an object of a subclass of its own class
    whose long texts are encoded in parallel and from a cache, with equal ids.

    The object shares the engine (`backend_tokenizer`) with `tokenizer`: a token added to one is in
    both. Other attributes are copied. `tokpar_calls` counts the texts that tokpar encoded; the
    engine encodes all others. `smallest_text`: code points from which on a text goes through
    tokpar, None for the length from which on that pays. `options`: those of `Encoder`. Raises
    OptionError for a tokenizer that is not fast, for a class that encodes in its own way, for an
    unknown option, and for transformers below 4.46.

    A tokenizer in Python that keeps a tiktoken.Encoding in an attribute, as remote code does, is
    returned itself. The attribute is then `as_tiktoken` of the encoding, which counts its texts.

    With the environment variable TOKPAR_AS_HF=0 the engine encodes every text but untrusted ones.
    """
    if isinstance(tokenizer, (str, PathLike)):
        raise OptionError(
            f"as_hf needs a tokenizer object, got {tokenizer!r}: load it first, by "
            f"transformers.AutoTokenizer.from_pretrained({str(tokenizer)!r})"
        )
    require_options_of_as_hf("as_hf", smallest_text, options)
    return accelerate(tokenizer, smallest_text, options)


def accelerate(tokenizer: Any, smallest_text: int | None, options: Mapping[str, Any]) -> Any:
    """What `as_hf` returns. Raises OptionError for the tokenizer, not for options."""
    from tokpar.integrations import hf_release  # imports transformers

    hf_release.require_release()
    from tokpar.integrations import hf
    from tokpar.integrations.hf_python import accelerate_python

    if os.environ.get("TOKPAR_AS_HF") == "0":
        smallest_text = hf.NEVER
    if accelerate_python(tokenizer, partial(as_tiktoken, smallest_text=smallest_text, **options)):
        return tokenizer
    return hf.as_hf(tokenizer, partial(Encoder, **options), smallest_text)


def _own_options(
    *,
    smallest_text: int | None = None,
    strategy: str = "auto",
    executor: str = "auto",
    workers: int | None = None,
    allow_approximate: bool = False,
) -> None:
    """The options of `as_hf`, beside those of the strategy."""


def require_options_of_as_hf(
    door: str, smallest_text: int | None, options: Mapping[str, Any]
) -> None:
    """Raises OptionError for an option that neither `door` nor the strategy has, and for a
    `smallest_text` that is no number of code points."""
    if smallest_text is not None:
        require_count("smallest_text", smallest_text, 0)
    strategy = options.get("strategy", "auto")
    if isinstance(strategy, str) and "+" not in strategy:  # Encoder checks those of other parts
        build = registry().strategy(strategy).build
        require_options(door, [_own_options, build], options)


def as_tiktoken(
    encoding: object, *, smallest_text: int | None = None, **options: Any
) -> tiktoken.Encoding:
    """`encoding`, a tiktoken.Encoding, as a tiktoken.Encoding that encodes through tokpar
    (docs/tiktoken.md). `smallest_text`: code points from which on texts go through
    tokpar; None: all texts, once the tables of the encoding are made. `options`: those of
    `Encoder`. Raises OptionError for another tokenizer, and for an encoding that has its own
    `encode`."""
    from tokpar.integrations.tiktoken_subclass import make_faster

    encoder = Encoder(encoding, **options)
    smallest = encoder.smallest_split if smallest_text is None else smallest_text
    rebuild = partial(_rebuild_tiktoken, smallest_text, options)
    columns = encoder.tokenizer, encoder.unprocessed_batch, smallest, rebuild
    takes_all = smallest_text is None and encoder.front is not None
    return make_faster(*columns, takes_all, worker_count(options.get("workers")))


def _rebuild_tiktoken(
    smallest_text: int | None, options: Mapping[str, Any], encoding: tiktoken.Encoding
) -> Any:
    """Returns `as_tiktoken` of an encoding with these options, in this or another process."""
    from tokpar.integrations.tiktoken_subclass import find_registered

    return as_tiktoken(find_registered(encoding), smallest_text=smallest_text, **options)
