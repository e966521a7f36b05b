"""Texts drawn from a seed, for when no file is given: the shapes of text that matter to a method,
in no language's statistics."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tokpar.bench.datasets import Dataset

FREQUENT = (
    "the of and to a in that is was he for it with as his on be at by had not are but from or "
    "have an they which one you were her all she there would their we him been has when who will "
    "more no if out so said what up its about into than them can only other new some could time "
    "these two may then do first any my now such like our over man me even most made after also "
    "did many before must through back years where much your way well down should because each "
    "just those people state good very make world still own see men work long get here between "
    "both life being under never day same another know while last might us great old year off "
    "come since against go came right used take three tokenizer certificate neighbourhood"
)
CHARACTERS = (
    "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要"
    "下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事"
    "只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长"
)
NAMES = "index value result buffer node token offset left right count parse_line make_seam"

Draw = random.Random


def english(draw: Draw, size: int) -> str:
    """Words, the frequent ones often, in sentences and paragraphs."""
    known = FREQUENT.split()
    weights = [1 / rank for rank in range(1, len(known) + 1)]

    def sentence() -> str:
        words = draw.choices(known, weights, k=draw.randint(4, 22))
        if draw.random() < 0.15:
            words.append(str(draw.randint(1, 99_999)))
        comma = draw.randrange(len(words))
        words[comma] += draw.choice(["", "", ",", ",", ";"])
        end = draw.choice([". ", ". ", ". ", "? ", ".\n\n"])
        return " ".join(words).capitalize() + end

    return _filled(sentence, size)


def chinese(draw: Draw, size: int) -> str:
    """Characters without spaces, sentences of full-width punctuation."""

    def sentence() -> str:
        parts = ("".join(draw.choices(CHARACTERS, k=draw.randint(4, 14))) for _ in range(3))
        return "，".join(parts) + draw.choice(["。", "。", "！", "。\n"])

    return _filled(sentence, size)


def code(draw: Draw, size: int) -> str:
    """Indented lines, underscores, operators, numbers."""

    def function() -> str:
        name, other, third = draw.sample(NAMES.split(), 3)
        number = draw.randint(0, 4096)
        return (
            f"def {name}_{number}({other}: int, {third}: list[str] | None = None) -> int:\n"
            f'    """Returns {other} of the {third}."""\n'
            f"    if {third} is None or len({third}) >= {number}:\n"
            f"        return {other} * 0x{number:04x} + {number % 7}\n"
            f"    {name} = [{third}[i][{number % 9}:] for i in range({other})]\n"
            f"    return sum(map(len, {name}))\n\n\n"
        )

    return _filled(function, size)


def digits(draw: Draw, size: int) -> str:
    """Numbers of up to 3,000 digits, a space or a newline between."""
    return _filled(
        lambda: "".join(draw.choices("0123456789", k=draw.randint(1, 3000))) + draw.choice(" \n"),
        size,
    )


def repetitive(draw: Draw, size: int) -> str:
    """One short string over and over."""
    unit = draw.choice(["a", "=", " ", "ab", "the ", "\n", "哈", "-+"])
    return (unit * (size // len(unit) + 1))[:size]


KINDS: dict[str, Callable[[Draw, int], str]] = {
    "english": english,
    "chinese": chinese,
    "code": code,
    "digits": digits,
    "repetitive": repetitive,
}


def synthetic(
    seed: int, texts: int, size: int, kinds: Sequence[str] = tuple(KINDS)
) -> list[Dataset]:
    """A dataset of each kind: so many texts of `size` code points, the same for the same seed."""
    return [
        Dataset(
            kind,
            tuple(KINDS[kind](random.Random(f"{seed} {kind} {i}"), size) for i in range(texts)),
            f"synthetic, seed {seed}",
        )
        for kind in kinds
    ]


def _filled(part: Callable[[], str], size: int) -> str:
    found: list[str] = []
    length = 0
    while length < size:
        found.append(part())
        length += len(found[-1])
    return "".join(found)[:size]
