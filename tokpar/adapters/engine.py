"""Engines of other packages: they turn text into ids, the file tells everything else. A plugin
describes one by an `Engine`; `load_engine` compares its ids with those of the file's library."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module, metadata
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokpar.adapters.engine_files import JsonFile, RankFile
from tokpar.adapters.hf_version import numbers
from tokpar.adapters.probing import probing
from tokpar.adapters.settings import raise_panic
from tokpar.arrays import IdArray, SpanArray, has_surrogate
from tokpar.cuts.finder import finder_for
from tokpar.errors import EngineError, OptionError, TokparError
from tokpar.interfaces import TokenizerAdapter, TokenizerSource, facts_of
from tokpar.parity import Drawn, release, require_agreement
from tokpar.parity.drawn_texts import drawn_texts
from tokpar.types import Piece, Rows

TRUSTED = "trusted, not checked"
SLICE = 8_192  # code points, the least of a slice; the check compares texts of that size, too
_PASSING = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, TokparError)


@dataclass(frozen=True)
class Calls:
    """The ids of one text, and the rows of several, the same for the same text, before finishing.
    Both must let go of the GIL; rows are best made without an object for each text."""

    encode: Callable[[str], IdArray]
    encode_many: Callable[[list[str]], Rows]


@dataclass(frozen=True)
class Engine:
    """A package that is an engine. `least`: the oldest version that is known to work.

    `of_json` and `of_ranks` get the imported package and a file. What they raise is taken for the
    engine's refusal; they raise `unhonoured` themselves. `of_ranks`: None if there is none.
    `differs` says why the ids of a file are known to be others, whatever texts are compared; None
    if that is not known. A file that is trusted is not asked about."""

    name: str
    least: str
    of_json: Callable[[Any, JsonFile], Calls]
    of_ranks: Callable[[Any, RankFile], Calls] | None = None
    differs: Callable[[JsonFile], str | None] = lambda file: None


def engine_source(engine: Engine) -> TokenizerSource:
    """The source that a plugin offers: files are loaded by `load_engine`, if asked for by name."""
    return TokenizerSource(engine.name, partial(load_engine, engine), automatic=False)


def load_engine(
    engine: Engine, source: object, *, trust: bool = False, cut: bool = False, **settings: Any
) -> EngineTokenizer | None:
    """An adapter of the file that a path names; None if `source` is no path.

    `trust` leaves out the comparison with the library that the file was made for. With `cut` tokpar
    cuts the text as it would for that library, which is licensed as far as the ids agree; without,
    the engine gets whole texts. `settings` are those that `tokpar.load` takes for such a file.
    Raises EngineError if the ids differ, or the engine refuses the file or is not installed;
    OptionError, FileFormatError, FileNotFoundError."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    for name, flag in (("trust", trust), ("cut", cut)):
        if not isinstance(flag, bool):
            raise OptionError(f"{name} must be True or False, got {flag!r}")
    if trust and cut:
        raise OptionError("cut=True needs the comparison that trust=True leaves out: pass only one")
    module = engine_module(engine)
    file = _file(engine, Path(source), settings)
    why = engine.differs(file) if isinstance(file, JsonFile) and not trust else None
    if why is not None:
        raise EngineError(f"{file.path}: {why}; {_advice(file.path)}")
    adapter = EngineTokenizer(engine.name, _calls(engine, module, file), file, cut)
    outcome, own = TRUSTED, f"or take the ids of {engine.name} as they are: trust=True"
    if not trust:
        outcome = require_agreement(
            adapter,
            file.reference,
            key=file.key,
            engine=release(engine.name),
            library=release(file.library),
            advice=f"{_advice(file.path)}; {own}",
            slices=certified_slices,
            drawn=Drawn(
                partial(drawn_texts, file.written, file.added),
                partial(_probing, engine, module, file),
            ),
        )
    adapter.facts = replace(adapter.facts, agreement=outcome)
    return adapter


def engine_module(engine: Engine) -> Any:
    """The imported package. EngineError, which says how to install it, if missing or too old."""
    name, install = engine.name, f"pip install '{engine.name}>={engine.least}'"
    try:
        found = metadata.version(name)
        module = import_module(name)
    except ImportError as error:  # PackageNotFoundError is one
        raise EngineError(f"engine {name!r} needs the package {name}: {install}") from error
    if numbers(found) < numbers(engine.least):
        raise EngineError(
            f"engine {name!r} needs {name} {engine.least} or later, {found} is installed: {install}"
        )
    return module


def unhonoured(engine: Engine, file: JsonFile, content: str, flag: str, does: str) -> EngineError:
    """Refuses a file for a flag of an added token; `does` is what the engine does instead."""
    return EngineError(
        f"{file.path}: added token {content!r} has {flag}, but {engine.name} {does}; "
        f"{_advice(file.path)}"
    )


class EngineTokenizer:
    """The adapter; see `load_engine`."""

    def __init__(self, name: str, calls: Calls, file: JsonFile | RankFile, cut: bool) -> None:
        self._engine = name
        self._calls = calls
        self._file = file
        self.name = f"{name}:{file.path.stem}"
        """The engine and the name of the file: "gigatoken:deepseek"."""
        known = file.facts if cut else replace(file.facts, engine=name, unprovable=_WHOLE)
        self.facts = replace(
            known, releases_gil=True, returns_objects=False, added_token_cuts_refused=_UNPARTED
        )
        """What proofs may use: nothing without `cut`."""
        self._plain = file.around is not None and not any(map(len, file.around))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def check_text(self, text: str) -> None:
        """Raises tiktoken's error for a disallowed special token, the engine's for a surrogate."""
        self._file.check_text(text)
        if has_surrogate(text):
            self._calls.encode(text)

    def encode(self, text: str) -> IdArray:
        """The engine's own call; uint32, (n,). Raises its errors, and EngineError on a panic."""
        try:
            return self._calls.encode(text)
        except BaseException as error:
            raise_panic(error, self._engine, [text])
            raise

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """The engine's batch call. Raises as `encode` does."""
        try:
            rows = self._calls.encode_many(texts if isinstance(texts, list) else list(texts))
        except BaseException as error:
            raise_panic(error, self._engine, texts)
            raise
        if not spans:
            return rows
        return Rows.of_pieces(
            [Piece(rows[k], self.locate(rows[k], text)) for k, text in enumerate(texts)]
        )

    def encode_whole(self, text: str) -> IdArray:
        """`encode`, then `postprocess`. Raises what `check_text` and `encode` raise."""
        self._file.check_text(text)
        ids = self.encode(text)
        return ids if self._plain else self._file.postprocess(Rows.of([ids]))[0]

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """Ids of whole texts: cut, with special tokens, padded to the longest, as the file says."""
        return self._file.postprocess(rows)

    @property
    def around(self) -> tuple[IdArray, IdArray] | None:
        """Ids that `postprocess` puts before and after a text; None where it may cut or pad."""
        return self._file.around

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans; LookupError if these are not the ids of `text`. Where tokens do not
        tile the text, the file's library encodes it again."""
        return self._file.locate(ids, text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids by the library of the file, special tokens included."""
        return self._file.decode(ids)


_UNPARTED = "how this engine finds added tokens is not proved"
_WHOLE = (
    "how this engine scans a text is not proved, and it divides long ones by itself; "
    "cut=True goes by the library it was compared with"
)


def _file(engine: Engine, path: Path, settings: Mapping[str, Any]) -> JsonFile | RankFile:
    if path.suffix == ".json":
        return JsonFile(path, **settings)
    if path.suffix == ".tiktoken" and engine.of_ranks is not None:
        return RankFile(path, settings)
    kinds = "tokenizer.json files" + " and .tiktoken files" * (engine.of_ranks is not None)
    raise OptionError(f"engine {engine.name!r} reads {kinds}, got {path}; {_advice(path)}")


def _calls(engine: Engine, module: Any, file: JsonFile | RankFile) -> Calls:
    try:
        if isinstance(file, JsonFile):
            return engine.of_json(module, file)
        assert engine.of_ranks is not None
        return engine.of_ranks(module, file)
    except _PASSING:
        raise
    except BaseException as error:
        said = f"{type(error).__name__}: {str(error).split(chr(10) * 2)[0]}"
        raise EngineError(
            f"{release(engine.name)} refuses {file.path} ({said}); {_advice(file.path)}"
        ) from error


def _probing(
    engine: Engine, module: Any, file: JsonFile | RankFile, texts: Sequence[str]
) -> tuple[TokenizerAdapter, TokenizerAdapter] | None:
    """The engine and the library with a file of the same stages that shows where they divide."""
    with TemporaryDirectory() as folder:
        probe = probing(file, texts, Path(folder))
        if probe is None:
            return None
        try:
            calls = _calls(engine, module, probe)
        except EngineError as error:  # it is about the stages, which are those of the file
            raise EngineError(str(error).replace(str(probe.path), str(file.path))) from error
        return EngineTokenizer(engine.name, calls, probe, False), probe.reference()


def certified_slices(tokenizer: TokenizerAdapter, text: str) -> list[str]:
    """Slices of SLICE code points or more between cuts that are certified (K1, K2, K3), so that
    each has, alone, the ids that the whole text has there; the text itself if there are none."""
    finder = finder_for(facts_of(tokenizer))
    if finder.refusal_for(text) is not None:
        return [text]
    seams = finder.find_each(text, SLICE)
    if any("absorbed" in dict(seam.witness) for seam in seams):  # alone it has an id more (6.4)
        return [text]
    edges = [0, *(seam.position for seam in seams), len(text)]
    return [text[start:stop] for start, stop in pairwise(edges)]


def _advice(path: Path) -> str:
    return f"load it with its own library: tokpar.load({str(path)!r})"
