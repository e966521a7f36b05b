"""Marks through methods of str and through steps of templates. Each character says by itself
whether it is the template's: Latin letters are, Greek ones are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokpar.integrations.marked_text import MarkedText, mark_strings, marks_of

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
    "split": lambda of: st.tuples(st.none() | separators(), st.integers(-1, 3)),
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


@given(st.text(WHOLE + "ßŉİΣ", max_size=5))
def test_letters_that_become_several_lose_the_marks(text: str) -> None:
    for method in ("lower", "upper", "capitalize", "title"):
        found = getattr(marked(text), method)()
        assert found == getattr(text, method)()
        marks = [*map(is_templates, text)] if len(found) == len(text) else [0] * len(found)
        assert list(found._marks) == marks


KEPT = (
    *("{{ 'a' ~ x ~ 'B' }}", "{{ 'a' + x + 'B' }}", "{{ x + 'a' }}", "a{{ x }}B", "{{ x * 2 }}"),
    *("{{ x }}{{ 'a' }}", "{{ x|string ~ 'a' }}", "{{ y|default('a') }}", "{{ (' a' ~ x)|trim }}"),
    *("{{ x|replace('α', 'c') }}", "{{ x.replace('α', 'c') }}", "{{ ('a' ~ x)|upper|lower }}"),
    *("{{ ['a', x]|join('<') }}", "{{ ['a', x]|join }}", "{{ '<'.join(['a', x]) }}"),
    *("{{ ('a' ~ x ~ 'B').split('α')|join('c') }}", "{{ (x ~ 'aB')|reverse }}"),
    *("{{ (x ~ 'aB')[::-1] }}", "{{ (x ~ 'aB')[-1] }}", "{{ (x ~ 'aB')|list|join }}"),
    "{{ (x ~ 'aB')|first }}{{ (x ~ 'aB')|last }}",
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
    *("{{ ['a', x]|tojson }}", "{{ ('a' ~ x)|center(9) }}", "{{ ('a' ~ x)|e }}", "{{ ['a', x] }}"),
    *("{{ 'a{}'.format(x) }}", "{{ 'a%s' % x }}", "{{ 'a%s'|format(x) }}", "{{ 'a' ~ x|safe }}"),
    *("{{ ('a ' ~ x)|title }}", "{{ ('a' ~ x)|urlize }}", "{{ '<a' + (x|safe) }}"),
    *("{{ ('a\n' ~ x)|indent }}", "{{ 'a' ~ 5 }}", "{{ ('a' ~ x).zfill(9) }}"),
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


def test_each_string_in_lists_tuples_and_mappings_is_marked() -> None:
    value = {"a": "x", "b": ["y", ("z", 1)], 2: None}
    found = mark_strings(value, MarkedText.of_template)
    assert found == value
    assert [type(each) for each in (found["b"], found["b"][1])] == [list, tuple]
    assert marks_of(found["a"] + found["b"][0] + found["b"][1][0]) == b"\1\1\1"
    assert mark_strings(1, MarkedText.of_template) == 1
