"""Adapters of engines from other packages: the engine encodes, the file's own library does the
rest.

A plugin describes its engine by an `Engine`. `load_engine` compares the engine's ids with the ids
of the file's own library."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module, metadata
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokpar import EngineError, OptionError, Rows, TokparError
from tokpar.plugin.split import finder_for
from tokpar.plugin.tokenizer import (
    DecodingParts,
    EngineTraits,
    IdArray,
    Loader,
    Origin,
    Piece,
    PostProcesses,
    SpanArray,
    TokenizerAdapter,
    TokenizerSource,
    cached_property,
    facts_of,
    has_surrogate,
    inserted_ids,
    raise_foreign,
)
from tokpar_engines.agreement import FileTexts, release, require_agreement
from tokpar_engines.engine_files import JsonFile, RankFile
from tokpar_engines.probing import make_probing_file

TRUSTED = "trusted, not checked"
SLICE = 8_192  # the least code points of a slice; the comparison has texts of that size, too
_PASSING = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, TokparError)


@dataclass(frozen=True)
class Calls:
    """The two calls of an engine, for one text and for several. Both return ids before
    post-processing.

    Both calls return the same ids for the same text, and release the GIL. `encode_many` should not
    make an object for each text."""

    encode: Callable[[str], IdArray]
    encode_many: Callable[[list[str]], Rows]


@dataclass(frozen=True)
class Engine:
    """A package that is an engine. `least`: the oldest version that is known to work.

    `of_json` and `of_ranks` get the imported package and a file, and return the engine's `Calls`.
    An exception that they raise counts as the engine's refusal; they may raise the error of
    `unhonoured`. `of_ranks` is None if the engine does not read rank files.

    `differs` returns why the engine is known to give wrong ids for a file, or None. With a reason,
    the file is refused and no texts are compared. `differs` is not called for a trusted file."""

    name: str
    least: str
    of_json: Callable[[Any, JsonFile], Calls]
    of_ranks: Callable[[Any, RankFile], Calls] | None = None
    differs: Callable[[JsonFile], str | None] = lambda file: None


_JSON, _RANKS = ".json", ".tiktoken"
"""Suffixes of the files that an engine may read."""


def engine_source(engine: Engine) -> TokenizerSource:
    """Returns the source that a plugin registers. If the user names the engine, the source loads a
    file by `load_engine`."""
    return TokenizerSource(engine.name, partial(load_engine, engine), automatic=False)


def load_engine(
    engine: Engine, source: object, *, trust: bool = False, cut: bool = False, **settings: Any
) -> EngineTokenizer | None:
    """Returns the adapter of a file for this engine, or None if `source` is no path of a file.

    `trust` skips the comparison with the file's own library. With `cut`, tokpar cuts texts as it
    does for the file's own library; the cuts are licensed as far as the ids were compared. Without
    `cut`, the engine gets whole texts. `settings`: the settings of `tokpar.load` for this kind of
    file.

    Raises EngineError if the ids differ, if the engine refuses the file, or if the engine is not
    installed; OptionError, FileFormatError, FileNotFoundError."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    path = Path(source)
    if path.is_dir() or (path.suffix not in (_JSON, _RANKS) and not path.exists()):
        return None  # `tokpar.load` finds the file for a directory or a name
    for name, flag in (("trust", trust), ("cut", cut)):
        if not isinstance(flag, bool):
            raise OptionError(f"{name} must be True or False, got {flag!r}")
    if trust and cut:
        raise OptionError("cut=True needs the comparison that trust=True leaves out: pass only one")
    module = engine_module(engine)
    file = _file(engine, path, settings)
    why = engine.differs(file) if isinstance(file, JsonFile) and not trust else None
    if why is not None:
        raise EngineError(f"{file.path}: {why}; {_advice(file.path)}")
    adapter = EngineTokenizer(engine.name, _calls(engine, module, file), file, cut)
    outcome, own = TRUSTED, f"or take the ids of {engine.name} as they are: trust=True"
    if not trust:
        outcome = require_agreement(
            adapter,
            lambda: file.own,
            key=file.key,
            engine=release(engine.name),
            library=release(file.library),
            advice=f"{_advice(file.path)}; {own}",
            slices=certified_slices,
            file_texts=FileTexts(
                partial(_drawn_texts, file),
                partial(_probing, engine, module, file),
            ),
        )
    adapter.agreement = outcome
    return adapter


def engine_module(engine: Engine) -> Any:
    """Returns the imported package of the engine.

    Raises EngineError, with the command that installs it, if the package is missing or too old."""
    name, install = engine.name, f"pip install '{engine.name}>={engine.least}'"
    try:
        found = metadata.version(name)
        module = import_module(name)
    except ImportError as error:  # PackageNotFoundError is one
        raise EngineError(f"engine {name!r} needs the package {name}: {install}") from error
    if _numbers(found) < _numbers(engine.least):
        raise EngineError(
            f"engine {name!r} needs {name} {engine.least} or later, {found} is installed: {install}"
        )
    return module


def unhonoured(engine: Engine, file: JsonFile, content: str, flag: str, does: str) -> EngineError:
    """Returns the error that refuses a file because the engine ignores a flag of an added token.

    `does`: what the engine does instead."""
    return EngineError(
        f"{file.path}: added token {content!r} has {flag}, but {engine.name} {does}; "
        f"{_advice(file.path)}"
    )


class EngineTokenizer:
    """The adapter of one file with one engine. `load_engine` builds it."""

    def __init__(self, name: str, calls: Calls, file: JsonFile | RankFile, cut: bool) -> None:
        self._engine = name
        self._calls = calls
        self._file = file
        self._own = file.own
        self.name = f"{name}:{file.path.stem}"
        """The engine and the name of the file: "gigatoken:deepseek"."""
        known = file.facts if cut else replace(file.facts, engine=name, unprovable=_WHOLE)
        self.facts = replace(known, added_token_cuts_refused=_UNPARTED)
        """The facts that proofs may use; without `cut` they prove nothing."""
        self.agreement = TRUSTED
        """The result of the comparison with the file's own library."""
        self.loader: Loader | None = None
        """What made the tokenizer of a directory, or None."""
        inserted = inserted_ids(self)
        self._plain = inserted is not None and not any(map(len, inserted))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def traits(self) -> EngineTraits:
        """The calls of the engine release the GIL and make no object per token. The file decides
        which texts are refused."""
        return EngineTraits(
            releases_gil=True,
            check_text=self.check_text,
            forbidden=self._file.forbidden,
            agreement=self.agreement,
        )

    @property
    def origin(self) -> Origin | None:
        """The file, for a checker."""
        return self._file.origin

    @cached_property
    def fingerprint(self) -> str | None:
        """A digest of the engine, its version, and everything that decides the ids of the file's
        library. None if the library has no fingerprint for the file."""
        known = self._own.fingerprint
        if known is None:
            return None
        loader = None if self.loader is None else asdict(self.loader)
        parts = (self._engine, metadata.version(self._engine), known, loader)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def vocabulary_size(self) -> int:
        """The highest id plus one; at least the number of tokens."""
        size: int = self._own.vocabulary_size
        return size

    def check_text(self, text: str) -> None:
        """Raises tiktoken's error for a disallowed special token, or the engine's error for a
        surrogate."""
        self._file.check_text(text)
        if has_surrogate(text):
            self._calls.encode(text)

    def encode(self, text: str) -> IdArray:
        """Returns the ids of the engine's own call; uint32, (n,). Raises its errors, and
        EngineError on a panic."""
        try:
            return self._calls.encode(text)
        except BaseException as error:
            _raise_panic(error, self._engine, [text])
            raise

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """Returns the ids of the engine's batch call. Raises the errors of `encode`."""
        try:
            rows = self._calls.encode_many(texts if isinstance(texts, list) else list(texts))
        except BaseException as error:
            _raise_panic(error, self._engine, texts)
            raise
        if not spans:
            return rows
        return Rows.of_pieces(
            [Piece(rows[k], self.locate(rows[k], text)) for k, text in enumerate(texts)]
        )

    def encode_whole(self, text: str) -> IdArray:
        """Returns the ids of `encode` after `postprocess`. Raises the errors of `check_text` and
        `encode`."""
        self._file.check_text(text)
        ids = self.encode(text)
        return ids if self._plain else self.postprocess(Rows.of([ids]), [text])[0]

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """Returns the ids of whole texts after the post-processing of the file: truncation, special
        tokens, padding up to the longest row."""
        return self._own.postprocess(rows, texts) if isinstance(self._own, PostProcesses) else rows

    @property
    def special_tokens(self) -> tuple[IdArray, IdArray] | None:
        """The ids that `postprocess` adds before and after a text, if that is all it adds."""
        if isinstance(self._own, PostProcesses):
            return self._own.special_tokens
        return inserted_ids(self._own)

    @property
    def truncates_to(self) -> int | None:
        """The most ids that `postprocess` leaves; None if it truncates nothing."""
        return self._own.truncates_to if isinstance(self._own, PostProcesses) else None

    @property
    def pads(self) -> bool:
        """True if `postprocess` may pad."""
        return isinstance(self._own, PostProcesses) and self._own.pads

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """Returns the UTF-8 byte spans of the ids. Raises LookupError if `ids` are not the ids of
        `text`.

        If tokens do not tile the text, the file's library encodes the text again."""
        spans: SpanArray = self._own.locate(ids, text)
        return spans

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of the ids from the file's library, including special tokens."""
        text: str = self._own.decode(ids)
        return text

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The decoding parts of the file's library."""
        parts: DecodingParts = self._own.decoding_parts(skip_special_tokens)
        return parts


_UNPARTED = "how this engine finds added tokens is not proved"
_WHOLE = (
    "how this engine scans a text is not proved, and it divides long ones by itself; "
    "cut=True goes by the library it was compared with"
)


def _file(engine: Engine, path: Path, settings: Mapping[str, Any]) -> JsonFile | RankFile:
    if path.suffix == _JSON:
        return JsonFile(path, **settings)
    if path.suffix == _RANKS and engine.of_ranks is not None:
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
        raise_foreign(error)
        said = f"{type(error).__name__}: {str(error).split(chr(10) * 2)[0]}"
        raise EngineError(
            f"{release(engine.name)} refuses {file.path} ({said}); {_advice(file.path)}"
        ) from error


def _drawn_texts(file: JsonFile | RankFile) -> Sequence[str]:
    from tokpar_engines.drawn_texts import drawn_texts  # brings hypothesis along

    return drawn_texts(file.written, file.added)


def _probing(
    engine: Engine, module: Any, file: JsonFile | RankFile, texts: Sequence[str]
) -> tuple[TokenizerAdapter, TokenizerAdapter] | None:
    """Returns the engine and the library, both with a probing file of the same stages; see
    `make_probing_file`.

    None if the model is not BPE."""
    with TemporaryDirectory() as folder:
        probe = make_probing_file(file, texts, Path(folder))
        if probe is None:
            return None
        try:
            calls = _calls(engine, module, probe)
        except EngineError as error:  # the stages cause the error, and the file has the same ones
            raise EngineError(str(error).replace(str(probe.path), str(file.path))) from error
        return EngineTokenizer(engine.name, calls, probe, False), probe.own


def certified_slices(tokenizer: TokenizerAdapter, text: str) -> list[str]:
    """Returns slices of at least SLICE code points between certified cuts.

    The ids of each slice alone are the ids that the whole text has there. Returns [text] if the
    text has no cuts of this kind."""
    finder = finder_for(facts_of(tokenizer))
    if finder.refusal_for(text) is not None:
        return [text]
    seams = finder.find_each(text, SLICE)
    # encoded alone, the slice behind an absorbed space has one id more (theorem 6.4)
    if any("absorbed" in dict(seam.witness) for seam in seams):
        return [text]
    edges = [0, *(seam.position for seam in seams), len(text)]
    return [text[start:stop] for start, stop in pairwise(edges)]


def _advice(path: Path) -> str:
    return f"load it with its own library: tokpar.load({str(path)!r})"


def _numbers(version: str) -> tuple[int, ...]:
    """Returns the numbers of a version: "0.10.0rc1" gives (0, 10, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _raise_panic(error: BaseException, engine: str, texts: Sequence[str]) -> None:
    """Raises EngineError if `error` is a panic of the engine's Rust code on these texts."""
    if type(error).__name__ == "PanicException":
        raise EngineError(f"{engine} panicked: {error}", 0, sum(map(len, texts))) from error
