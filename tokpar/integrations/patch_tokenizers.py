"""`tokpar.patch_tokenizers`: `Tokenizer.from_file` and its like return accelerated objects, in
programs that load their tokenizer themselves."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any

from tokenizers import Tokenizer

from tokpar.encoder import Encoder
from tokpar.errors import OptionError, TokparError
from tokpar.integrations.tokenizers_functions import as_tokenizers
from tokpar.integrations.tokenizers_source import require_release
from tokpar.process.fork_locks import in_child, own_lock
from tokpar.process.interrupts import raise_foreign

_LOG = logging.getLogger("tokpar")
NAMES = ("from_file", "from_str", "from_buffer", "from_pretrained")
"""The static methods of `Tokenizer` that are patched."""
_SPARED = ("transformers", "tokpar", "tokenizers")
"""Packages whose calls get the plain objects: each makes its own use of them."""
_lock = own_lock(sys.modules[__name__])
_active: TokenizersPatch | None = None
_unfinished: TokenizersPatch | None = None
"""The patch that a thread is applying or undoing."""


class TokenizersPatch:
    """The change to tokenizers, which `undo` takes back. A context manager that undoes itself."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self._replacements: dict[str, tuple[Any, Any]] = {}
        """By name: what the class had, and what it has."""

    @property
    def active(self) -> bool:
        """The patch was applied and not undone."""
        return _active is self

    def undo(self) -> None:
        """`Tokenizer.from_file` returns plain objects again, also where somebody kept the patched
        function; objects that were made keep working. Raises OptionError if the patch is not
        active, or something patched over it."""
        with _lock:
            if not self.active:
                raise OptionError("this patch was undone before; patch_tokenizers() applies one")
            for name, (_, ours) in self._replacements.items():
                if vars(Tokenizer).get(name) is not ours:
                    raise OptionError(
                        f"Tokenizer.{name} was replaced again after this patch: undo that change "
                        "first"
                    )
            self._put_back()

    def __enter__(self) -> TokenizersPatch:
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
        for name in NAMES:
            before = vars(Tokenizer)[name]
            ours = staticmethod(self._wrap(getattr(Tokenizer, name)))
            self._replacements[name] = before, ours
            setattr(Tokenizer, name, ours)

    def _put_back(self) -> None:
        """Undo what was replaced; again, if another thread of a parent process had begun to."""
        global _active, _unfinished
        _unfinished = self
        for name, (before, _) in self._replacements.items():
            setattr(Tokenizer, name, before)
        _active = None
        _unfinished = None

    def _wrap(self, own: Callable[..., Tokenizer]) -> Callable[..., Tokenizer]:
        @wraps(own)
        def load(*args: Any, **kwargs: Any) -> Tokenizer:
            found = own(*args, **kwargs)
            caller = sys._getframe(1).f_globals.get("__name__", "")
            return found if _is_spared(caller) or not self.active else _accelerate(found, self)

        return load


def patch_tokenizers(**options: Any) -> TokenizersPatch:
    """Make `Tokenizer.from_file`, `from_str`, `from_buffer` and `from_pretrained` of tokenizers
    return the objects that `tokpar.as_tokenizers` makes, with these options.

    Not reached are a `from_file` that was taken from the class before, `Tokenizer(model)`, the
    classes of `tokenizers.implementations`, and calls of transformers and tokpar, which get plain
    objects: transformers is patched by `patch_transformers`.

    Objects that `as_tokenizers` fails on are returned plain, and the logger "tokpar" says why. A
    second call with the same options returns the active patch. Raises OptionError for other
    options while a patch is active, and for tokenizers 1.x."""
    global _active, _unfinished
    Encoder(**options)  # its error for the value of an option comes now
    require_release()
    with _lock:
        if _active is not None and _active.options != options:
            raise OptionError(
                f"tokenizers is patched already, with {_active.options}: undo() that patch before "
                f"one with {options}"
            )
        if _active is None:
            patch = _unfinished = TokenizersPatch(options)
            patch._apply()
            _active, _unfinished = patch, None
        return _active


def _undo_unfinished() -> None:
    """In a child that was forked while another thread changed the class: nothing is patched."""
    if _unfinished is not None:
        _unfinished._put_back()


in_child(_undo_unfinished)


def _is_spared(module: str) -> bool:
    package = module.partition(".")[0]
    return package in _SPARED or package.startswith("tokpar_")


def _accelerate(tokenizer: Tokenizer, patch: TokenizersPatch) -> Tokenizer:
    """Returns the tokenizer with the functions; or the tokenizer itself, and logs why."""
    try:
        return as_tokenizers(tokenizer, **patch.options)
    except Exception as error:  # a fault of ours is no reason for a program to end
        raise_foreign(error)
        said = str(error) if isinstance(error, TokparError) else f"{type(error).__name__}: {error}"
        _LOG.warning("a tokenizer of tokenizers is left as it is: %s", said)
        return tokenizer
