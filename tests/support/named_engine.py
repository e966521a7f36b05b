"""The definition of untrusted spans (proofs/untrusted.md), word by word, with the engine itself."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Sequence
from typing import Any

import tiktoken
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

import tokpar
from tests.support.stages_drawn import drawn_tokenizer
from tests.support.tokenizers_drawn import may_never_end

ERRORS = (tokpar.OptionError, tokpar.ControlTokenError, tokpar.EngineError)
SPECIALS = ("<|start|>", "<|end|>", "<|user|>")
Span = tuple[int, int]
FLAGS = ("lstrip", "rstrip", "single_word")
CONTENTS = (
    *("<a>", "<a>b", "<a", "ab<", "<b>", "|>", "b<a>", "<|", "a|", "<a><b>", "ba", "A<", "_a"),
    *("é<", "<s>", "中"),
)


def chat_tokenizer(rng: random.Random) -> tuple[Tokenizer, list[str]]:
    """Any row of stages around any model, with added tokens that look like those of chats."""
    own = drawn_tokenizer(rng)
    for content in rng.sample(CONTENTS, rng.randint(1, 5)):
        flags = {flag: rng.random() < 0.2 for flag in FLAGS}
        late = rng.random() < 0.2
        token = AddedToken(content, special=rng.random() < 0.6, normalized=late, **flags)
        if not may_never_end(token, own):
            own.add_tokens([token])
    return own, [token.content for token in own.get_added_tokens_decoder().values()]


def chat_text(rng: random.Random, contents: Sequence[str]) -> str:
    halves = [content[:k] for content in contents for k in range(1, len(content))]
    others = [*"ab <>|1_A\n", "  ", "é", "中", "\ue000", "\u00a0"]
    parts = rng.choices([*contents, *contents, *halves, *others], k=rng.randint(1, 12))
    return "".join(parts)


def drawn_spans(rng: random.Random, text: str) -> list[Span]:
    places = sorted(rng.randint(0, len(text)) for _ in range(2 * rng.randint(0, 2)))
    return [pair for pair in zip(places[::2], places[1::2], strict=True) if pair[0] < pair[1]]


class NamedEngine:
    """The ids of texts with untrusted spans by one call of the engine on the text with names.

    `control`: contents of added tokens, all searched in the text as it is."""

    def __init__(self, own: Tokenizer, control: Collection[str]) -> None:
        data = json.loads(own.to_str())
        self.added = {token["content"]: token for token in data["added_tokens"]}
        self.control = sorted(control)
        for token in self.added.values():
            token["special"] = token["content"] in control
        used = {*"".join(self.added), *"".join(own.get_vocab())}
        free = (chr(k) for k in range(0xF0000, 0xFFFFE) if chr(k) not in used)
        self.engine = Tokenizer.from_str(json.dumps(data))
        self.engine.encode_special_tokens = True
        self.names = {content: self._name(content, next(free)) for content in self.control}
        for content, name in self.names.items():
            flags = {flag: self.added[content][flag] for flag in (*FLAGS, "normalized")}
            self.engine.add_tokens([AddedToken(name, special=False, **flags)])
        self.ids = {self.engine.token_to_id(self.names[c]): own.token_to_id(c) for c in control}

    def _name(self, content: str, char: str) -> str:
        edges = ["\U00010600" if is_word(content[k]) else "" for k in (0, -1)]
        return edges[0] + char + edges[1]

    def encode(self, text: str, spans: Sequence[Span]) -> tuple[list[int], list[Span]]:
        """The ids, and their places in the text, code points."""
        found = self.found(text, spans)
        at, parts, places = 0, [], []
        for start, stop, content in found:
            parts += [text[at:start], self.names[content]]
            places += [*range(at, start), *[start] * len(self.names[content])]
            at = stop
        named = "".join([*parts, text[at:]])
        places += range(at, len(text) + 1)
        encoding = self.engine.encode(named, add_special_tokens=False)
        assert sum(id_ in self.ids for id_ in encoding.ids) == len(found)
        moved = [(places[start], places[stop]) for start, stop in encoding.offsets]
        return [self.ids.get(id_, id_) for id_ in encoding.ids], moved

    def found(self, text: str, spans: Sequence[Span]) -> list[tuple[int, int, str]]:
        found, at = [], 0
        contents = [c for c, token in self.added.items() if not token["normalized"]]
        pattern = "|".join(map(re.escape, sorted(contents, key=len, reverse=True)))
        for start, stop in [*spans, (len(text), len(text))]:
            for match in re.finditer(pattern, text[at:start]) if pattern else ():
                place = at + match.start(), at + match.end()
                content = match[0]
                alone = not self.added[content]["single_word"] or stands_alone(text, *place)
                if alone and content in self.control:
                    found.append((*place, content))
            at = stop
        return found


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def stands_alone(text: str, start: int, stop: int) -> bool:
    before = start > 0 and is_word(text[start - 1])
    return not before and not (stop < len(text) and is_word(text[stop]))


def may_be_control(data: dict[str, Any], token: dict[str, Any]) -> bool:
    """Whether the definition by `NamedEngine` covers this control token: it is searched in the raw
    text, and no other token strips what it begins or ends with."""
    strips = any(each["lstrip"] or each["rstrip"] for each in data["added_tokens"])
    content = token["content"]
    return not token["normalized"] and not (strips and content != content.strip())


def small_chat() -> Tokenizer:
    vocabulary = {char: k for k, char in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens([*SPECIALS])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False)])
    return tokenizer


class World:
    """A drawn tokenizer, its encoder, and the definition for some control tokens."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.own, self.contents = chat_tokenizer(self.rng)
        data = json.loads(self.own.to_str())
        able = [t["content"] for t in data["added_tokens"] if may_be_control(data, t)]
        self.control = self.rng.sample(able, self.rng.randint(0, len(able)))
        self.encoder = tokpar.Encoder(tokpar.load(self.own, add_special_tokens=False))
        self.engine = NamedEngine(self.own, self.control)

    def text(self) -> tuple[str, list[Span]]:
        text = chat_text(self.rng, self.contents)
        return text, drawn_spans(self.rng, text)


def encoding_of(specials: dict[str, int]) -> tiktoken.Encoding:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"<|": 257, b"|>": 258}
    pattern = r"\p{L}+|\d| ?[^\s\p{L}\d]+|\s+"
    return tiktoken.Encoding(
        "t", pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(specials)
    )
