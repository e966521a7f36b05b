"""The names of the classes of drop-ins, and what each drop-in keeps beside its attributes.

`datasets` finds the result of an earlier `map` by a hash of the function, and so of the tokenizer
that the function calls: of its class and of its attributes. It pickles a class by value unless
module and qualified name lead to it. So a class of a drop-in is an attribute of
`hf_named_classes`, in every process, and what calls change lies outside of the object."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokpar.integrations.hf import Acceleration

_MODULE = "tokpar.integrations.hf_named_classes"
classes: dict[str, type] = {}
"""The classes of this process by their qualified names."""
_states: dict[int, tuple[weakref.ref[Any], Acceleration]] = {}
"""What each living drop-in keeps, by its `id`. A slot would forbid `drop_in.__class__ = ...`."""


def give_name(kind: type, base: Any) -> None:
    """Make `kind`, the class of the drop-ins for `base`, an attribute of `hf_named_classes`. Its
    `__name__` is that of `base`, which transformers writes into saved files."""
    name = f"{base.__module__}:{base.__qualname__}".replace(".", "/")
    while name in classes:  # of another class that is made within a function
        name += "'"
    classes[name] = kind
    kind.__name__, kind.__qualname__, kind.__module__ = base.__name__, name, _MODULE


def state_of(drop_in: Any, make: Callable[[], Acceleration]) -> Acceleration:
    """Returns what a drop-in keeps; `make` makes it for an object that transformers made."""
    known = _states.get(id(drop_in))
    return keep(drop_in, make()) if known is None else known[1]


def keep(drop_in: Any, state: Acceleration) -> Acceleration:
    """Keep `state` as long as the drop-in lives. Returns the state that was kept first."""
    key = id(drop_in)
    return _states.setdefault(key, (weakref.ref(drop_in, partial(_forget, key)), state))[1]


def _forget(key: int, reference: weakref.ref[Any]) -> None:
    known = _states.get(key)
    if known is not None and known[0] is reference:
        del _states[key]


def of_base(drop_in: Any, base: Any) -> Any:
    """Returns an object with the attributes of a drop-in, of a class that differs from `base` in
    nothing but the `_auto_class` of the drop-in: what transformers saves names module and class."""
    names = {"__module__": base.__module__, "__qualname__": base.__qualname__}
    kind = type(base.__name__, (base,), {**names, "_auto_class": drop_in._auto_class})
    found: Any = object.__new__(kind)
    found.__dict__ = drop_in.__dict__
    return found
