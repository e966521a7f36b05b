"""The command line, run in this process; a few runs as a process of its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import tokpar
import tokpar.registry.tables as registry_module
from tests.support.cli_runs import Outcome, run
from tokpar.process import disk_cache, kernel_modules
from tokpar.registry import builtins
from tokpar.registry.hooks import Command, hookimpl, load_plugin
from tokpar.registry.tables import Registry

LONG = "The quick brown fox, 12345678 times.\r\nNaïve 中文 too. " * 400


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    path = tmp_path / "long.txt"
    path.write_bytes(LONG.encode())
    return path


def serial_ids(text: str) -> list[int]:
    return tokpar.encode(text, strategy="serial").ids.tolist()


def ids_of(line: str) -> list[int]:
    return [int(word) for word in line.split()]


# encode


def test_encode_prints_the_ids_of_a_file_with_its_newlines_as_they_are(long_file: Path) -> None:
    outcome = run("encode", long_file)
    assert outcome.code == 0
    assert ids_of(outcome.out) == serial_ids(LONG)
    assert outcome.out.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input_is_the_default_text(arguments: tuple[str, ...]) -> None:
    outcome = run("encode", *arguments, stdin="one\r\ntwo é".encode())
    assert ids_of(outcome.out) == serial_ids("one\r\ntwo é")


@pytest.mark.parametrize("suffix", [".npy", ".txt", ".json"])
def test_out_writes_the_ids_to_a_file_that_decode_reads(
    tmp_path: Path, long_file: Path, suffix: str
) -> None:
    target = tmp_path / f"ids{suffix}"
    assert run("encode", long_file, "--out", target, "--quiet") == Outcome(0, "", "")
    decoded = run("decode", "--file", target)
    assert (decoded.code, decoded.out) == (0, LONG)


# decode, count


def test_decode_prints_exactly_the_text() -> None:
    ids = serial_ids("añb\r\n")
    assert run("decode", *ids).out == "añb\r\n"
    assert run("decode", stdin=" ".join(map(str, ids)).encode()).out == "añb\r\n"
    assert run("decode", "-", stdin=json.dumps(ids).encode()).out == "añb\r\n"
    report = run("encode", "--text", "añb\r\n", "--json").out
    assert run("decode", stdin=report.encode()).out == "añb\r\n"


@pytest.mark.parametrize("ids", ["x", "1.5", "1 -2", "99999999999", '{"a": 1}', '{"ids": ["1"]}'])
def test_decode_refuses_what_are_no_ids(ids: str) -> None:
    assert "standard input" in run("decode", stdin=ids.encode()).error


def test_count_prints_a_line_per_text_and_their_sum(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("one two", encoding="utf-8")
    count = len(serial_ids("one two"))
    assert run("count", path).out == f"{count} {path}\n"
    assert run("count", path, path).out.splitlines()[-1] == f"{2 * count} total"
    assert run("count", path, "--json").json == {"file": str(path), "ids_count": count}


# stream


def test_stream_gives_the_ids_that_encode_gives(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(LONG.encode())
    outcome = run("stream", path)
    assert (outcome.code, ids_of(outcome.out)) == (0, serial_ids(LONG))
    assert outcome.out.count("\n") > 1


def test_stream_prints_ids_before_the_text_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tokpar", "stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"one two thr")
        process.stdin.flush()
        first = process.stdout.readline().decode()
        process.stdin.write("ee añ".encode()[:-1])
        process.stdin.flush()
        rest = process.communicate("añ".encode()[-1:])[0].decode()
    assert ids_of(first) == serial_ids("one two")
    assert ids_of(first + rest) == serial_ids("one two three añ")


# check


def test_check_confirms_a_certificate(long_file: Path, tmp_path: Path) -> None:
    certificate = tmp_path / "seams.tokpar"
    options = ("--chunk-chars", 2000, "--executor", "native", "--no-ids", "--quiet")
    done = run("encode", long_file, *options, "--certificate", certificate)
    assert done == Outcome(0, "", "")
    for more in ((), ("--level", "ids")):
        outcome = run("check", long_file, "--certificate", certificate, *more)
        assert outcome.code == 0
        assert outcome.out.startswith("ok: ")
    got = run("check", long_file, "--certificate", certificate, "--json").json
    assert (got["ok"], got["level"], got["findings"]) == (True, "ids", [])
    assert got["seams"] > 5


def test_check_of_an_untrusted_text_needs_the_option(tmp_path: Path) -> None:
    text, path = tmp_path / "text.txt", tmp_path / "seams.tokpar"
    text.write_text("words <|endoftext|> and words", encoding="utf-8")
    run("encode", text, "--untrusted", "--certificate", path)
    assert run("check", text, "--untrusted", "--certificate", path).code == 0
    assert run("check", text, "--untrusted").code == 0
    outcome = run("check", text, "--certificate", path)
    assert outcome.code == 1
    assert "pass them to the check" in outcome.out


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": "tokpar certificate"}'])
def test_check_refuses_what_is_no_certificate(
    tmp_path: Path, long_file: Path, content: str
) -> None:
    path = tmp_path / "bad.tokpar"
    path.write_text(content, encoding="utf-8")
    assert str(path) in run("check", long_file, "--certificate", path).error


# plan, strategies, plugins


def test_plan_shows_where_and_by_which_rule(long_file: Path) -> None:
    lines = run("plan", long_file, "--chunk-chars", 400).out.splitlines()
    assert lines[0].startswith(f"{long_file}: {len(LONG):,} code points; cut at ")
    assert lines[1].split() == ["position", "rule", "around"]
    position, rule = lines[2].split()[:2]
    assert LONG[int(position)] == " "
    assert rule == "PAIR"
    assert "│" in lines[2]
    assert "more (--all shows them)" in lines[22]
    assert lines[23] == "PAIR: theorem 20, pattern=cl100k left=non-space right=space"
    assert lines[24] == "control tokens: 1; ordinary text never gets one (docs/untrusted.md)"
    assert lines[25].startswith("compiled call: ")
    assert len(lines) == 26
    assert len(run("plan", long_file, "--chunk-chars", 400, "--all").out.splitlines()) > 23


# bad input


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "none.txt"
    for command in ("encode", "count", "check", "plan"):
        assert run(command, path).error == f"{path}: No such file or directory"


def test_a_file_that_is_not_utf_8_is_an_error_that_tells_where(tmp_path: Path) -> None:
    path = tmp_path / "latin"
    path.write_bytes("naïve".encode("latin-1"))
    for command in ("encode", "stream"):
        assert run(command, path).error.startswith(f"{path}: expected UTF-8 text, byte 2 is 0xef")
    assert "standard input" in run("count", stdin=b"\xff").error
    assert "--text" in run("encode", "--text", "\udcff").error


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--tokenizer", "nope"), "nope"),
        (("--tokenizer", "nope.json"), "nope.json"),
        (("--engine", "nope"), "nope"),
        (("--strategy", "nope"), "auto"),
        (("--executor", "nope"), "threads"),
        (("--executor", "nope", "--progress"), "threads"),
        (("--option", "nope=1"), "chunk_chars"),
        (("--option", "nope"), "NAME=VALUE"),
        (("--chunk-chars", "0"), "chunk_chars"),
        (("--chunk-chars", "x"), "--chunk-chars"),
        (("--option", "chunk_chars=big"), "chunk_chars"),
        (("--workers", "0"), "workers"),
        (("--special", "x=y"), "--special"),
        (("--special", "a=1"), "special_tokens"),
        (("--allowed-special", "all"), "allowed_special"),
        (("--out", "ids.csv"), ".npy"),
        (("--nope",), "--nope"),
    ],
)
def test_an_unusable_option_is_an_error_that_says_what_there_is(
    arguments: tuple[str, ...], named: str
) -> None:
    assert named in run("encode", "--text", "a", *arguments).error


def test_a_corrupt_tokenizer_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"model": 3}', encoding="utf-8")
    assert str(path) in run("encode", "--text", "a", "--tokenizer", path).error


class Commands:
    """A plugin with good commands and bad ones."""

    @hookimpl
    def tokpar_commands(self) -> list[Command]:
        return [
            Command("greet", Greet),
            Command("raising", lambda: import_module("no_such_module")),
            Command("exiting", lambda: sys.exit("needs 100% of a GPU")),
            Command("nothing", object),
        ]


class Greet:
    """Greet NAME in 100% of the cases."""

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name")

    def run(self, arguments: argparse.Namespace) -> int:
        if arguments.name == "nobody":
            raise tokpar.OptionError("there is nobody")
        print("Hello", arguments.name)
        return 7


class ShadowsEncode:
    @hookimpl
    def tokpar_commands(self) -> list[Command]:
        return [Command("encode", Greet)]


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> None:
    own = load_plugin("builtins", "tokpar", "", lambda: builtins)
    good = load_plugin("commands", "of-commands", "", Commands)
    shadow = load_plugin("shadow", "of-shadow", "", ShadowsEncode)
    broken = load_plugin("broken", "of-broken", "", lambda: import_module("no_such_module"))
    monkeypatch.setattr(registry_module, "_registry", [Registry(own, [good, shadow, broken])])


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("raising", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("exiting", "SystemExit: needs 100% of a GPU"),
        ("nothing", "AttributeError: 'object' object has no attribute 'declare'"),
    ],
)
def test_a_command_that_cannot_be_loaded_is_an_error_of_its_own(command: str, problem: str) -> None:
    assert run(command, "x").error == f"the command {command!r} cannot be loaded: {problem}"
    assert run("count", "--text", "a", "--quiet").code == 0
    help_of_all = run("--help")
    assert help_of_all.code == 0
    assert "Greet NAME in 100% of the cases" in help_of_all.out
    assert f"the command {command!r} cannot be loaded" in " ".join(help_of_all.out.split())


@pytest.mark.parametrize(
    "command", ["bench", "conform", "corpus", "diff", "explain", "tokentree", "train"]
)
def test_a_command_of_a_plugin_of_tokpar_is_there_without_plugins_of_others(
    monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("TOKPAR_PLUGINS", "")
    monkeypatch.setattr(registry_module, "_registry", [Registry.load()])
    shown = run(command, "--help")
    assert shown.code == 0
    assert shown.out.startswith(f"usage: tokpar {command}")


def test_a_command_that_needs_another_package_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "_registry", [Registry.load()])
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    said = run("conform", "cut").error
    assert said.startswith("tokpar conform needs the package hypothesis (")
    assert said.endswith("pip install hypothesis, or install tokpar with the extra [conformance]")
    assert said in " ".join(run("--help").out.split())


def test_help_and_version_end_well() -> None:
    version = run("--version").out
    known = f"tokpar {tokpar.__version__}, kernel: {kernel_modules.NAME}"
    known += f", because {kernel_modules.WHY_NONE}" * (kernel_modules.CALL is None)
    assert version == f"{known}, cache: {disk_cache.state()}\n"
    assert all(name in run("--help").out for name in ("encode", "decode", "plugins"))


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: object, text: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tokpar.Encoder, "encode", interrupt)
    assert run("encode", "--text", "a") == Outcome(130, "", "")


# as a process


def process(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "tokpar", *arguments], input=stdin, capture_output=True, check=False
    )


def test_the_module_runs_as_a_command() -> None:
    encoded = process("encode", "-", stdin=LONG.encode())
    assert encoded.returncode == 0
    assert ids_of(encoded.stdout.decode()) == serial_ids(LONG)
    decoded = process("decode", stdin=encoded.stdout)
    assert decoded.stdout == LONG.encode()


def test_help_loads_no_engine_and_no_progress_bar() -> None:
    code = (
        "import sys, tokpar.cli; tokpar.cli.main(['encode', '--help']);"
        "print(sorted({'tokenizers', 'tiktoken', 'tqdm', 'regex'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert ended.stdout.splitlines()[-1] == b"[]"
