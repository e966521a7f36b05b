"""Theorem 29, rule EDGE: both ends of an added token are cuts, whatever the engine does around it.

The conditions are written out here once more, as proofs/29-added-token-edges.md states them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

import pytest
import tiktoken
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    NormalizedString,
    PreTokenizedString,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
)

import tokpar
from tests.support.seams import assert_lossless, every_lossless, serial
from tests.support.tokenizers_drawn import (
    Added,
    ByteLevelSpec,
    Extras,
    LlamaSpec,
    MetaspaceSpec,
    OtherSpec,
    TiktokenSpec,
    build,
    contents,
    hf_specs,
    is_panic,
    plain_copy,
    texts_with,
    tiktoken_specs,
)
from tokpar.certificate.certificate_file import from_bytes, to_bytes
from tokpar.certificate.checker import seam_findings
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.facts.hf_facts import facts_from_json
from tokpar.results.encoding import Encoding
from tokpar.results.seams import Seams
from tokpar.types import AddedToken as Token
from tokpar.types import Facts, Seam

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

SPACES = normalizers.Replace(" ", "▁")
CHARS = "<>[]|abcexyéu\u0301 \n▁ABC"
MERGES = ("x<", "ab", "b>", "a>", ">b", "bc", "b▁", "▁b", "▁▁", "xé", "▁x", "  ")


def bpe(**settings: Any) -> models.BPE:
    """Characters, and merges that reach over the edges of the tokens below."""
    vocab = {char: i for i, char in enumerate(dict.fromkeys(CHARS))}
    for pair in MERGES:
        vocab[pair] = len(vocab)
    return models.BPE(vocab=vocab, merges=[(a, b) for a, b in MERGES], **settings)


def made(
    *tokens: AddedToken, normalizer: Any = None, pre: Any = None, **settings: Any
) -> Tokenizer:
    """One piece for each segment, unless `pre` divides it."""
    tokenizer = Tokenizer(bpe(**settings))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre is not None:
        tokenizer.pre_tokenizer = pre
    tokenizer.add_tokens(list(tokens))
    return tokenizer


def raw(content: str, **flags: bool) -> AddedToken:
    return AddedToken(content, **{"normalized": False, **flags})


def loaded(tokenizer: Any) -> TokenizerAdapter:
    settings = {"allowed_special": "all"} if isinstance(tokenizer, tiktoken.Encoding) else {}
    return tokpar.load(tokenizer, **settings)


def planner(tokenizer: Any) -> CutFinder:
    return finder_for(facts_of(loaded(tokenizer)))


def claims(text: str, facts: Facts) -> Iterator[Seam]:
    """Every EDGE seam that names an added token which stands there."""
    for content in sorted({token.content for token in facts.added_tokens}):
        for edge, before in (("start", 0), ("end", len(content))):
            for p in range(1, len(text)):
                if p >= before and text.startswith(content, p - before):
                    yield Seam(p, "EDGE", "29", (("token", content), ("edge", edge)))


def licensed(text: str, facts: Facts) -> list[int]:
    """Places at which the checker accepts some EDGE seam."""
    fine = {s.position for s in claims(text, facts) if not [*seam_findings([s], text, facts)]}
    return sorted(fine)


def halves_differ(encode: Callable[[str], list[int]], text: str, p: int) -> bool:
    return encode(text[:p]) + encode(text[p:]) != encode(text)


# ------------------------------------------------------------------------- each hypothesis


class Case(NamedTuple):
    """A text whose ids a cut at `p`, an edge of an added token, changes."""

    tokenizer: Tokenizer
    text: str
    p: int


def mark_first() -> Any:
    return pre_tokenizers.Metaspace(prepend_scheme="first", split=False)


def special_as_text() -> Tokenizer:
    tokenizer = made(raw("bc"))
    tokenizer.add_special_tokens([raw("ab")])
    tokenizer.encode_special_tokens = True
    return tokenizer


CASES: dict[str, Callable[[], Case]] = {
    "left": lambda: Case(made(raw("x<"), raw("<a>")), "x<a>", 1),
    "longer": lambda: Case(made(raw("<a>"), raw("<a>b")), "<a>b", 3),
    "itself": lambda: Case(made(raw("aa")), "aaa", 1),
    "lstrip": lambda: Case(made(raw("<a>", lstrip=True)), "x  <a>", 3),
    "rstrip": lambda: Case(made(raw("<a>", rstrip=True)), "<a>  x", 3),
    "single_word": lambda: Case(made(raw("ca", single_word=True)), "cab", 2),
    "normalized": lambda: Case(
        made(AddedToken("e", normalized=True), normalizer=normalizers.NFC()), "xe\u0301", 1
    ),
    "dummy": lambda: Case(
        made(
            AddedToken(" a", normalized=True),
            normalizer=normalizers.Sequence([normalizers.Prepend("▁"), SPACES]),
        ),
        "x ab",
        1,
    ),
    "inside": lambda: Case(made(AddedToken("<ab>", normalized=True), raw("b")), "x<ab>y", 1),
    "stripped": lambda: Case(
        made(AddedToken(" a", normalized=True), raw("<u>", rstrip=True)), "<u> ab", 5
    ),
    "beside": lambda: Case(made(raw("ca", single_word=True), raw("b<")), "cab<", 2),
    "first": lambda: Case(made(raw("<a>"), pre=mark_first()), "a<a>b", 4),
    "hidden": lambda: Case(special_as_text(), "abc", 1),
}


@pytest.mark.parametrize(
    "name",
    [
        *("left", "longer", "itself", "lstrip", "rstrip", "single_word", "normalized", "inside"),
        *("stripped", "beside", "first", "hidden", "dummy"),
    ],
)
def test_theorem_29_needs_each_condition(name: str) -> None:
    tokenizer, text, p = CASES[name]()
    facts = facts_of(loaded(tokenizer))
    assert p in {seam.position for seam in claims(text, facts)}
    assert halves_differ(lambda some: serial(tokenizer, some), text, p)
    assert finder_for(facts).edges.certify(text, p) is None
    assert p not in licensed(text, facts)


@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word"])
def test_no_edge_of_a_flagged_token_is_a_cut(flag: str) -> None:
    """Not even where the flag does nothing."""
    facts = facts_of(loaded(made(raw("<a>", **{flag: True}), raw("<b>"))))
    text = "x <a> x<a><b>.<a>x"
    places = [p for p in range(1, len(text)) if finder_for(facts).edges.certify(text, p)]
    assert places == licensed(text, facts) == [10, 13]


def test_theorem_29_needs_an_engine_that_looks_at_one_segment_at_a_time() -> None:
    class Characters:
        def pre_tokenize(self, text: PreTokenizedString) -> None:
            several = len(text.get_splits()) > 1

            def parts(_: int, part: NormalizedString) -> list[NormalizedString]:
                whole = range(len(str(part)))
                return [part[i : i + 1] for i in whole] if several else [part]

            text.split(parts)

    tokenizer = made(raw("<a>"))
    tokenizer.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Characters())
    text = "ab<a>"
    assert halves_differ(lambda some: serial(tokenizer, some), text, 2)
    facts = facts_of(loaded(tokenizer))
    assert facts.added_token_cuts_refused == facts.unprovable
    known = replace(facts, added_tokens=(Token("<a>", 0),))
    assert finder_for(known).edges.certify(text, 2) is None
    assert licensed(text, known) == []


def test_theorem_29_needs_a_model_that_is_not_random() -> None:
    facts = facts_of(loaded(made(raw("<a>"), dropout=0.5)))
    assert facts.added_token_cuts_refused is not None
    assert licensed("ab<a>", facts) == []


def test_theorem_29_needs_special_tokens_none_of_which_begins_another() -> None:
    """Which of the two is found at one place is a matter of a hash table."""
    for special in (("<a>", "<a>b"), ("<a>",)):
        encoding = build(TiktokenSpec("cl100k", special=special))
        facts = facts_of(loaded(encoding))
        assert (facts.added_token_cuts_refused is None) == (len(special) == 1)
        assert licensed("x<a>b", facts) == ([1, 4] if len(special) == 1 else [])


def test_a_text_with_a_lone_surrogate_is_not_cut() -> None:
    encoding = build(TiktokenSpec("cl100k", special=("<a>",)))
    finder = planner(encoding)
    assert finder.refusal_for("x<a>\ud83d") is not None
    seam = finder.edges.certify("x<a>y", 1)
    assert seam is not None
    assert [*seam_findings([seam], "x<a>\ud83d", facts_of(loaded(encoding)))]


def test_the_start_of_a_token_is_a_cut_where_only_its_end_is_none() -> None:
    tokenizer = made(raw("<a>"), pre=mark_first())
    text = "a<a>b<a><a>c"
    facts = facts_of(loaded(tokenizer))
    assert facts.first_prefix
    assert [p for p in range(1, len(text)) if finder_for(facts).edges.certify(text, p)] == [1, 5, 8]
    assert licensed(text, facts) == [1, 5, 8]


def test_a_token_that_occurs_in_another_does_not_disturb_it() -> None:
    """Gemma's runs of newlines: of two side by side the longest is one token."""
    tokenizer = made(raw("\n\n"), raw("\n\n\n"), raw("<\n\n>"))
    facts = facts_of(loaded(tokenizer))
    finder = finder_for(facts)
    for text, places in (
        ("a\n\n\nb", [1, 4]),
        ("a\n\n\n\nb", []),
        ("a\n\nb\n\n", [1, 3, 4]),
        ("a<\n\n>b", [1, 5]),
        ("a<\n\n\n>b", [2, 5]),
    ):
        assert [p for p in range(1, len(text)) if finder.edges.certify(text, p)] == places
        assert licensed(text, facts) == places


# ------------------------------------------------------------------------- drawn tokenizers


def disturbed(token: Token, first: int, last: int, text: str, facts: Facts) -> bool:
    """Some other occurrence shares a character with [first, last) and does not lie inside, or is
    looked for earlier."""
    for other in facts.added_tokens:
        for s in range(len(text)):
            e = s + len(other.content)
            itself = other == token and s == first
            if not itself and text.startswith(other.content, s) and s < last and first < e:
                inside = first <= s and e <= last
                if not inside or (token.normalized and not other.normalized):
                    return True
    return False


def stated(text: str, p: int, facts: Facts) -> bool:
    """Theorem 29 with the caution of the code, place by place."""
    flagged = [t for t in facts.added_tokens if t.lstrip or t.rstrip or t.single_word]
    strips = any(t.lstrip or t.rstrip for t in flagged)
    unchanged = not facts.normalizers and facts.scheme != "dummy"

    def white(char: str) -> bool:
        return char.isspace() or char in "\u200b\u180e\ufeff"

    def word(char: str) -> bool:
        return not char.isascii() or char.isalnum() or char == "_"

    def reaches_over(t: Token, s: int) -> bool:
        e = s + len(t.content)
        return (
            s < p < e
            or (t.single_word and ((e == p and word(text[p])) or (s == p and word(text[p - 1]))))
            or (t.rstrip and e <= p and all(map(white, text[e : p + 1])))
            or (t.lstrip and s >= p and all(map(white, text[p - 1 : s])))
        )

    for token in facts.added_tokens:
        size = len(token.content)
        if token in flagged or (token.normalized and not unchanged):
            continue
        if strips and (white(token.content[0]) or white(token.content[-1])):
            continue
        for first in {p, p - size} if not facts.first_prefix else {p}:
            if first < 0 or not text.startswith(token.content, first):
                continue
            if disturbed(token, first, first + size, text, facts):
                continue
            places = [
                (t, s) for t in flagged for s in range(len(text)) if text.startswith(t.content, s)
            ]
            if not any(reaches_over(t, s) for t, s in places):
                return True
    return False


CONTENTS = (
    *("<", "<a>", "a>", "<ab", "ab>", "<s>a", " <s>", "<s> ", "<s>", "s>", "><", " a", "a ", "aa"),
    *("\n\n", "\n\n\n", "  ", "\n", "b", "ab", "aba", "é", "\u0301", "中", "▁", "<|end|>", "1"),
)
RARE = st.sampled_from((False,) * 7 + (True,))
TOKENS = st.lists(
    st.builds(Added, st.sampled_from(CONTENTS), RARE, RARE, RARE, st.booleans(), st.booleans()),
    min_size=1,
    max_size=5,
    unique_by=lambda token: token.content,
).map(tuple)


def collided(spec: Any, added: tuple[Added, ...]) -> Any:
    """The spec with these tokens, which collide in the drawn texts."""
    if isinstance(spec, TiktokenSpec):
        return replace(spec, special=tuple(token.content for token in added))
    return replace(spec, extras=replace(spec.extras, added=added))


SPECS = st.builds(collided, st.one_of(hf_specs(finishing=False), tiktoken_specs()), TOKENS)


@st.composite
def drawn(draw: st.DrawFn) -> tuple[Any, str]:
    spec = draw(SPECS)
    names = contents(build(spec))
    between = st.one_of(st.text("ab<>sx 1\n.", max_size=4), texts_with(names, 12))
    parts = st.lists(st.one_of(st.sampled_from(names), between) if names else between, max_size=12)
    return spec, "".join(draw(parts))


def tokenizer_of(spec: Any) -> Any:
    tokenizer = build(spec)
    return tokenizer if isinstance(tokenizer, tiktoken.Encoding) else plain_copy(tokenizer)


def own(adapter: TokenizerAdapter, text: str) -> list[int]:
    """Ids; an example on which the engine's own call panics is set aside."""
    try:
        return adapter.encode(text).tolist()
    except BaseException as error:
        if isinstance(error, tokpar.EngineError) or is_panic(error):
            assume(False)
        raise


UNIGRAM = MetaspaceSpec("Unigram", 1, 30, "always", False, extras=Extras((Added("<s>"),)))


@given(drawn())
@example((UNIGRAM, "ab a<s>the ab<s><s>"))
@example((replace(UNIGRAM, scheme="first"), "ab a<s>the ab<s><s>"))
@example((OtherSpec("Split behind", 1, 30, (), Extras((Added("a<"),))), "ba<bbab a<"))
@example((OtherSpec("Split anchored", 1, 30, ("Strip",), Extras((Added("<s>"),))), " a <s> b "))
@example((OtherSpec("none", 1, 30, ("NFKC",), Extras((Added("<s>"),))), "e<s>\u0301\u0301<s>"))
@example((LlamaSpec(1, 30, extras=Extras((Added("<s>"),))), "ab <s> ab<s>"))
@example((ByteLevelSpec("gpt2", 1, prefix_space=True, extras=Extras((Added("<s>"),))), "a<s>a"))
def test_theorem_29_edges_of_drawn_tokens_part_the_ids(pair: tuple[Any, str]) -> None:
    """The planner finds them where the theorem says and nowhere else, the checker agrees, and they
    are lossless one by one and all at once."""
    spec, text = pair
    adapter = loaded(tokenizer_of(spec))
    facts = facts_of(adapter)
    finder = finder_for(facts)
    if facts.added_token_cuts_refused is not None or finder.refusal_for(text) is not None:
        assert facts.added_token_cuts_refused is None or licensed(text, facts) == []
        return
    places = [p for p in range(1, len(text)) if stated(text, p, facts)]
    seams = [seam for p in range(1, len(text)) if (seam := finder.edges.certify(text, p))]
    assert [seam.position for seam in seams] == places
    assert not [*seam_findings(seams, text, facts)]
    whole = own(adapter, text)
    for p in licensed(text, facts):
        assert own(adapter, text[:p]) + own(adapter, text[p:]) == whole, (text, p)
    ends = [0, *places, len(text)]
    apart = [own(adapter, text[a:b]) for a, b in pairwise(ends)]
    assert [*chain.from_iterable(apart)] == whole


@given(drawn(), st.integers(0, 20), st.integers(1, 30))
def test_finding_from_any_place_gives_the_next_edge(
    pair: tuple[Any, str], start: int, length: int
) -> None:
    spec, text = pair
    finder = planner(tokenizer_of(spec))
    stop = start + length
    inside = range(max(1, start), min(stop, len(text)))
    expected = next((s for p in inside if (s := finder.edges.certify(text, p))), None)
    assert finder.edges.find(text, start, stop) == expected


# ------------------------------------------------------------------------- whole encodings

MESSAGES = (
    ("system", "You are  a helpful ab\u0301stract machine.\n\n\n"),
    ("user", "what's <b> in “a  b ab c” ? 12345 <|im_sta rt|>"),
    ("assistant", "中文 abab\n\n  def x():\n\treturn '<|im_end'\n"),
    ("user", ""),
    ("assistant", " b "),
)
TRANSCRIPT = 3 * "".join(f"<|im_start|>{who}\n{said}<|im_end|>\n" for who, said in MESSAGES)
CHAT = tuple(raw(content) for content in ("<|im_start|>", "<|im_end|>"))


def unigram(pre: Any) -> Tokenizer:
    pieces = [*dict.fromkeys(TRANSCRIPT.replace(" ", "▁")), "ab", "▁a", "abab", "th", "ef▁x"]
    model = models.Unigram([(piece, -1.0 - i / 7) for i, piece in enumerate(pieces)], 0, False)
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre
    tokenizer.add_tokens(list(CHAT))
    return tokenizer


SERIAL_TODAY: dict[str, Callable[[], Any]] = {
    "gemma": lambda: made(
        *CHAT, normalizer=SPACES, pre=pre_tokenizers.Split(" ", "merged_with_previous")
    ),
    "nothing": lambda: made(*CHAT),
    "unigram": lambda: unigram(pre_tokenizers.Metaspace(split=False)),
    "unigram, first": lambda: unigram(pre_tokenizers.Metaspace("▁", "first", split=False)),
    "look-behind": lambda: made(*CHAT, pre=pre_tokenizers.Split(Regex("(?<=b) b|."), "isolated")),
    "anchored": lambda: made(*CHAT, pre=pre_tokenizers.Split(Regex(r"\A.|b\z"), "removed")),
    "Nmt": lambda: made(*CHAT, normalizer=normalizers.Nmt(), pre=pre_tokenizers.UnicodeScripts()),
    "Replace by a regex": lambda: made(
        *CHAT, normalizer=normalizers.Replace(Regex("a.*"), "b"), pre=pre_tokenizers.ByteLevel()
    ),
    "Prepend and more": lambda: made(
        *CHAT, normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.NFC()])
    ),
    "tiktoken": lambda: tiktoken.Encoding(
        "behind",
        pat_str=r"(?<=a)b+|\p{L}+|[\s\S]",
        mergeable_ranks={bytes([i]): i for i in range(256)} | {b"ab": 256, b"abab": 257},
        special_tokens={"<|im_start|>": 300, "<|im_end|>": 301},
    ),
}


@pytest.mark.parametrize("name", SERIAL_TODAY)
def test_transcripts_are_cut_where_nothing_else_is_known(name: str) -> None:
    tokenizer = SERIAL_TODAY[name]()
    adapter = loaded(tokenizer)
    finder = finder_for(facts_of(adapter))
    assert finder.refusal is not None
    assert finder.refusal_for("ab ab ab") == finder.refusal
    expected = adapter.encode(TRANSCRIPT).tolist()
    for size in (1, 8, 40):
        for strategy, options in every_lossless(size):
            encoding = tokpar.encode(
                TRANSCRIPT, adapter, strategy=strategy, executor="serial", **options
            )
            assert encoding.ids.tolist() == expected, (strategy, options)
            assert {seam.rule for seam in encoding.seams} == {"EDGE"}
            assert encoding.report.redundant == 0
            report = tokpar.check(encoding, TRANSCRIPT, adapter)
            assert report.ok, report.findings


@pytest.mark.parametrize("name", SERIAL_TODAY)
def test_a_text_without_the_tokens_is_encoded_serially_for_the_same_reason(name: str) -> None:
    adapter = loaded(SERIAL_TODAY[name]())
    text = TRANSCRIPT.replace("<|", "< |")
    for strategy, options in every_lossless(8):
        encoding = tokpar.encode(text, adapter, strategy=strategy, executor="serial", **options)
        assert encoding.ids.tolist() == adapter.encode(text).tolist()
        assert encoding.report.plan == "serial"


def test_a_known_tokenizer_is_cut_at_tokens_where_nothing_else_can_be() -> None:
    tokenizer = letters()
    text = ("ab" * 40 + "xyz") * 6
    encoding = tokpar.encode(text, tokenizer, strategy="cut", executor="serial", chunk_chars=50)
    assert {seam.rule for seam in encoding.seams} == {"EDGE"}
    assert encoding.report.plan == "certified cuts: 6 EDGE"
    assert_lossless(tokenizer, text)


def letters() -> Any:
    """A known pattern, to which its added token is a part of a word like any other."""
    spec = ByteLevelSpec("llama3", 1, 40, extras=Extras((Added("xyz"),)))
    return plain_copy(build(spec))


def test_a_token_in_a_long_pre_token_is_not_passed_over() -> None:
    text = "ab" * 5_000 + "xyz" + "ab" * 5_000
    encoding = tokpar.encode(text, letters(), strategy="auto", executor="serial", chunk_chars=64)
    assert [(seam.position, seam.rule) for seam in encoding.seams][:1] == [(10_000, "EDGE")]


# ------------------------------------------------------------------------- planted mistakes


def moved(seam: Seam, by: int) -> Seam:
    return replace(seam, position=seam.position + by)


def told(seam: Seam, **changes: str) -> Seam:
    return replace(seam, witness=tuple({**dict(seam.witness), **changes}.items()))


WRONG: dict[str, Callable[[Seam], Seam]] = {
    "one to the right": lambda seam: moved(seam, 1),
    "one to the left": lambda seam: moved(seam, -1),
    "far": lambda seam: moved(seam, 9),
    "the other edge": lambda seam: told(
        seam, edge={"start": "end", "end": "start"}[str(dict(seam.witness)["edge"])]
    ),
    "another token": lambda seam: told(seam, token="<|im_end|>"),
    "a flagged token": lambda seam: told(seam, token="<f>"),
    "no token": lambda seam: told(seam, token="im_start"),
    "the empty token": lambda seam: told(seam, token=""),
    "an edge of no name": lambda seam: told(seam, edge="middle"),
    "no witness": lambda seam: replace(seam, witness=()),
    "more witness": lambda seam: replace(seam, witness=(*seam.witness, ("pattern", "gpt2"))),
    "another theorem": lambda seam: replace(seam, theorem="6.1"),
    "another rule": lambda seam: replace(seam, rule="PAIR"),
    "no rule": lambda seam: replace(seam, rule=None),
}


@pytest.mark.each_value
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("stored", [False, True])
def test_the_checker_refuses_a_damaged_seam(name: str, stored: bool) -> None:
    tokenizer = made(*CHAT, raw("<f>", rstrip=True))
    adapter = loaded(tokenizer)
    text = "<f> " + TRANSCRIPT
    encoding = tokpar.encode(text, adapter, strategy="cut", executor="serial", chunk_chars=2)
    assert tokpar.check(encoding, text, adapter).ok
    seams = [*encoding.seams]
    starts = [k for k, s in enumerate(seams) if dict(s.witness)["token"] == "<|im_start|>"]
    k = starts[0]
    seams[k] = WRONG[name](seams[k])
    damaged: Any = Encoding.of(encoding.ids, Seams.of(seams), encoding.report)
    if stored:
        damaged = from_bytes(to_bytes(damaged, text, "t", tokpar_version="1"))
    report = tokpar.check(damaged, text, adapter)
    assert not report.ok
    assert any(finding.seam in (k, None) for finding in report.findings)


def test_an_edge_proves_no_other_seam_of_the_tokenizer() -> None:
    """Where only edges of added tokens are cuts, every seam of another rule is refused."""
    adapter = loaded(made(*CHAT))
    text = "ab<|im_end|>x ab"
    for rule, theorem, witness in (
        ("PAIR", "20", (("pattern", "gpt2"), ("left", "non-space"), ("right", "space"))),
        ("STAGE", "6.4", (("absorbed", "1"),)),
        ("K4", "24", (("start", 0), ("stop", len(text)))),
    ):
        seams = [
            Seam(2, "EDGE", "29", (("token", "<|im_end|>"), ("edge", "start")), 1),
            Seam(13, rule, theorem, witness, 3),  # type: ignore[arg-type]
        ]
        assert not [*seam_findings(seams[:1], text, facts_of(adapter))]
        assert [*seam_findings(seams, text, facts_of(adapter))]


# ------------------------------------------------------------------------- facts


def test_facts_of_an_unknown_part_license_no_edge() -> None:
    plain = {
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        "added_tokens": [{"content": "<a>", "id": 1}],
    }
    assert facts_from_json(plain).added_token_cuts_refused is None
    for part, stage in (
        ("normalizer", {"type": "Sideways"}),
        ("pre_tokenizer", {"type": "Backwards"}),
        ("model", {"type": "Oracle", "vocab": {"a": 0}}),
        ("model", {**plain["model"], "dropout": 0.1}),  # type: ignore[dict-item]
    ):
        assert facts_from_json({**plain, part: stage}).added_token_cuts_refused is not None


def test_two_tokens_of_one_content_are_no_certain_token() -> None:
    facts = replace(
        facts_of(loaded(made(raw("<a>")))), added_tokens=(Token("<a>", 1), Token("<a>", 2))
    )
    assert finder_for(facts).edges.refusal is not None
    assert licensed("x<a>x", facts) == []


def test_an_edge_does_not_make_up_for_what_is_not_provable() -> None:
    facts = replace(facts_of(loaded(letters())), unprovable="it is said to be random")
    text = "ab xyz"
    seams = [
        Seam(2, "PAIR", "20", (("pattern", "cl100k"), ("left", "non-space"), ("right", "space"))),
        Seam(3, "EDGE", "29", (("token", "xyz"), ("edge", "start"))),
    ]
    assert not [*seam_findings(seams[1:], text, facts)]
    assert not [*seam_findings(seams, text, replace(facts, unprovable=None))]
    assert [*seam_findings(seams, text, facts)]


def test_facts_that_say_nothing_license_no_edge() -> None:
    facts = Facts("engine", "BPE", added_tokens=(Token("<a>", 1),), unprovable="unknown")
    assert finder_for(facts).refusal_for("x<a>x") is not None
    assert licensed("x<a>x", facts) == []
