"""Checks of `EngineTraits`: what a tokenizer says about its engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokpar.contract.adapter import EngineTraits, HasTraits, own_call_of, traits_of
from tokpar.contract.interfaces import EncodesMany, TokenizerAdapter
from tokpar_conformance.checks import Check, Complaint, check, fails, outcome
from tokpar_conformance.compare import contradictions


def traits_checks(tokenizer: TokenizerAdapter) -> Iterator[Check]:
    """Checks of the traits, and of the texts that `check_text` and the engine refuse."""
    if not isinstance(tokenizer, HasTraits):
        return
    yield fit_together.of(tokenizer)
    traits = traits_of(tokenizer)
    if not isinstance(traits, EngineTraits) or traits.check_text is None:
        return
    yield refused_text.of(tokenizer)
    yield refused_text.of(tokenizer, name="check_text: lone surrogates", pool="surrogates")
    yield refused_part.of(tokenizer)
    said = "check_text: parts, lone surrogates"
    yield refused_part.of(tokenizer, name=said, pool="surrogates")
    if traits.forbidden:
        yield forbidden_strings.of(tokenizer)


@check("traits", takes_all_texts=True)
def fit_together(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """traits are EngineTraits, and fit together and to the abilities of the tokenizer"""
    traits = traits_of(tokenizer)
    if not isinstance(traits, EngineTraits):
        expected = "tokpar.contract.adapter.EngineTraits"
        return Complaint("traits are no EngineTraits", expected, type(traits).__name__)
    bools = ("releases_gil", "returns_objects")
    rules = (
        *((isinstance(getattr(traits, name), bool), f"{name} is a bool") for name in bools),
        (
            not traits.returns_objects or isinstance(tokenizer, EncodesMany),
            "returns_objects=True needs encode_many",
        ),
        (isinstance(traits.agreement, str), "agreement is a str"),
        (isinstance(traits.forbidden, frozenset), "forbidden is a frozenset"),
        (not traits.forbidden or traits.check_text, "forbidden needs check_text"),
    )
    return contradictions(rules)


@check("check_text")
def refused_text(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """check_text refuses what the engine's own call refuses, with the same error"""
    check_text = traits_of(tokenizer).check_text
    assert check_text is not None
    call = own_call_of(tokenizer) or tokenizer.encode
    said, own = outcome(check_text, text), outcome(call, text)
    refused = isinstance(said, Exception)
    if refused and type(said) is type(own):
        return None
    if not refused and not isinstance(own, (ValueError, TypeError)):
        return None
    expected = repr(own) if isinstance(own, Exception) else "no error"
    return Complaint("the engine's own call ends otherwise", expected, repr(said))


@check("check_text: parts")
def refused_part(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """what check_text refuses is a single character, which encode refuses, too, or one of the
    contents in traits.forbidden"""
    # a stream is checked chunk by chunk; an uncut text is checked for forbidden contents only
    check_text = traits_of(tokenizer).check_text
    assert check_text is not None
    if any(content in text for content in traits_of(tokenizer).forbidden):
        return None
    if not fails(check_text, text):
        return None
    if not any(fails(check_text, c) for c in text):
        return Complaint("refused as a whole", "a character or a forbidden content that is refused")
    if fails(tokenizer.encode, text):
        return None
    return Complaint("encode takes what check_text refuses", "an error", "ids")


@check("traits.forbidden")
def forbidden_strings(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """check_text refuses each of the contents wherever it stands"""
    check_text = traits_of(tokenizer).check_text
    assert check_text is not None
    for content in traits_of(tokenizer).forbidden:
        for some in (content, f"{text}{content}", f"{content}{text}"):
            if not fails(check_text, some):
                return Complaint(f"not refused: {content!r}", "an error", "none", some)
    return None
