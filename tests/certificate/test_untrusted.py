"""Encodings of texts with untrusted spans: the checker finds control tokens by its own search."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

import tokpar
from tests.conftest import drawn
from tests.support.attacks import attack_trust, unzipped, zipped
from tests.support.named_engine import NamedEngine, chat_text, chat_tokenizer, drawn_spans
from tokpar.adapters import hf_trust
from tokpar.certificate.canonical_form import form_of_json
from tokpar.certificate.certificate_file import from_bytes, to_bytes
from tokpar.certificate.control_search import control_matches

SPECIALS = ("<|start|>", "<|end|>", "<|user|>")
TEXT = "<|start|>user <|end|> and <|start|>"
SPANS = [(9, 21)]
PART = "<|start|>some words é and <|end|> more, "
Span = tuple[int, int]


def byte_level(*added: AddedToken, normalizer: Any = None) -> Tokenizer:
    vocabulary = {char: k for k, char in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    own = Tokenizer(models.BPE(vocabulary, []))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if normalizer is not None:
        own.normalizer = normalizer
    own.add_tokens([*added])
    return own


def chat(**flags: bool) -> Tokenizer:
    special = [AddedToken(each, special=True, **flags) for each in SPECIALS]
    return byte_level(*special, AddedToken("<tool>", normalized=False))


def kinds(report: tokpar.CheckReport) -> list[tuple[str, int | None]]:
    return [(finding.kind, finding.position) for finding in report.findings]


def forged_for(
    spans: list[Span], encoding: tokpar.Encoding, ids: Any, **fields: Any
) -> tokpar.Encoding:
    """An encoding that says to be of a text with these spans, and has these ids."""
    assert encoding.report.trust is not None
    trust = replace(encoding.report.trust, untrusted=tuple(spans), **fields)
    report = replace(encoding.report, trust=trust)
    return tokpar.Encoding.of(np.array(ids, np.uint32), encoding.seams, report)


# ---------------------------------------------------------------------------------- verdicts


@pytest.mark.ids
def test_right_ids_of_drawn_tokenizers_pass_and_no_others() -> None:
    seen: Counter[str] = Counter()
    rng = random.Random("untrusted")
    for _ in range(drawn(150)):
        attack_trust(rng, seen)
    assert seen["ids: passed, ids right"] > drawn(400)
    assert seen["ids: refused, ids wrong"] > drawn(1500)


@pytest.mark.parametrize("level", ["ids", "model"])
@pytest.mark.parametrize("flags", [{"normalized": False}, {"normalized": True}])
def test_an_encoding_and_its_file_pass(level: str, flags: dict[str, bool]) -> None:
    own = chat(**flags)
    long = [(k * len(PART) + 9, k * len(PART) + len(PART) - 7) for k in range(0, 200, 3)]
    words = "no control token in it " * 300
    for text, spans in ((TEXT, SPANS), (PART * 200, long), (words, [(0, 3)])):
        found = tokpar.encode(text, own, untrusted=spans)
        stored = from_bytes(to_bytes(found, text, "chat"))
        for each in (found, stored):
            report = tokpar.check(each, text, own, level=level, untrusted=spans)
            assert report, report
            assert any(f"{len(spans)} untrusted spans" in claim for claim in report.proved)
            assert "'<|end|>'" in report.proved[-1]
        assert stored.trust == found.report.trust


def test_a_seam_inside_of_a_control_token_is_no_place_of_the_text() -> None:
    own = chat()
    found = tokpar.encode(PART * 200, own, untrusted=[(9, 21)])
    planned = found.seams.planned
    moved = replace(found.seams, planned=replace(planned, positions=planned.positions + 1))
    report = tokpar.check(
        tokpar.Encoding.of(found.ids, moved, found.report), PART * 200, own, untrusted=[(9, 21)]
    )
    assert report.findings[0].message == "a seam is inside of a control token"


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        ("a control id in untrusted text", lambda ids, own: own.encode(TEXT).ids, 14),
        ("a control token is missing", lambda ids, own: [*ids[:-1], 31], 26),
        ("two are exchanged", lambda ids, own: [*ids[:-1], own.token_to_id("<|user|>")], 26),
        ("one more", lambda ids, own: [*ids[:-1], own.token_to_id("<|end|>"), ids[-1]], 26),
        ("one sooner", lambda ids, own: [*ids[:-3], ids[-1], *ids[-3:-1]], 24),
    ],
)
def test_wrong_control_ids_are_found_at_their_place(
    name: str, change: Callable[[Any, Any], Any], place: int
) -> None:
    own = chat()
    found = tokpar.encode(TEXT, own, untrusted=SPANS)
    forged = replace(found, ids=np.array(change(found.ids.tolist(), own), np.uint32))
    report = tokpar.check(forged, TEXT, own, untrusted=SPANS)
    assert ("control", place) in kinds(report), report.findings
    model = tokpar.check(forged, TEXT, own, level="model", untrusted=SPANS)
    assert model.findings
    assert not model


def test_a_control_id_that_the_model_gives_itself_is_found() -> None:
    own = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0), ("</s>", -1.0)], 0))
    own.normalizer = normalizers.NFKC()
    own.add_special_tokens(["</s>", "<unk>"])
    for text in ("a</s>a", "a＜/s＞a"):  # the second is no occurrence before the normalizer
        spans = [(0, len(text))]
        with pytest.raises(tokpar.ControlTokenError):
            tokpar.encode(text, own, untrusted=spans)
        forged = forged_for(spans, tokpar.encode("aaa", own, untrusted=[]), [1, 2, 1])
        report = tokpar.check(forged, text, own, untrusted=spans)
        assert kinds(report)[-1][0] == "control"
    assert tokpar.check(tokpar.encode("axa", own, untrusted=[]), "axa", own, untrusted=[])


def test_the_unknown_token_may_be_a_control_token() -> None:
    own = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    own.add_special_tokens(["[UNK]"])
    text = "a x [UNK] a [UNK]"
    found = tokpar.encode(text, own, untrusted=[(9, 17)])
    assert found.ids.tolist() == [1, 0, 0, 1, 0]
    assert tokpar.check(found, text, own, untrusted=[(9, 17)])
    model = tokpar.check(found, text, own, level="model", untrusted=[(9, 17)])
    assert "the unknown token" in str(model.refused)
    other = tokpar.encode("a x", own, untrusted=[(0, 1)])
    assert tokpar.check(other, "a x", own, level="model", untrusted=[(0, 1)])


def test_special_tokens_around_and_truncation_are_those_of_the_tokenizer() -> None:
    own = chat()
    pair = [(each, own.token_to_id(each)) for each in SPECIALS[:2]]
    own.post_processor = processors.TemplateProcessing("<|start|> $A <|end|>", special_tokens=pair)
    found = tokpar.encode(TEXT, own, untrusted=SPANS)
    for level in ("ids", "model"):
        assert tokpar.check(found, TEXT, own, level=level, untrusted=SPANS)
    own.enable_truncation(12)
    cut = tokpar.encode(TEXT, own, untrusted=SPANS)
    assert tokpar.check(cut, TEXT, own, untrusted=SPANS)
    assert not tokpar.check(found, TEXT, own, untrusted=SPANS)


def test_special_tokens_of_tiktoken() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"<|": 256}
    own = tiktoken.Encoding(
        "t",
        pat_str=r"\p{L}+|\P{L}",
        mergeable_ranks=ranks,
        special_tokens={"<|a|>": 300, "<|b|>": 301},
    )
    adapter = tokpar.load(own, allowed_special={"<|a|>"}, disallowed_special=())
    text = "<|a|>x<|a|> <|b|>y<|a|>"
    found = tokpar.Encoder(adapter).encode(text, untrusted=[(6, 18)])
    assert found.ids.tolist().count(300) == 2
    for level in ("ids", "model"):
        assert tokpar.check(found, text, adapter, level=level, untrusted=[(6, 18)])
    for wrong in (own.encode(text, allowed_special="all"), own.encode_ordinary(text)):
        forged = replace(found, ids=np.array(wrong, np.uint32))
        report = tokpar.check(forged, text, adapter, untrusted=[(6, 18)])
        assert "control" in {finding.kind for finding in report.findings}


# ------------------------------------------------------------------------------- whose spans


def test_spans_are_the_caller_s_never_the_certificate_s() -> None:
    own = chat()
    found, plain = tokpar.encode(TEXT, own, untrusted=SPANS), tokpar.encode(TEXT, own)
    assert kinds(tokpar.check(found, TEXT, own)) == [("untrusted", None)]
    assert kinds(tokpar.check(plain, TEXT, own, untrusted=SPANS)) == [("untrusted", None)]
    other = tokpar.check(found, TEXT, own, untrusted=[(9, 20)])
    assert other.findings[0].message == "span 0: expected (9, 20), the encoding says (9, 21)"
    assert tokpar.check(found, TEXT, own, untrusted=[(3, 3), (9, 12), (12, 21)])


def test_control_tokens_are_those_that_the_caller_expects() -> None:
    own = chat()
    found = tokpar.encode(TEXT, own, untrusted=SPANS, control=["<|start|>"])
    report = tokpar.check(found, TEXT, own, untrusted=SPANS)
    assert report
    assert report.notes == (
        "special tokens that untrusted text may spell: ['<|end|>', '<|user|>']",
    )
    strict = tokpar.check(found, TEXT, own, untrusted=SPANS, control=[*SPECIALS])
    assert strict.findings[0].message == (
        "['<|end|>', '<|user|>'] are control tokens of one side only"
    )


def header_as(data: bytes, **fields: object) -> bytes:
    members = unzipped(data)
    header = json.loads(members["header.json"]) | fields
    return zipped(members | {"header.json": json.dumps(header).encode()})


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"untrusted": []}, "untrusted"),
        ({"untrusted": [[9, 22]]}, "untrusted"),
        ({"untrusted": None}, "untrusted"),
        ({"control": ["<|start|>", "none"]}, "control"),
        ({"control": []}, "serial"),
    ],
)
def test_a_file_with_other_spans_or_tokens_fails(fields: dict[str, Any], kind: str) -> None:
    own = chat()
    data = to_bytes(tokpar.encode(TEXT, own, untrusted=SPANS), TEXT, "chat")
    assert tokpar.check(from_bytes(data), TEXT, own, untrusted=SPANS)
    report = tokpar.check(from_bytes(header_as(data, **fields)), TEXT, own, untrusted=SPANS)
    assert report.findings[0].kind == kind


@pytest.mark.parametrize(
    "fields",
    [
        {"untrusted": 1},
        {"untrusted": [[1]]},
        {"untrusted": [[True, 2]]},
        {"untrusted": [[2, 2]]},
        {"untrusted": [[0, 3], [2, 4]]},
        {"untrusted": [[0, 99]]},
        {"untrusted": ["ab"]},
        {"control": None},
        {"control": [1]},
    ],
)
def test_a_file_whose_spans_are_none_is_refused(fields: dict[str, Any]) -> None:
    data = to_bytes(tokpar.encode(TEXT, chat(), untrusted=SPANS), TEXT, "chat")
    with pytest.raises(tokpar.FileFormatError, match=min(fields)):
        from_bytes(header_as(data, **fields))


@pytest.mark.parametrize(
    ("own", "content", "message"),
    [
        (chat(), "none", "is no added token"),
        (byte_level(AddedToken("<A>"), normalizer=normalizers.Lowercase()), "<A>", "normalized"),
        (byte_level(AddedToken(" <A>"), AddedToken("x", lstrip=True)), " <A>", "white space"),
    ],
)
def test_tokens_that_cannot_be_control_tokens(own: Tokenizer, content: str, message: str) -> None:
    found = tokpar.encode("text", own, untrusted=[], control=[])
    wrong = forged_for([], found, found.ids, control=(content,))
    (finding,) = tokpar.check(wrong, "text", own, untrusted=[]).findings
    assert message in finding.message


# ---------------------------------------------------------------------------------- copies


MAKES_COPY = hf_trust._with_names


def copy_as(change: Callable[[Any], object]) -> Callable[[Any, Any], Any]:
    def make(own: Any, names: Any) -> Any:
        copy = MAKES_COPY(own, names)
        return change(copy) or copy

    return make


def without_flags(own: Any, names: Any) -> Any:
    copy, _ = hf_trust.private_copy(own)
    copy.add_tokens([AddedToken(name, lstrip=True) for name in names.values()])
    copy.encode_special_tokens = True
    return copy


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (copy_as(lambda copy: setattr(copy, "encode_special_tokens", False)), "encode_special"),
        (copy_as(lambda copy: copy.add_tokens(["more"]) and None), "added token"),
        (copy_as(lambda copy: setattr(copy, "normalizer", normalizers.NFC())), "normalizers"),
        (copy_as(lambda copy: setattr(copy, "model", models.BPE({"a": 0}, []))), "model"),
        (copy_as(lambda copy: copy.enable_truncation(3)), "post-processing"),
        (without_flags, "added token"),
    ],
)
def test_a_copy_that_is_another_tokenizer_is_found(
    monkeypatch: pytest.MonkeyPatch, make: Any, part: str
) -> None:
    monkeypatch.setattr(hf_trust, "_with_names", make)
    own = chat()
    found = tokpar.encode(TEXT, own)
    forged = forged_for(SPANS, tokpar.encode("text", own, untrusted=[]), found.ids)
    (finding,) = tokpar.check(forged, TEXT, own, untrusted=SPANS).findings
    assert f"the copy that knows names has another {part}" in finding.message


# ------------------------------------------------------------------------------- the search


@given(seed=st.integers(0, 1 << 32))
def test_the_search_is_that_of_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    own, contents = chat_tokenizer(rng)
    tokens = form_of_json(json.loads(own.to_str())).added_tokens
    raw = [token.content for token in tokens if not token.normalized]
    control = rng.sample(raw, rng.randint(0, len(raw)))
    engine = NamedEngine(own, control)
    for _ in range(5):
        text = chat_text(rng, contents)
        spans = drawn_spans(rng, text)
        assert control_matches(text, spans, tokens, control) == engine.found(text, spans)


def test_normalized_tokens_are_searched_in_what_the_others_leave() -> None:
    flags: dict[str, Any] = {"normalized": False}
    own = byte_level(
        *(AddedToken("<a>", **flags), AddedToken("<b", rstrip=True, **flags)),
        *(AddedToken("a>b", normalized=True), AddedToken("  c", normalized=True)),
    )
    tokens = form_of_json(json.loads(own.to_str())).added_tokens
    found = control_matches("<a>b a>b <b  c  c", [], tokens, ["a>b", "  c"])
    assert found == [(5, 8, "a>b"), (14, 17, "  c")]
    assert control_matches("a>b", [(0, 1)], tokens, ["a>b"]) == []
