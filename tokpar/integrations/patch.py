"""`tokpar.patch_transformers`: `from_pretrained` returns accelerated tokenizers, in programs that
load their tokenizer themselves."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import cache, wraps
from types import TracebackType
from typing import Any

from tokpar.encoder import Encoder
from tokpar.errors import OptionError, TokparError
from tokpar.integrations import accelerate, require_options_of_as_hf
from tokpar.process.fork_locks import in_child, own_lock
from tokpar.process.interrupts import raise_foreign

_LOG = logging.getLogger("tokpar")
_lock = own_lock(sys.modules[__name__])
_active: TransformersPatch | None = None
_unfinished: TransformersPatch | None = None
"""The patch that a thread is applying or undoing."""


class TransformersPatch:
    """The change to transformers, which `undo` takes back. A context manager that undoes itself."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.on_first_tokenizer: Callable[[], object] | None = None
        """Called once, when `from_pretrained` first returns an object of tokpar."""
        self._replacements: list[tuple[type, Any, Any]] = []  # class, what it had, what it has

    @property
    def active(self) -> bool:
        """The patch was applied and not undone."""
        return _active is self

    def undo(self) -> None:
        """`from_pretrained` returns transformers' own objects again; objects that were made keep
        working. Raises OptionError if the patch is not active, or something patched over it."""
        with _lock:
            if not self.active:
                raise OptionError("this patch was undone before; patch_transformers() applies one")
            for kind, _, ours in self._replacements:
                if vars(kind).get("from_pretrained") is not ours:
                    raise OptionError(
                        f"{kind.__name__}.from_pretrained was replaced again after this patch: "
                        "undo that change first"
                    )
            self._put_back()

    def __enter__(self) -> TransformersPatch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.active:
            self.undo()

    def _apply(self) -> bool:
        """Replace both methods. False, and a line in the log, if neither could be replaced."""
        try:
            self._replace_methods()
        except Exception as error:  # other classes than tokpar knows
            raise_foreign(error)
            self._put_back()
            _log_unpatched(error)
        return bool(self._replacements)

    def _put_back(self) -> None:
        """Undo what was replaced; again, if another thread of a parent process had begun to."""
        global _active, _unfinished
        _unfinished = self
        for kind, before, _ in self._replacements:
            _put_back(kind, before)
        self._replacements, _active = [], None
        _unfinished = None

    def _replace_methods(self) -> None:
        from transformers import AutoTokenizer, PreTrainedTokenizerFast

        make = self._accelerate
        for kind in (AutoTokenizer, PreTrainedTokenizerFast):
            before = vars(kind).get("from_pretrained")
            ours = _wrap_from_pretrained(kind.from_pretrained.__func__, make)
            self._replacements.append((kind, before, ours))
            kind.from_pretrained = ours

    def _accelerate(self, tokenizer: Any) -> Any:
        found, is_made = _accelerate(self.options, tokenizer)
        if is_made and self.on_first_tokenizer is not None:
            on_first, self.on_first_tokenizer = self.on_first_tokenizer, None
            on_first()
        return found


def patch_transformers(*, smallest_text: int | None = None, **options: Any) -> TransformersPatch:
    """Make `AutoTokenizer.from_pretrained` and `PreTrainedTokenizerFast.from_pretrained` return the
    objects that `tokpar.as_hf` makes, with these arguments.

    Tokenizers that `as_hf` refuses or fails on are returned as transformers made them, and the
    logger "tokpar" says why. So does one line where nothing of the installed
    transformers can be patched: the result is not active then. A second call with the same
    arguments returns the active patch. Raises OptionError for other arguments while a patch is
    active, and for transformers below 4.46; ImportError without transformers."""
    global _active, _unfinished
    asked = {"smallest_text": smallest_text, **options}
    require_options_of_as_hf("patch_transformers", smallest_text, options)
    Encoder(**options)  # its error for the value of an option comes now
    with _lock:
        if _active is not None and _active.options != asked:
            raise OptionError(
                f"transformers is patched already, with {_active.options}: undo() that patch "
                f"before one with {asked}"
            )
        if _active is not None:
            return _active
        patch = TransformersPatch(asked)
        if _can_import_hf():
            _unfinished = patch
            try:
                _active = patch if patch._apply() else None
            finally:
                _unfinished = None
        return patch


def _undo_unfinished() -> None:
    """In a child that was forked while another thread changed transformers: nothing is patched."""
    if _unfinished is not None:
        _unfinished._put_back()


in_child(_undo_unfinished)


def _can_import_hf() -> bool:
    """False, and a line in the log, if the installed transformers lacks what `as_hf` imports.

    Raises ImportError without transformers, OptionError for transformers below 4.46."""
    from importlib.util import find_spec  # only where transformers is to be patched

    try:
        from tokpar.integrations import hf_release

        hf_release.require_release()
        from tokpar.integrations import hf  # noqa: F401
    except ImportError as error:
        if find_spec("transformers") is None:
            raise
        _log_unpatched(error.__cause__ or error)
        return False
    return True


def _log_unpatched(error: BaseException) -> None:
    said = f"{type(error).__name__}: {error}"
    _LOG.warning("transformers is left as it is: it cannot be patched (%s)", said)


def _put_back(kind: Any, method: Any) -> None:
    if method is not None:
        kind.from_pretrained = method
    elif "from_pretrained" in vars(kind):
        del kind.from_pretrained


def _accelerate(options: dict[str, Any], tokenizer: Any) -> tuple[Any, bool]:
    """Returns `as_hf` of a tokenizer, and True; or the tokenizer itself, and False."""
    encoder_options = {k: v for k, v in options.items() if k != "smallest_text"}
    try:
        from tokpar.integrations import hf

        if isinstance(tokenizer, hf.AcceleratedMixin):
            return tokenizer, False
        return accelerate(tokenizer, options["smallest_text"], encoder_options), True
    except Exception as error:  # a fault of ours is no reason for a program to end
        raise_foreign(error)
        said = str(error) if isinstance(error, TokparError) else f"{type(error).__name__}: {error}"
        _log_once(f"{type(tokenizer).__name__} is left as it is: {said}")
        return tokenizer, False


@cache
def _log_once(message: str) -> None:
    """`AutoTokenizer` calls the `from_pretrained` of a class, and both are patched."""
    _LOG.warning(message)


def _wrap_from_pretrained(own: Callable[..., Any], make: Callable[[Any], Any]) -> Any:
    @wraps(own)
    def from_pretrained(cls: type, *args: Any, **kwargs: Any) -> Any:
        return make(own(cls, *args, **kwargs))

    return classmethod(from_pretrained)
