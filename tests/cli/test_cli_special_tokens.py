"""Texts that spell a special token of tiktoken: each command says in one line what to do, and the
options that it names work."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
import tiktoken

import tokpar
from tests.support.cli_runs import Outcome, printed, run
from tests.support.paths import VOCAB
from tests.support.tokenizers_drawn import named_tokenizers

TOKEN = "<|endoftext|>"
TEXT = f"Hello {TOKEN} none\n"
ENCODING = ("--tokenizer", VOCAB / "cl100k_part.tiktoken", "--encoding", "cl100k_base")
COMMANDS: dict[str, tuple[object, ...]] = {
    "encode": ("encode", "FILE", *ENCODING),
    "encode --untrusted": ("encode", "FILE", "--untrusted", *ENCODING),
    "count": ("count", "FILE", *ENCODING),
    "chunks": ("chunks", "FILE", "--max-tokens", "5", *ENCODING),
    "check": ("check", "FILE", *ENCODING),
    "plan": ("plan", "FILE", *ENCODING),
    "stream": ("stream", "FILE", *ENCODING),
    "try": ("try", VOCAB / "cl100k_part.tiktoken", "FILE", "--encoding", "cl100k_base"),
}


def run_on(command: str, file: Path, *more: object) -> Outcome:
    return run(*(file if word == "FILE" else word for word in COMMANDS[command]), *more)


def files_of(folder: Path, text: str = TEXT) -> list[Path]:
    """The text as a file, and as a row."""
    plain, rows = folder / "a.txt", folder / "a.jsonl"
    plain.write_text(text, encoding="utf-8")
    rows.write_text(json.dumps({"text": text}), encoding="utf-8")
    return [plain, rows]


def advised(error: str) -> list[list[str]]:
    """The options that a message names, as a shell would read them."""
    _, _, advice = error.partition(": --")
    return [shlex.split(f"--{part}")[:2] for part in advice.split(", --")]


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"encode --untrusted"}))
def test_a_special_token_in_a_text_is_one_line_with_options_that_work(
    command: str, tmp_path: Path
) -> None:
    for file in files_of(tmp_path):
        outcome = run_on(command, file)
        assert outcome.code == 2, outcome
        [error] = [line for line in outcome.err.splitlines() if line.startswith("tokpar: error: ")]
        assert file.name in error
        assert repr(TOKEN) in error
        assert not any(word in error for word in ("\\n", "disallowed_special", "enc."))
        options = advised(error)
        assert {option for option, _ in options} == {"--disallowed-special", "--allowed-special"}
        for option in options:
            assert run_on(command, file, *option).code == 0, option


def test_the_options_mean_what_they_mean_in_the_own_call(tmp_path: Path) -> None:
    file, own = files_of(tmp_path)[0], named_tokenizers()["cl100k_part"]
    for options, settings in (
        (("--disallowed-special", "none"), {"disallowed_special": ()}),
        (("--allowed-special", TOKEN), {"allowed_special": {TOKEN}}),
        (("--allowed-special", "all"), {"allowed_special": "all"}),
        (("--disallowed-special", "<|fim_prefix|>"), {"disallowed_special": {"<|fim_prefix|>"}}),
    ):
        outcome = run_on("encode", file, *options, "--quiet")
        assert printed(outcome.out) == [own.encode(TEXT, **settings)]
    refused = ("--allowed-special", "all", "--disallowed-special", TOKEN)
    assert run_on("encode", file, *refused).code == 2


@pytest.mark.parametrize("token", ["<|it's|>", 'a "b" token', "a b", "<é>", "x' \"y"])
def test_the_advice_can_be_typed_whatever_the_token_is(token: str, tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    own = tiktoken.Encoding(
        "own", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={token: 256}
    )
    vocabulary, text = tmp_path / "own.tiktoken", f"x {token} y"
    write_ranks(vocabulary, ranks)
    file = files_of(tmp_path, text)[0]
    tokenizer = ("--tokenizer", vocabulary, "--pat-str", r"\w+|\W+", "--special", f"{token}=256")
    refused = run("encode", file, *tokenizer)
    options = dict(advised(refused.error))
    for setting, given in (("allowed_special", {token}), ("disallowed_special", ())):
        option = f"--{setting.replace('_', '-')}"
        outcome = run("encode", file, *tokenizer, option, options[option], "--quiet")
        assert printed(outcome.out) == [own.encode(text, **{setting: given})]


def write_ranks(path: Path, ranks: dict[bytes, int]) -> None:
    from base64 import b64encode

    lines = (f"{b64encode(token).decode()} {id_}\n" for token, id_ in ranks.items())
    path.write_text("".join(lines), encoding="utf-8")


def test_of_several_texts_the_refused_one_is_named_and_the_others_are_taken(
    tmp_path: Path,
) -> None:
    good, bad = tmp_path / "good.txt", files_of(tmp_path)[0]
    good.write_text("Hello", encoding="utf-8")
    for command in (("encode",), ("count",), ("chunks", "--max-tokens", "5")):
        outcome = run(*command, bad, good, *ENCODING)
        assert outcome.code == 1
        assert f"tokpar: error: {bad}: the text spells" in outcome.err
        assert outcome.out


def test_an_encoding_with_its_own_encode_gets_the_same_advice() -> None:
    class Own(tiktoken.Encoding):
        def encode(self, text: str, **settings: object) -> list[int]:
            return super().encode(text, **settings)  # type: ignore[arg-type]

    ranks = {bytes([byte]): byte for byte in range(256)}
    own = Own("own", pat_str=r"\w+", mergeable_ranks=ranks, special_tokens={TOKEN: 256})
    with pytest.raises(
        ValueError, match=r"pass `tokpar\.load\(encoding, disallowed_special=\(\)\)"
    ):
        tokpar.count(TEXT, own)
    assert tokpar.count(TEXT, tokpar.load(own, disallowed_special=()))
