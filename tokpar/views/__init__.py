"""An encoder behind the call interface of transformers or of tiktoken (docs/views.md)."""

from typing import ClassVar, NoReturn


class View:
    """Stands for `original`, in words."""

    _original: ClassVar[str]

    def __getattr__(self, name: str) -> NoReturn:
        """AttributeError for a name that the view does not have."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            f"{type(self).__name__} has no {name!r}, which encodes no text in parallel or is not "
            f"exact here: call it on {self._original} itself"
        )

    def __reduce__(self) -> NoReturn:
        """TypeError: pools and locks stay in their process."""
        raise TypeError(
            f"{type(self).__name__} cannot be pickled, its encoder holds workers: pickle "
            f"{self._original} and make the view where it is used"
        )
