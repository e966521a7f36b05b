"""Marks through methods of str and through steps of templates. Each character says by itself
whether it is the template's: Latin letters are, Greek ones are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokpar.integrations.marked_text import MarkedText, marks_of

TEMPLATES, OTHERS = "aBc<% \n{}s", "αβγ\u2003\r\u3000ω"
"""Characters that the template writes, and others; both with white space."""
WHOLE = TEMPLATES + OTHERS


def marked(text: str) -> MarkedText:
    letters = str.__str__(text)
    return MarkedText(letters, bytes(map(is_templates, letters)))


def is_templates(character: str) -> bool:
    return character.isascii() and character != "\r"


def pieces(max_size: int = 2) -> st.SearchStrategy[str]:
    return st.text(WHOLE, max_size=max_size)


def separators() -> st.SearchStrategy[str]:
    return st.text(WHOLE, min_size=1, max_size=1)


METHODS: dict[str, Callable[[Any], st.SearchStrategy[tuple[Any, ...]]]] = {
    **dict.fromkeys(("lower", "upper", "capitalize", "title"), lambda of: st.just(())),
    **dict.fromkeys(("strip", "lstrip", "rstrip"), lambda of: st.tuples(st.none() | pieces())),
    **dict.fromkeys(
        ("split", "rsplit"), lambda of: st.tuples(st.none() | separators(), st.integers(-1, 3))
    ),
    "splitlines": lambda of: st.tuples(st.booleans()),
    **dict.fromkeys(("partition", "rpartition"), lambda of: st.tuples(separators().map(of))),
    **dict.fromkeys(("removeprefix", "removesuffix"), lambda of: st.tuples(pieces())),
    "replace": lambda of: st.tuples(separators(), pieces().map(of), st.integers(-1, 2)),
    "join": lambda of: st.tuples(st.lists(pieces().map(of), max_size=3)),
    "__add__": lambda of: st.tuples(pieces().map(of)),
    "__mul__": lambda of: st.tuples(st.integers(-1, 3)),
    "__rmul__": lambda of: st.tuples(st.integers(-1, 3)),
    "__getitem__": lambda of: st.tuples(
        st.builds(slice, *[st.none() | st.integers(-5, 5)] * 2, st.sampled_from([None, 1, -1, 2]))
    ),
    "__iter__": lambda of: st.just(()),
    "__str__": lambda of: st.just(()),
}


def flat(value: object) -> list[str]:
    return [value] if isinstance(value, str) else list(value)  # type: ignore[call-overload]


def check(method: str, text: str, *args: Any) -> None:
    """The method gives what it gives for str, and marks of exactly the template's characters."""
    found = flat(getattr(marked(text), method)(*args))
    plain = [str.__str__(arg) if isinstance(arg, str) else arg for arg in args]
    assert found == flat(getattr(text, method)(*plain)), method
    for each in found:
        assert list(marks_of(each)) == list(marked(each)._marks), (method, text, args, each)


@given(data=st.data(), method=st.sampled_from(sorted(METHODS)), text=pieces(12))
def test_a_method_of_str_keeps_the_marks(data: st.DataObject, method: str, text: str) -> None:
    check(method, text, *data.draw(METHODS[method](marked)))


EXAMPLES: dict[str, tuple[Any, ...]] = {
    "split": (None, 1),
    "rsplit": ("α",),
    "partition": (marked("α"),),
    "rpartition": (marked("α"),),
    "removeprefix": (" ",),
    "removesuffix": ("\r",),
    "replace": ("α", marked("Bγ")),
    "join": ([marked("aα"), marked("β")],),
    "__add__": (marked("γs"),),
    "__mul__": (2,),
    "__rmul__": (2,),
    "__getitem__": (slice(1, None),),
}


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("fault", ["forgets", "invents", "shifts"])
def test_a_method_that_forgets_or_invents_marks_is_caught(
    method: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = getattr(MarkedText, method)
    args = EXAMPLES.get(method, ())
    check(method, " aαβ<\r", *args)

    def spoilt(text: str) -> MarkedText:
        marks = marks_of(text)
        faulty = {"forgets": bytes(len(marks)), "invents": b"\1" * len(marks)}
        return MarkedText(str.__str__(text), faulty.get(fault, marks[1:] + marks[:1]))

    def bad(*given: Any) -> Any:
        found = good(*given)
        return spoilt(found) if isinstance(found, str) else [spoilt(each) for each in found]

    monkeypatch.setattr(MarkedText, method, bad)
    if method == "__iter__" and fault == "shifts":
        check(method, " aαβ<\r")  # one character has nothing to shift
        return
    with pytest.raises(AssertionError):
        check(method, " aαβ<\r", *args)


@given(st.text(WHOLE + "ßŉİΣ", max_size=5))
def test_letters_that_become_several_lose_the_marks(text: str) -> None:
    for method in ("lower", "upper", "capitalize", "title"):
        found = getattr(marked(text), method)()
        assert found == getattr(text, method)()
        marks = [*map(is_templates, text)] if len(found) == len(text) else [0] * len(found)
        assert list(found._marks) == marks


@given(
    text=st.lists(
        st.sampled_from(["%s", "%%", "%d", "%(α)s", "%5s", "{}", "{{", "}}", "{0}", "{α}", "{:>4}"])
        | pieces(),
        max_size=5,
    ).map("".join),
    values=st.lists(pieces(3).map(marked), max_size=3),
)
def test_formatting_gives_the_text_of_str_and_invents_no_mark(
    text: str, values: list[MarkedText]
) -> None:
    named = {"α": marked("aβ")}
    for plain, own in (
        (lambda: text % tuple(values), lambda: marked(text) % tuple(values)),
        (lambda: text % named, lambda: marked(text) % named),
        (
            lambda: text.format(*values, **named),
            lambda: marked(text).fill_braces(text.format(*values, **named), tuple(values), named),
        ),
    ):
        try:
            expected = plain()
        except (ValueError, TypeError, IndexError, KeyError) as error:
            with pytest.raises(type(error)):
                own()
            continue
        found = own()
        assert found == expected
        assert all(is_templates(c) for c, mark in zip(found, found._marks, strict=True) if mark)


def test_formatting_keeps_marks_where_the_template_wrote_plain_fields() -> None:
    for found in (
        marked("a%s%%%sb") % (marked("Bα"), "γ"),
        marked("a%(x)s%%%(y)sb") % {"x": marked("Bα"), "y": "γ"},
        marked("a{}%{}b").fill_braces("aBα%γb", (marked("Bα"), "γ"), {}),
        marked("a{0}%{y}b").fill_braces("aBα%γb", (marked("Bα"),), {"y": "γ"}),
    ):
        assert found == "aBα%γb"
        assert found._marks == marked("aBα%γb")._marks
    assert not any((marked("α%s") % marked("B"))._marks)
    assert not any(marked("α{}").fill_braces("αB", (marked("B"),), {})._marks)


KEPT = (
    *("{{ 'a' ~ x ~ 'B' }}", "{{ 'a' + x + 'B' }}", "{{ x + 'a' }}", "a{{ x }}B", "{{ x * 2 }}"),
    *(
        "{{ 'a%s<%%' % x }}",
        "{{ 'a%s'|format(x) }}",
        "{{ 'a{}{{B'.format(x) }}",
        "{{ x }}{{ 'a' }}",
    ),
    *("{{ x|replace('α', 'c') }}", "{{ x.replace('α', 'c') }}", "{{ ('a' ~ x)|upper|lower }}"),
    *("{{ ['a', x]|join('<') }}", "{{ ['a', x]|join }}", "{{ '<'.join(['a', x]) }}"),
    *(
        "{{ (' a' ~ x)|trim }}",
        "{{ ('a' ~ x ~ 'B').split('α')|join('c') }}",
        "{{ x|string ~ 'a' }}",
    ),
    *("{{ (x ~ 'aB')[::-1] }}", "{{ (x ~ 'aB')[-1] }}", "{{ (x ~ 'aB')|list|join }}"),
    *(
        "{{ (x ~ 'aB')|first }}{{ (x ~ 'aB')|last }}",
        "{{ (x ~ 'aB')|reverse }}",
        "{{ y|default('a') }}",
    ),
    "{% set y %}a{{ x }}B{% endset %}{{ y ~ y }}",
    "{% macro m(v, w='c') %}a{{ v }}{{ w }}{% endmacro %}{{ m(x) ~ m(x, 'B') }}",
    "{% macro m() %}<{{ caller() }}<{% endmacro %}{% call m() %}a{{ x }}{% endcall %}",
    "{% filter upper %}a{{ x }}{% endfilter %}",
    "{% for c in 'aB' ~ x %}{{ loop.cycle('a', 'B') }}{{ c }}{% endfor %}",
    "{% set n = namespace(t=x) %}{% for c in 'aB' %}{% set n.t = n.t ~ c %}{% endfor %}{{ n.t }}",
    "{% for k, v in {'a': x}.items() %}{{ k ~ v }}{% endfor %}{{ {'a': 'B'}['a'] }}",
    "{{ 'a' if 'α' in x else x }}{{ 'B' if x.startswith('α') and x is string else x }}",
    "{% generation %}a{{ x }}{% endgeneration %}",
    "{{ ['B', x]|map('upper')|join('<') }}{{ [{'k': x}, {'k': 'a'}]|join('<', attribute='k') }}",
)
LOST = (
    *(
        "{{ ['a', x]|tojson }}",
        "{{ ('a' ~ x)|center(9) }}",
        "{{ ('a' ~ x)|e }}",
        "{{ 'a' ~ x|safe }}",
    ),
    *(
        "{{ 'a{:>5}{}'.format(x, x) }}",
        "{{ '%5s' % x }}",
        "{{ ('a\n' ~ x)|indent }}",
        "{{ 'a' ~ 5 }}",
    ),
    *(
        "{{ ('a ' ~ x)|title }}",
        "{{ ('a' ~ x)|urlize }}",
        "{{ '<a' + (x|safe) }}",
        "{{ ['a', x] }}",
    ),
    "{% autoescape true %}{{ '<a' ~ x }}<{{ x }}{% endautoescape %}",
)


def render(source: str) -> tuple[str, str]:
    """What transformers and what we render."""
    utils = pytest.importorskip("transformers", "5.24", reason="5.24 is missing").utils
    pytest.importorskip("jinja2", reason="jinja2 is missing")
    from tokpar.integrations.chat_template_marks import marking_template

    plain = utils.chat_template_utils._compile_jinja_template(source).render(x="αβα\u2003")
    return plain, marking_template(source).jinja_template.render(x=MarkedText("αβα\u2003"))


@pytest.mark.parametrize("source", KEPT)
def test_a_step_of_a_template_keeps_the_marks(source: str) -> None:
    plain, own = render(source)
    assert own == plain
    assert list(marks_of(own)) == list(marked(own)._marks)


@pytest.mark.parametrize("source", LOST)
def test_a_step_that_is_not_followed_loses_marks_and_invents_none(source: str) -> None:
    plain, own = render(source)
    assert own == plain
    assert not any(mark for c, mark in zip(own, marks_of(own), strict=True) if c in "αβ\u2003")
