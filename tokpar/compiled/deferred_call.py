"""A compiled call whose tables are mapped or made when the first text comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokpar.compiled.compiled_build import BEING_MADE, CallParts, LaterCall

if TYPE_CHECKING:
    from tokpar.compiled.compiled_call import CompiledCall


class DeferredCall(LaterCall):
    """A `LaterCall` whose tables are mapped or made when somebody first looks at `call`. From then
    on the object is a plain `LaterCall`."""

    def __init__(self, parts: CallParts) -> None:
        self._why_none, self.tables, self._parts = BEING_MADE, "", parts

    def __getattr__(self, name: str) -> CompiledCall | None:
        if name != "call":
            raise AttributeError(name)
        parts = self.__dict__.pop("_parts", None)  # one thread gets them; others do not wait
        if parts is not None:
            self.__dict__["call"] = None
            self.__class__ = LaterCall  # type: ignore[assignment]  # one class further up
            self._start(parts)
        return self.__dict__.get("call")

    @property
    def why_none(self) -> str:
        """Why no compiled call answers, in words."""
        return "its tables are made when the first text comes"

    def wait(self) -> CompiledCall | None:
        """Returns the call, after its tables were made; None if there is none."""
        if self.call is None and type(self) is LaterCall:  # the look has started it
            return self.wait()
        return self.call
