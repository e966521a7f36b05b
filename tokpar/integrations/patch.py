"""`tokpar.patch_transformers`: `from_pretrained` returns accelerated tokenizers, in programs that
load their tokenizer themselves."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from functools import cache, partial, wraps
from types import TracebackType
from typing import Any

from tokpar.encoder import Encoder
from tokpar.errors import OptionError
from tokpar.integrations import require_options_of_as_hf

VARIABLE = "TOKPAR_PATCH_TRANSFORMERS"
"""Set to 1 (or 0): whether `python -m tokpar.run` and the vLLM plugin patch transformers."""
_LOG = logging.getLogger("tokpar")
_lock = threading.Lock()
_active: Patch | None = None


class Patch:
    """The change to transformers, which `undo` takes back. A context manager that undoes itself."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self._replacements: list[tuple[type, Any, Any]] = []  # class, what it had, what it has

    @property
    def active(self) -> bool:
        """The patch was applied and not undone."""
        return _active is self

    def undo(self) -> None:
        """`from_pretrained` returns transformers' own objects again; objects that were made keep
        working. Raises OptionError if the patch is not active, or something patched over it."""
        global _active
        with _lock:
            if not self.active:
                raise OptionError("this patch was undone before; patch_transformers() applies one")
            for kind, _, ours in self._replacements:
                if vars(kind).get("from_pretrained") is not ours:
                    raise OptionError(
                        f"{kind.__name__}.from_pretrained was replaced again after this patch: "
                        "undo that change first"
                    )
            for kind, before, _ in self._replacements:
                if before is None:
                    del kind.from_pretrained  # type: ignore[attr-defined]
                else:
                    kind.from_pretrained = before  # type: ignore[attr-defined]
            self._replacements, _active = [], None

    def __enter__(self) -> Patch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.active:
            self.undo()

    def _apply(self) -> None:
        from transformers import AutoTokenizer, PreTrainedTokenizerFast

        make = partial(_accelerate, self.options)
        for kind in (AutoTokenizer, PreTrainedTokenizerFast):
            before = vars(kind).get("from_pretrained")
            ours = _wrap_from_pretrained(kind.from_pretrained.__func__, make)
            kind.from_pretrained = ours
            self._replacements.append((kind, before, ours))


def patch_transformers(*, smallest_text: int | None = None, **options: Any) -> Patch:
    """Make `AutoTokenizer.from_pretrained` and `PreTrainedTokenizerFast.from_pretrained` return the
    objects that `tokpar.as_hf` makes, with these arguments.

    Tokenizers that `as_hf` refuses, as slow ones, are returned as transformers made them, and the
    logger "tokpar" says why. A second call with the same arguments returns the active patch.
    Raises OptionError for other arguments while a patch is active, and for transformers below 5."""
    global _active
    asked = {"smallest_text": smallest_text, **options}
    from tokpar.integrations import hf

    hf.require_release()
    require_options_of_as_hf("patch_transformers", smallest_text, options)
    Encoder(**options)  # its error for the value of an option comes now
    with _lock:
        if _active is None:
            patch = Patch(asked)
            patch._apply()
            _active = patch
        elif _active.options != asked:
            raise OptionError(
                f"transformers is patched already, with {_active.options}: undo() that patch "
                f"before one with {asked}"
            )
        return _active


def patch_wanted() -> bool:
    """What the environment variable TOKPAR_PATCH_TRANSFORMERS asks for; True if it is not set.
    Raises OptionError for a value other than 1 and 0."""
    value = os.environ.get(VARIABLE, "1")
    if value not in ("0", "1"):
        raise OptionError(f"{VARIABLE} must be 1 or 0, got {value!r}")
    return value == "1"


def _accelerate(options: dict[str, Any], tokenizer: Any) -> Any:
    from tokpar.integrations import hf

    encoder_options = {k: v for k, v in options.items() if k != "smallest_text"}
    if isinstance(tokenizer, hf.AcceleratedMixin):
        return tokenizer
    try:
        return hf.as_hf(tokenizer, partial(Encoder, **encoder_options), options["smallest_text"])
    except OptionError as error:
        _log_once(f"{type(tokenizer).__name__} is left as it is: {error}")
        return tokenizer


@cache
def _log_once(message: str) -> None:
    """`AutoTokenizer` calls the `from_pretrained` of a class, and both are patched."""
    _LOG.warning(message)


def _wrap_from_pretrained(own: Callable[..., Any], make: Callable[[Any], Any]) -> Any:
    @wraps(own)
    def from_pretrained(cls: type, *args: Any, **kwargs: Any) -> Any:
        return make(own(cls, *args, **kwargs))

    return classmethod(from_pretrained)
