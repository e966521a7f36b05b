"""A name says what is in it: `known_rows`, not `known`; `text_before`, not `before`.

No module, class, function, parameter, field or attribute is a bare participle or preposition."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from tests.support.paths import ROOT

FOLDERS = [ROOT / "tokpar", *sorted((ROOT / "plugins").glob("*/src"))]

PREPOSITIONS = """
about above across after against ahead along alone among amid apart around aside at away
back before behind below beneath beside besides between beyond by despite down during except
for forth from in inside into near of off on onto out outside over past per since through
throughout till to together toward towards under underneath until up upon via with within
without
"""
"""Prepositions, and the adverbs that stand for one (`apart`, `together`)."""

IRREGULAR_PARTICIPLES = """
begun bent bound bought brought broken built burnt caught chosen dealt done drawn driven
eaten fallen fed felt forgotten fought found frozen given gone grown held hidden kept known
laid led left lent lost made meant met paid said seen sent shown slept sold sought spelt spent
spoken stolen swept sworn taken taught thrown told torn won worn wound woven written
"""
PREFIXES = ("un", "re", "over", "mis")
"""What may stand before a participle: `unbroken`, `rebuilt`, `overwritten`."""

NOUNS_IN_ED = frozenset(
    {"bed", "embed", "hundred", "id", "infrared", "red", "shed", "shred", "sled", "untrusted"}
)
"""Words that end in -ed and are no participles; those in -eed have a rule of their own."""
PARTICIPLES_IN_EED = frozenset({"agreed", "decreed", "freed", "guaranteed"})


SIDES = {"left": {"right"}, "expected": {"found", "got"}, "found": {"expected"}}
"""Values that may have these names in a module that has the other one, too: the two sides of a
seam, and the two of a comparison."""

_OPTION = "an option that users give"
_MANIFEST = "a key of manifest.json"
_REPORT = "a field of a result that users read"
_JSON = "a key of the JSON that a command prints"
_METHOD = "a method that users call"
_PLUGIN = "a field of a value that plugins read and make"
_RESULTS = "a key of results.json"
_PLUGIN_FUNCTION = "a function for plugins"
_KIT = "plugins/tokpar-conformance/src/tokpar_conformance"
_CORPUS = "plugins/tokpar-corpus/src/tokpar_corpus"
_PURE = "plugins/tokpar-pure/src/tokpar_pure"
_IN_README = "a name that README.md of tokpar-pure has in its examples"
ALLOWED: dict[str, str] = {
    f"{_KIT}/checks.py: Check.of": "constructs: the same check, of a subject",
    f"{_KIT}/text_strategies.py: surrogate_texts.added": _OPTION,
    f"{_KIT}/text_strategies.py: texts.added": _OPTION,
    "plugins/tokpar-engines/src/tokpar_engines/engine.py: unhonoured": "a function for plugins",
    "plugins/tokpar-engines/src/tokpar_engines/engine_files.py: JsonFile.added": _PLUGIN,
    "plugins/tokpar-engines/src/tokpar_engines/engine_files.py: JsonFile.written": _PLUGIN,
    "plugins/tokpar-engines/src/tokpar_engines/engine_files.py: RankFile.added": _PLUGIN,
    "plugins/tokpar-engines/src/tokpar_engines/engine_files.py: RankFile.written": _PLUGIN,
    "plugins/tokpar-bench/src/tokpar_bench/differences.py: Difference.beside": "differences.toml",
    "plugins/tokpar-bench/src/tokpar_bench/records.py: ProjectionRow.bound": _RESULTS,
    "plugins/tokpar-bench/src/tokpar_bench/records.py: ProjectionRow.measured": _RESULTS,
    "plugins/tokpar-bench/src/tokpar_bench/records.py: ProjectionRow.projected": _RESULTS,
    "tokpar/certificate/findings.py: CheckReport.proved": _REPORT,
    "tokpar/certificate/findings.py: CheckReport.refused": _REPORT,
    "tokpar/chunks/text_chunk.py: TextChunk.certified": _REPORT,
    "tokpar/cli/trial.py: Trial.certified": _JSON,
    f"{_CORPUS}/building.py: build.out": _OPTION,
    f"{_CORPUS}/auditing.py: audit.against": _OPTION,
    f"{_CORPUS}/auditing.py: audit.ordered": _OPTION,
    f"{_CORPUS}/auditing.py: audit.packed": _OPTION,
    f"{_CORPUS}/audit_report.py: CheckedReport.of": _METHOD,
    f"{_CORPUS}/audit_report.py: CheckResult.shown": _REPORT,
    f"{_CORPUS}/build_progress.py: Progress.elapsed": _REPORT,
    f"{_CORPUS}/build_progress.py: Progress.skipped": _REPORT,
    f"{_CORPUS}/build_progress.py: Progress.stored": _REPORT,
    f"{_CORPUS}/inputs.py: Input.changed": "a key of journal.jsonl",
    f"{_CORPUS}/job.py: Request.out": _OPTION,
    f"{_CORPUS}/manifest.py: Manifest.skipped": _REPORT,
    f"{_CORPUS}/manifest.py: Shard.divided": _MANIFEST,
    f"{_CORPUS}/manifest.py: Shard.skipped": _MANIFEST,
    f"{_CORPUS}/shard_output.py: ShardOutput.closed": "pyarrow asks a file for it",
    f"{_CORPUS}/verifying.py: VerifyReport.sampled": _REPORT,
    f"{_CORPUS}/verifying.py: verify.against": _OPTION,
    "tokpar/encoding.py: Batch.padded": _METHOD,
    "tokpar/trust/trusted_session.py: TrustedSession.append.trusted": _OPTION,
    "tokpar/encoding.py: Encoding.truncated": _REPORT,
    "tokpar/encoding.py: Encoding.untruncated": _REPORT,
    "plugins/tokpar-explain/src/tokpar_explain/edit.py: SessionEdit.encoded": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/edit.py: SessionEdit.removed": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/rows.py: TextPart.shared": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/rows.py: Token.kept": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/rows.py: Token.matched": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/rows.py: Token.shared": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/rows.py: Unequal.joined": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/seam.py: Explained": "a class that users get",
    "plugins/tokpar-explain/src/tokpar_explain/seam.py: Explained.after": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/seam.py: Explained.before": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/seam.py: Explained.matched": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/seam.py: Explained.shared": _JSON,
    "plugins/tokpar-explain/src/tokpar_explain/seam.py: explain_seam.around": _OPTION,
    "plugins/tokpar-explain/src/tokpar_explain/trace.py: Trace.kept": _REPORT,
    "plugins/tokpar-explain/src/tokpar_explain/trace.py: Trace.ordered": _METHOD,
    "tokpar/overlap/chunks.py: licensed": _PLUGIN_FUNCTION,
    "tokpar/files/added_token_search.py: AddedTokens.normalized": "a field of tokenizer.json",
    f"{_PURE}/forms.py: normalized": _IN_README,
    f"{_PURE}/tokenizer.py: Tokenizer.added": _IN_README,
    "tokpar/files/vocabulary.py: Vocabulary.added": _IN_README,
    "tokpar/seams.py: Seams.planned": _REPORT,
    "tokpar/sessions/session.py: SessionPatch.encoded": _REPORT,
    "tokpar/types.py: AddedToken.normalized": "the name of the field in tokenizer.json",
    "tokpar/types.py: Chunk.absorbed": _PLUGIN,
    "tokpar/types.py: Seam.absorbed": _PLUGIN,
}
"""The other names that may stay, and why."""

COMPILED = {
    "tokpar/cache/_contents.py": "compiled: its functions are declared in a .pxd file",
    "tokpar/cache/_merges.py": "compiled: its functions are declared in a .pxd file",
    "tokpar/cache/_vocabulary.py": "compiled: its functions are declared in a .pxd file",
}


class Name(NamedTuple):
    """A name that a module of the project defines."""

    path: str
    """The module's file, from the checkout's folder."""
    owner: str
    """The classes and functions around the definition, joined by dots; empty at module level."""
    text: str
    kind: Literal["class method", "function", "value"]
    """A property is a value, as every name is that is no function."""
    line: int

    @property
    def qualified(self) -> str:
        return f"{self.owner}.{self.text}" if self.owner else self.text


def is_participle(word: str) -> bool:
    if word.endswith("eed"):
        return word in PARTICIPLES_IN_EED
    if word.endswith("ed"):
        return len(word) > 3 and word not in NOUNS_IN_ED
    if word == "unknown":
        return False  # the field's noun: the unknown token
    stems = [word.removeprefix(prefix) for prefix in ("", *PREFIXES)]
    return any(stem in IRREGULAR_PARTICIPLES.split() for stem in stems)


def is_bare(name: str) -> bool:
    """True if the name is one word, and this word is a participle or a preposition."""
    word = name.strip("_")
    if not word or not (word.islower() or word[1:].islower()):
        return False  # several words, or a constant
    return "_" not in word and (is_participle(word.lower()) or word.lower() in PREPOSITIONS.split())


def kind_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
) -> Literal["class method", "function", "value"]:
    ends = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    if ends & {"property", "cached_property", "setter"}:
        return "value"
    return "class method" if "classmethod" in ends else "function"


def assigned_names(target: ast.expr) -> Iterator[tuple[str, int]]:
    """The plain names that an assignment to this target binds."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def attributes_of_self(function: ast.AST) -> Iterator[tuple[str, int]]:
    """The attributes that statements of this function, and of functions in it, set on `self`."""
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        ):
            yield node.attr, node.lineno


def names_in(
    body: list[ast.stmt], path: str, owners: tuple[str, ...] = (), has_locals: bool = False
) -> Iterator[Name]:
    """The names that these statements define. `has_locals`: the statements are the body of a
    function, so that the plain names they assign do not count."""
    owner = ".".join(owners)
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield Name(path, owner, node.name, "value", node.lineno)
            yield from names_in(node.body, path, (*owners, node.name))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = (*owners, node.name)
            yield Name(path, owner, node.name, kind_of(node), node.lineno)
            parts = node.args
            parameters = [*parts.posonlyargs, *parts.args, *parts.kwonlyargs]
            parameters += [part for part in (parts.vararg, parts.kwarg) if part]
            for parameter in parameters:
                yield Name(path, ".".join(inner), parameter.arg, "value", parameter.lineno)
            if parameters and parameters[0].arg == "self":
                for text, line in attributes_of_self(node):
                    yield Name(path, owner, text, "value", line)
            yield from names_in(node.body, path, inner, True)
        else:
            if not has_locals and isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    for text, line in assigned_names(target):
                        yield Name(path, owner, text, "value", line)
            for field in ("body", "orelse", "finalbody"):  # if, for, while, with, try
                yield from names_in(getattr(node, field, []), path, owners, has_locals)
            for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
                yield from names_in(part.body, path, owners, has_locals)


def bare_names(source: str, path: str) -> list[Name]:
    """The bare names of a module that are not allowed; the names of its file and folders count."""
    tree = ast.parse(source)
    names = [Name(path, "", part, "value", 1) for part in Path(path).with_suffix("").parts]
    names += names_in(tree.body, path)
    texts = {name.text for name in names}
    return [name for name in names if is_bare(name.text) and not is_allowed(name, texts)]


def is_allowed(name: Name, texts: set[str]) -> bool:
    """`texts`: all names of the module."""
    if name.text == "of" and name.kind == "class method":
        return True  # it constructs: `Rows.of(arrays)`
    if name.kind == "value" and not texts.isdisjoint(SIDES.get(name.text, ())):
        return True
    return f"{name.path}: {name.qualified}" in ALLOWED


def describe(names: list[Name]) -> str:
    return "\n".join(f"{name.path}:{name.line}: {name.qualified}" for name in names)


MODULES = {
    path.relative_to(ROOT).as_posix(): path
    for folder in FOLDERS
    for path in sorted(folder.rglob("*.py"))
}


@pytest.mark.parametrize("path", sorted(MODULES.keys() - COMPILED.keys()))
def test_no_name_is_a_bare_participle_or_preposition(path: str) -> None:
    names = bare_names(MODULES[path].read_text("utf-8"), path)
    assert not names, f"say what is in it:\n{describe(names)}"


def test_each_allowed_name_is_there() -> None:
    there = {
        f"{path}: {name.qualified}"
        for path in {entry.partition(": ")[0] for entry in ALLOWED}
        for name in names_in(ast.parse(MODULES[path].read_text("utf-8")).body, path)
    }
    assert ALLOWED.keys() <= there, ALLOWED.keys() - there
    names = (entry.partition(": ")[2] for entry in ALLOWED)
    assert all(is_bare(name.rpartition(".")[2]) for name in names)
    assert COMPILED.keys() <= MODULES.keys()


SAMPLE = """
known = {}
seed: int = 1
MERGED = 2

class Divided:
    kept: int

    @classmethod
    def of(cls): ...

    @property
    def shown(self): ...

    async def written(self, before, /, *among, inside=0, **within):
        joined = 1
        self._told, self.row = self.taken = joined, 2
        def of(untold): ...

if known:
    def rebuilt(left, expected): ...
else:
    def need_fed(left_side, _): ...
"""


def test_what_a_bare_name_is() -> None:
    names = bare_names(SAMPLE, "tokpar/together/rows.py")
    assert [name.qualified for name in names] == [
        "together",
        "known",
        "Divided",
        "Divided.kept",
        "Divided.shown",
        "Divided.written",
        "Divided.written.before",
        "Divided.written.inside",
        "Divided.written.among",
        "Divided.written.within",
        "Divided.taken",
        "Divided._told",
        "Divided.written.of",
        "Divided.written.of.untold",
        "rebuilt",
        "rebuilt.left",
        "rebuilt.expected",
    ]
    with_other_sides = bare_names(SAMPLE + "right = found = 3", "tokpar/together/rows.py")
    assert with_other_sides == names[:-2]


def test_a_noun_is_no_participle() -> None:
    assert not any(
        map(is_bare, ["speed", "need", "embed", "id", "hundred", "present", "known_rows"])
    )
    assert all(
        map(is_bare, ["agreed", "_known", "Known", "unbroken", "overwritten", "_at", "used"])
    )
