"""Nanoseconds a byte that each step of the compiled call takes.

    python -m tests.benchmarks.where_time_goes TOKENIZER TEXT [--size N] [--rounds 40] [--seen]

TOKENIZER: a tokenizer.json. TEXT: a text, or a .jsonl with a "text" in each row. Each round makes a
new call from the same tables, and encodes the text once; with --seen the round encodes it four
times, and the last one counts. Needs Linux, gcc, addr2line and perf (perf_event_paranoid 2 or
less): the kernel is compiled again with names of lines, and a sample of the process is taken
20,000 times in a second. A step is a function with what the compiler put into it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tokpar.compiled
from tests.benchmarks.engines_texts import cut
from tests.benchmarks.texts import read_texts

SOURCE = Path(tokpar.compiled.__file__).parent / "call.c"
STEPS = {
    "reading the str": ["take_text", "utf8_of", "byte_of"],
    "added tokens": ["find_token", "apply_flags", "encode_sentence"],
    "known runs": ["run_end", "run_at", "was_met", "fetch_run", "encode_runs", "ends_segment"],
    "cutting": [
        "sure_cuts",
        "cuts_by_avx2",
        "encode_bytes",
        "encode_characters",
        "encode_words",
        "is_cut",
    ],
    "machine": ["match_end", "pretoken_ends", "encode_segment", "is_normal"],
    "lookup": ["key_of", "find_word", "is_front", "encode_segments", "encode_group", "encode_word"],
    "copying ids": ["copy_ids", "take_out", "bytes_of"],
    "learning": ["put_word", "grow_words", "learn", "add_sample"],
    "merges": ["merge_word", "merge_short", "merge_long", "rank_of", "atoms_of", "pieces_of"],
    "longest tokens": ["longest_ids", "longest_token", "longest_word"],
    "pairs of tokens": ["are_neighbours", "may_follow"],
}
STEP_OF = {name: step for step, names in STEPS.items() for name in names}


def main() -> None:
    args = _arguments()
    if args.library:
        _encode(args)
        return
    for tool in ("gcc", "addr2line", "perf"):
        if not shutil.which(tool):
            sys.exit(f"error: there is no {tool}: install it, it counts the steps")
    with tempfile.TemporaryDirectory() as folder:
        library, samples = str(Path(folder, "_call.so")), str(Path(folder, "samples"))
        flags = ["-O3", "-g", "-shared", "-fPIC", "-DPy_LIMITED_API=0x030B0000"]
        include = f"-I{sysconfig.get_paths()['include']}"
        subprocess.run(["gcc", *flags, include, str(SOURCE), "-o", library], check=True)
        record = ["perf", "record", "-q", "-k", "monotonic", "-F", "20000", "-e", "cpu-clock"]
        own = [sys.executable, "-m", "tests.benchmarks.where_time_goes", *sys.argv[1:]]
        command = [*record, "-o", samples, "--", *own, "--library", library]
        told = json.loads(subprocess.check_output(command, text=True))
        print(_table(told, _steps(library, samples, told)), end="")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.where_time_goes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--size", type=int, default=2_000_000, help="bytes of the text")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seen", action="store_true", help="the fourth call with the text")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    return parser.parse_args()


def _encode(args: argparse.Namespace) -> None:
    """Prints the bytes, when each round began and ended, and where the library was loaded."""
    spec: Any = importlib.util.spec_from_file_location("tokpar.compiled._call", args.library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["tokpar.compiled._call"] = module
    from tokenizers import Tokenizer

    from tokpar.process import kernel_modules

    kernel_modules.CALL = module
    text = cut("\n".join(read_texts(args.text)), args.size)
    own = Tokenizer.from_file(str(args.tokenizer))
    own.no_truncation()
    rounds = []
    for _ in range(args.rounds):
        adapter: Any = tokpar.load(type(own).from_str(own.to_str()))
        call = adapter.later_call.wait()
        if call is None:
            sys.exit(f"error: there is no compiled call for {args.tokenizer}")
        for _ in range(3 if args.seen else 0):
            call.encode_plain(text)
        start = time.clock_gettime(time.CLOCK_MONOTONIC)
        call.encode_plain(text)
        rounds.append((start, time.clock_gettime(time.CLOCK_MONOTONIC)))
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    place = min(int(line.split("-")[0], 16) for line in maps if args.library in line)
    print(json.dumps({"bytes": len(text.encode()), "rounds": rounds, "place": place}))


def _steps(library: str, samples: str, told: Mapping[str, Any]) -> Counter[str]:
    """How many samples of the rounds each step has."""
    command = ["perf", "script", "-i", samples, "-F", "time,ip,dso"]
    places: list[str] = []
    found: Counter[str] = Counter()
    rounds = iter(told["rounds"])
    start, stop = next(rounds)
    for line in subprocess.check_output(command, text=True).splitlines():
        moment, address, file = line.split(maxsplit=2)
        while float(moment[:-1]) > stop and (more := next(rounds, None)):
            start, stop = more
        if not start <= float(moment[:-1]) <= stop:
            continue
        if os.path.basename(library) in file:
            places.append(f"{int(address, 16) - told['place']:x}")
        else:
            found["fresh pages" if "kernel" in file else "libc and Python"] += 1
    named = subprocess.check_output(
        ["addr2line", "-aif", "-e", library], input="\n".join(places), text=True
    )
    for chain in named.split("0x")[1:]:
        names = [name.split(".")[0] for name in chain.splitlines()[1::2]]
        steps = (STEP_OF[name] for name in names if name in STEP_OF)
        found[next(steps, names[0])] += 1
    return found


def _table(told: Mapping[str, Any], steps: Counter[str]) -> str:
    seconds = min(stop - start for start, stop in told["rounds"])
    each = seconds * 1e9 / told["bytes"]
    rows: Sequence[str] = [
        f"| {step} | {each * count / steps.total():.2f} | {count / steps.total():.0%} |"
        for step, count in steps.most_common()
    ]
    head = f"| step | ns a byte | share |\n|---|---|---|\n| all | {each:.2f} | 100% |"
    return "\n".join([head, *rows]) + "\n"


if __name__ == "__main__":
    main()
