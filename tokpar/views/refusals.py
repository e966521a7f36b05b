"""What a view says to calls that it does not answer."""

from __future__ import annotations

from typing import NoReturn


def missing(view: object, name: str, original: str) -> NoReturn:
    """AttributeError for a name that the view does not have."""
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"{type(view).__name__} has no {name!r}, which encodes no text in parallel or is not exact "
        f"here: call it on {original} itself"
    )


def unpicklable(view: object, original: str) -> NoReturn:
    """TypeError: pools and locks stay in their process."""
    raise TypeError(
        f"{type(view).__name__} cannot be pickled, its encoder holds workers: pickle {original} "
        "and make the view where it is used"
    )


def own_methods(cls: type, names: tuple[str, ...], home: str) -> list[str]:
    """Those of the methods that a class has from somewhere else than modules `home...`."""
    found = []
    for name in names:
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if owner is not None and not owner.__module__.startswith(home):
            found.append(name)
    return found
