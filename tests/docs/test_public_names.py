"""The names that `import tokpar` gives. What a public function or method returns is among them."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import tiktoken

import tokpar

NAMES = """
Batch ChangedError CheckReport ControlTokenError DecodeStream DecodeStreams Encoder EncoderReport
Encoding EngineError FileFormatError Finding IdRangeError IdTypeError KeptTexts Level LossyError
MismatchError OptionError Piece PluginError PluginRecord Region Report Rows Rule Seam
Seams Session SessionPatch StrategyRecord TextChunk TiktokenPatch TokenizerAdapter TokenizersPatch
TokparError
TransformersPatch Trust TrustedPatch TrustedSession UnknownNameError WorkerError as_hf as_tiktoken
as_tokenizers check count decode encode encode_batch encode_iter encode_segments fit load
patch_tiktoken patch_tokenizers patch_transformers plugins strategies stream
"""
"""All of them. A name that is added or goes is a line of CHANGELOG.md."""
BETWEEN_PARTS = {
    *("Encoder.rows_of_parts", "Encoder.trusted_encoder", "Encoding.make_row", "Encoding.origin"),
    *("Encoder.front", "Seams.derive", "Seams.everywhere", "Seams.planned"),
}
"""What parts of tokpar ask of each other."""


def test_the_public_names_are_these() -> None:
    assert tokpar.__all__ == NAMES.split()
    assert set(dir(tokpar)) == {*tokpar.__all__, "__version__"}
    given = {name for name, value in vars(tokpar).items() if not isinstance(value, ModuleType)}
    assert {name for name in given if name[0] != "_"} <= {*tokpar.__all__, "import_module"}


def returned(name: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """What a public name returns or holds: where, and the module and words of its type."""
    if inspect.isfunction(value):
        yield name, value.__module__, value.__annotations__.get("return")
    if not inspect.isclass(value):
        return
    for member, defined in vars(value).items():
        function = getattr(defined, "fget", None) or getattr(defined, "func", None)
        function = function or getattr(defined, "__func__", defined)
        if member[0] != "_" and inspect.isfunction(function):
            yield f"{name}.{member}", function.__module__, function.__annotations__.get("return")
    for field in dataclasses.fields(value) if dataclasses.is_dataclass(value) else ():
        if field.name[0] != "_":
            yield f"{name}.{field.name}", value.__module__, field.type


def classes(hint: Any) -> Iterator[type]:
    """The classes that a type is made of."""
    if isinstance(hint, type) and typing.get_origin(hint) is None:
        yield hint
    for argument in typing.get_args(hint):
        yield from classes(argument)


def not_exported(namespace: dict[str, Any], module: str, hint: Any) -> list[str]:
    """The classes of tokpar in a type that the namespace lacks. A name that only type checkers
    import must be in the namespace, too."""
    try:
        names = {**namespace, **vars(sys.modules[module])}
        meant = eval(hint, names) if isinstance(hint, str) else hint
    except NameError as error:
        return [str(error)]
    own = [each.__name__ for each in classes(meant) if each.__module__.startswith("tokpar.")]
    return [each for each in own if each not in namespace]


def exported() -> dict[str, Any]:
    return {"tiktoken": tiktoken} | {name: getattr(tokpar, name) for name in tokpar.__all__}


@pytest.mark.parametrize("name", tokpar.__all__)
def test_what_is_returned_is_exported(name: str) -> None:
    namespace = exported()
    found = {
        place: missing
        for place, module, hint in returned(name, namespace[name])
        if place not in BETWEEN_PARTS and (missing := not_exported(namespace, module, hint))
    }
    assert found == {}
