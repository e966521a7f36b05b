"""Open one side of a comparison: a tokenizer object, a file, a directory, a name, or a name in
another Python."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tokpar
from tokpar.adapters.named_tokenizers import tokenizer_named
from tokpar.adapters.settings import TEKKEN, DirectoryTokenizer, path_of, refusing
from tokpar.certificate.canonical_form import JsonForm, RankForm, form_of_json, parse_json
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.origin_reader import CustomPartError, engine_of, read_origin
from tokpar.contract.adapter import Origin, origin_of
from tokpar.errors import FileFormatError, OptionError
from tokpar.loading import DEFAULT_TOKENIZER
from tokpar.types import AddedToken
from tokpar_diff import rows
from tokpar_diff.rows import Row

_ADAPTER_SUFFIXES = (".tiktoken", ".txt", TEKKEN)


@dataclass(frozen=True)
class Side:
    """One of the tokenizers that are compared.

    `description`: see `rows.describe`. `rows_of`: asks the tokenizer itself. `form`: its canonical
    form, or None, then `why_no_form` says why. `decoder`: the decoder of its file. `tokenizer`: the
    object, None if it is in another Python."""

    name: str
    description: Mapping[str, Any] = field(repr=False)
    rows_of: Callable[[Sequence[str]], list[Row]] = field(repr=False)
    form: JsonForm | RankForm | None = field(default=None, repr=False)
    why_no_form: str = ""
    decoder: Any = field(default=None, repr=False)
    tokenizer: Any = field(default=None, repr=False)

    @property
    def is_here(self) -> bool:
        """True if the tokenizer runs in this process."""
        return self.tokenizer is not None

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the libraries that encode."""
        return dict(self.description["versions"])

    @property
    def label(self) -> str:
        """The name, class and versions: "a.json (Tokenizer, tokenizers 0.23.3)"."""
        versions = [f"{name} {version}" for name, version in self.versions.items()]
        return f"{self.name} ({', '.join([self.description['class'], *versions])})"


def open_side(source: object, **settings: Any) -> Side:
    """Returns the side of an object, path or name. `settings` are those of `tokpar.load`, for a
    file that needs them.

    Raises OptionError, FileFormatError, UnknownNameError, OSError, in a sentence each."""
    original = getattr(type(source), "_tokpar_original", None)
    tokenizer = original(source) if original is not None else source
    name = type(source).__name__
    if isinstance(source, (str, os.PathLike)):
        name, tokenizer = os.fspath(source), _open_named(os.fspath(source), settings)
    if rows.kind_of(tokenizer) is None:
        raise OptionError(
            f"a {name} is no tokenizer: pass one of tokenizers, transformers or tiktoken, a path "
            "or a name"
        )
    description = rows.describe(tokenizer)
    form, why = _form_of(tokenizer, description["kind"])
    return Side(
        name=name,
        description=description,
        rows_of=lambda texts: rows.rows_of(tokenizer, texts),
        form=form,
        why_no_form=why,
        decoder=_decoder_of(engine_of(tokenizer)) if isinstance(form, JsonForm) else None,
        tokenizer=tokenizer,
    )


def _open_named(name: str, settings: Mapping[str, Any]) -> Any:
    path = path_of(name, ".json")
    if path is not None and not path.is_dir():
        path.stat()  # the library's error for a missing file is vague
        with refusing(path):
            return rows.open_name(name)
    if name == DEFAULT_TOKENIZER or path_of(name, *_ADAPTER_SUFFIXES) is not None:
        origin = origin_of(tokpar.load(name, **settings))
        assert origin is not None  # every adapter of these files has one
        return origin.source
    named = tokenizer_named(name)
    if isinstance(named, DirectoryTokenizer):
        return named.tokenizer or _open_named(os.fspath(named), {})
    return named


def _form_of(tokenizer: Any, kind: str) -> tuple[JsonForm | RankForm | None, str]:
    if kind == "object":
        return None, "it is an object with its own encode"
    allowed, own = frozenset(getattr(tokenizer, "special_tokens_set", ())), engine_of(tokenizer)
    settings = {"allowed_special": allowed, "no_file": _why_no_file(own)}
    try:
        form = read_origin(Origin(tokenizer, settings))
        if isinstance(form, JsonForm):  # a file that is read part by part lacks this one
            fuses = getattr(getattr(own, "model", None), "fuse_unk", False)
            form = replace(form, model={"fuse_unk": fuses, **form.model})
        return form, ""
    except (CustomPartError, RefusedError, FileFormatError) as error:
        return None, str(error)


def _why_no_file(own: Any) -> str | None:
    """Returns why the engine may do otherwise than its file says, or None: its normalizer was
    changed after tokens were added, or a part is in Python."""
    if not hasattr(own, "model"):
        return None
    from tokpar.adapters.hf_copy import private_copy, why_copy_differs  # imports tokenizers

    private, why = private_copy(own)
    return why or why_copy_differs(own, private)


def _decoder_of(own: Any) -> Any:
    """Returns the decoder in the words of its file."""
    if not hasattr(own, "model"):
        return json.loads(own.__reduce__()[1][0]).get("decoder")
    try:
        return None if own.decoder is None else json.loads(own.decoder.__getstate__())
    except Exception as error:  # the library has no exception type for a part in Python
        if "ustom" not in str(error):
            raise
        return f"a decoder in Python ({id(own)})"


def open_elsewhere(name: str, python: str) -> Side:
    """Returns the side of a path or name in another Python, the executable `python`. Raises
    OptionError."""
    if path_of(name, *_ADAPTER_SUFFIXES) is not None:
        raise OptionError(f"{name}: --python takes a tokenizer.json, a directory or a name")
    other = _OtherPython(python, os.path.abspath(name) if Path(name).exists() else name)
    answer = other.description
    form = _form_of_answer(answer)
    why = "" if form else f"{answer['class']} has no engine whose file tells everything"
    file = json.loads(answer["file"]) if answer["file"] else {}
    return Side(
        name=f"{name} in {python}",
        description=answer,
        rows_of=other.rows_of,
        form=form,
        why_no_form=why,
        decoder=file.get("decoder"),
    )


def _form_of_answer(answer: Mapping[str, Any]) -> JsonForm | RankForm | None:
    """Returns the canonical form of what another Python described."""
    if answer["encoding"]:
        encoding = answer["encoding"]
        ranks = {bytes.fromhex(token): rank for token, rank in encoding["ranks"].items()}
        specials = encoding["specials"]
        added = tuple(AddedToken(text, id_) for text, id_ in specials.items())
        patterns = (encoding["pat_str"],)
        return RankForm("fancy-regex", patterns, ranks, added, specials, False, True)
    if not answer["file"]:
        return None
    config = dict(parse_json(answer["file"]))
    if answer["size"] not in (None, len(config["model"]["vocab"])):
        return None  # two tokens with one id; a file has one of them
    if answer["kind"] == "transformers":  # its calls leave these out
        config |= {"truncation": None, "padding": None}
    line_one = answer["versions"].get("tokenizers", "").startswith("1.")
    return form_of_json(config, skips_special=answer["skips_special"], line_one=line_one)


class _OtherPython:
    """A process of another Python that answers with rows."""

    def __init__(self, python: str, name: str) -> None:
        self._python, self._stderr = python, tempfile.TemporaryFile()  # noqa: SIM115
        command = [python, "-I", rows.__file__, name]
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._stderr, encoding="utf-8"
            )
        except OSError as error:
            raise OptionError(f"--python {python} cannot be run: {error.strerror}") from error
        self.description = self._answer()
        if "error" in self.description:
            raise OptionError(f"{name} in {python}: {self.description['error']}")

    def rows_of(self, texts: Sequence[str]) -> list[Row]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(list(texts)) + "\n")
        self._process.stdin.flush()
        answer: list[Row] = self._answer()
        return answer

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        code = self._process.wait()
        self._stderr.seek(0)
        printed = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        said = f": {printed[-1]}" if printed else ""
        raise OptionError(f"--python {self._python} ended with exit code {code}{said}")

    def __del__(self) -> None:
        process = getattr(self, "_process", None)
        if process is not None:
            process.stdin.close()
            process.stdout.close()
            process.wait()
        self._stderr.close()
