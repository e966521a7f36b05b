"""`tokpar.patch_tiktoken`: `tiktoken.get_encoding` and `encoding_for_model` return accelerated
encodings, in programs that get their encoding themselves."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from types import ModuleType, TracebackType
from typing import Any

from tokpar.encoder import Encoder
from tokpar.errors import OptionError, TokparError
from tokpar.integrations import as_tiktoken, require_options_of_as_hf
from tokpar.process.fork_locks import own_lock
from tokpar.process.interrupts import raise_foreign

_LOG = logging.getLogger("tokpar")
_NAME = "get_encoding"
_lock = own_lock(sys.modules[__name__])
_active: TiktokenPatch | None = None

GetEncoding = Callable[..., Any]


class TiktokenPatch:
    """The change to tiktoken, which `undo` takes back. A context manager that undoes itself."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self._encodings: dict[str, tuple[Any, Any]] = {}
        """By name: tiktoken's own object, and what is returned in its place."""
        self._wrappers: list[tuple[GetEncoding, GetEncoding]] = []
        """Functions of tiktoken, and what replaces each."""
        self._lock = own_lock(self)

    @property
    def active(self) -> bool:
        """The patch was applied and not undone."""
        return _active is self

    def undo(self) -> None:
        """`get_encoding` returns tiktoken's own objects again, also where a module took the name
        meanwhile; objects that were returned keep working. Raises OptionError if the patch is not
        active, or something patched over it."""
        global _active
        with _lock:
            if not self.active:
                raise OptionError("this patch was undone before; patch_tiktoken() applies one")
            for module in _modules_of_tiktoken():
                if not any(vars(module).get(_NAME) is ours for _, ours in self._wrappers):
                    raise OptionError(
                        f"{module.__name__}.{_NAME} was replaced again after this patch: undo that "
                        "change first"
                    )
            _active = None  # from now on a wrapper that somebody kept returns the own object
            _replace([(ours, own) for own, ours in self._wrappers])

    def __enter__(self) -> TiktokenPatch:
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
        for module in _modules_of_tiktoken():
            own = vars(module)[_NAME]
            if not any(own is each for each, _ in self._wrappers):
                self._wrappers.append((own, self._wrap(own)))
        _replace(self._wrappers)

    def _wrap(self, own: GetEncoding) -> GetEncoding:
        @wraps(own)
        def get_encoding(*given: Any, **named: Any) -> Any:
            encoding = own(*given, **named)
            return self._accelerated(encoding) if self.active else encoding

        return get_encoding

    def _accelerated(self, encoding: Any) -> Any:
        """Returns the one object that stands for an encoding of tiktoken."""
        name = encoding.name
        kept = self._encodings.get(name)
        if kept is None or kept[0] is not encoding:
            with self._lock:
                kept = self._encodings.get(name)
                if kept is None or kept[0] is not encoding:
                    kept = self._encodings[name] = encoding, _accelerate(self.options, encoding)
        return kept[1]


def patch_tiktoken(*, smallest_text: int | None = None, **options: Any) -> TiktokenPatch:
    """Make `tiktoken.get_encoding` and `tiktoken.encoding_for_model` return the objects that
    `tokpar.as_tiktoken` makes, with these arguments: one object for each encoding.

    Reached are all calls through tiktoken and its modules; a `get_encoding` that a module took by
    `from tiktoken import get_encoding` before; and each `encoding_for_model`, however it was taken.
    Not reached are `get_encoding` under another name, in a class or in a variable of a function,
    encodings that were got before, and `tiktoken.Encoding(...)`, which `as_tiktoken` takes.

    Encodings that `as_tiktoken` refuses or fails on are returned as tiktoken made them, and the
    logger "tokpar" says why. A second call with the same arguments returns the active patch.
    Raises OptionError for other arguments while a patch is active."""
    global _active
    asked = {"smallest_text": smallest_text, **options}
    require_options_of_as_hf("patch_tiktoken", smallest_text, options)
    Encoder(_smallest_encoding(), **options)  # its error for the value of an option comes now
    with _lock:
        if _active is not None and _active.options != asked:
            raise OptionError(
                f"tiktoken is patched already, with {_active.options}: undo() that patch before "
                f"one with {asked}"
            )
        if _active is None:
            patch = TiktokenPatch(asked)
            patch._apply()
            _active = patch  # its wrappers return the own objects until now
        return _active


def _smallest_encoding() -> Any:
    """Returns an encoding that takes no time to load: each byte is a token."""
    import tiktoken  # only where tiktoken is to be patched

    ranks = {bytes([byte]): byte for byte in range(256)}
    return tiktoken.Encoding("bytes", pat_str=r"[\s\S]", mergeable_ranks=ranks, special_tokens={})


def _modules_of_tiktoken() -> tuple[ModuleType, ModuleType, ModuleType]:
    """The modules whose `get_encoding` tiktoken itself and its users call."""
    import tiktoken.model  # only where tiktoken is to be patched
    import tiktoken.registry

    return tiktoken, tiktoken.registry, tiktoken.model


def _replace(pairs: Sequence[tuple[GetEncoding, GetEncoding]]) -> None:
    """Replace the first function of each pair by the second, in each module that has it by
    tiktoken's name for it."""
    for module in [*sys.modules.values()]:
        found = vars(module).get(_NAME) if isinstance(module, ModuleType) else None
        for old, new in pairs:
            if found is old:
                setattr(module, _NAME, new)


def _accelerate(options: dict[str, Any], encoding: Any) -> Any:
    """Returns `as_tiktoken` of an encoding; or the encoding itself, and logs why."""
    try:
        from tokpar.integrations.tiktoken_subclass import TokparEncoding  # imports tiktoken

        if isinstance(encoding, TokparEncoding):
            return encoding
        return as_tiktoken(encoding, **options)
    except Exception as error:  # a fault of ours is no reason for a program to end
        raise_foreign(error)
        said = str(error) if isinstance(error, TokparError) else f"{type(error).__name__}: {error}"
        _LOG.warning("the encoding %s is left as it is: %s", encoding.name, said)
        return encoding
