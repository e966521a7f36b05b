"""What a check is, how it runs, and how a failure is written.

A check looks at one text or at several, and draws none itself. So a failing text can be made
smaller: the check runs again on each smaller text."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import cleandoc
from typing import Any, Literal, TypeVar

from tokpar.errors import EngineError, PluginError, TokparError
from tokpar.process.interrupts import INTERRUPTS
from tokpar_conformance.differing import show_text, simplest, smallest

Pool = Literal["texts", "surrogates", "long"]
Pools = Mapping[str, tuple[str, ...]]
Watch = Callable[[str], None]
"""Called with the name of each check before the check runs."""
Result = TypeVar("Result")


class ConformanceError(TokparError, AssertionError):
    """A part failed checks of the kit; `checks` are their names."""

    def __init__(self, message: str, checks: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.checks = tuple(checks)


@dataclass(frozen=True)
class Complaint:
    """What a check found wrong: `what` in words, the expected value and the value got.

    `text`: the text that failed, if a check of several texts knows which one it was."""

    what: str
    expected: str = ""
    got: str = ""
    text: str | None = None


@dataclass(frozen=True)
class Check:
    """One sentence of a contract, and the function that tests the sentence.

    `look` gets one text, or with `takes_all_texts` all texts of the pool. It returns a complaint or
    None. An error that it raises is a complaint too, except `SetAsideError`.
    `repeatable`: `look` answers the same each time, so that a failing text can be made smaller."""

    name: str
    contract: str
    look: Callable[..., Complaint | None]
    takes_all_texts: bool = False
    pool: Pool = "texts"
    repeatable: bool = True

    def of(self, *subject: object, **changes: Any) -> Check:
        """This check for `subject`: the arguments that `look` gets before the text."""
        return replace(self, look=partial(self.look, *subject), **changes)


def check(
    name: str, *, takes_all_texts: bool = False, repeatable: bool = True
) -> Callable[[Callable[..., Complaint | None]], Check]:
    """Make a check of the decorated function, which takes a subject and a text.

    The docstring of the function is the contract: ConformanceError prints it."""

    def make_check(look: Callable[..., Complaint | None]) -> Check:
        contract = " ".join(cleandoc(look.__doc__ or "").split())
        return Check(name, contract, look, takes_all_texts, repeatable=repeatable)

    return make_check


@dataclass(frozen=True)
class Failure:
    """A failed check with the smallest texts that fail, or None instead of the texts if the check
    fails whatever the texts are."""

    check: Check
    texts: tuple[str, ...] | None
    complaint: Complaint


class SetAsideError(Exception):
    """This text decides nothing, because the tokenizer itself refuses the text."""


def require(
    subject: str,
    checks: Iterable[Check],
    pools: Pools,
    watch: Watch | None = None,
    fail_fast: bool = False,
) -> None:
    """Run the checks and raise one ConformanceError that names all failed checks.

    With `fail_fast` the first failed check is the last that runs."""
    found, run = [], 0
    for check in checks:
        if not pools[check.pool]:
            continue
        run += 1
        if watch is not None:
            watch(check.name)
        failure = failure_of(check, pools[check.pool])
        found += [] if failure is None else [failure]
        if found and fail_fast:
            break
    if found:
        names = [failure.check.name for failure in found]
        raise ConformanceError(in_words(subject, found, run), names)


def failure_of(check: Check, texts: Sequence[str]) -> Failure | None:
    """Run a check on the texts; return the failure with the smallest texts that show it, or
    None."""
    if check.takes_all_texts:
        return _failure_together(check, tuple(texts))
    for text in texts:
        complaint = ask(check, text)
        if complaint is not None:
            small = simplest(text, lambda some: ask(check, some) is not None)
            return Failure(check, (small,), ask(check, small) or complaint)
    return None


def _failure_together(check: Check, texts: tuple[str, ...]) -> Failure | None:
    complaint = ask(check, texts)
    if complaint is None:
        return None
    if not check.repeatable:
        shown = None if complaint.text is None else (complaint.text,)
        return Failure(check, shown, complaint)
    few = smallest(texts, lambda some: ask(check, some) is not None)
    for i in range(len(few)):
        ends = (few[:i], few[i + 1 :])
        small = simplest(few[i], lambda t, e=ends: ask(check, (*e[0], t, *e[1])) is not None)  # type: ignore[misc]
        few = (*ends[0], small, *ends[1])
    return Failure(check, few or None, ask(check, few) or complaint)


def ask(check: Check, texts: str | tuple[str, ...]) -> Complaint | None:
    """Run the check on the texts; an error that it raises becomes a complaint."""
    try:
        return check.look(texts)
    except INTERRUPTS:
        raise
    except SetAsideError:
        return None
    except PluginError as error:  # tokpar says in words what a part must return
        return Complaint(str(error))
    except BaseException as error:
        return Complaint(f"raised {type(error).__name__}: {error}")


def in_words(subject: str, failures: Sequence[Failure], checks: int) -> str:
    """The text of the error: one paragraph for each failed check."""
    said = [f"{subject} does not conform: {len(failures)} of {checks} checks failed"]
    for failure in failures:
        lines = [f"{failure.check.name}: {failure.check.contract}"]
        lines += [f"    {name:<9} {value}" for name, value in _rows(failure) if value]
        said.append("\n".join(lines))
    return "\n\n".join(said)


def _rows(failure: Failure) -> Iterator[tuple[str, str]]:
    texts, complaint = failure.texts, failure.complaint
    if texts is not None and len(texts) == 1:
        yield "text", f"{show_text(texts[0])} ({len(texts[0]):,} code points)"
    elif texts is not None:
        yield "texts", ", ".join(map(show_text, texts[:8])) + (", ..." if len(texts) > 8 else "")
        if complaint.text is not None:
            yield "text", show_text(complaint.text)
    yield "found", complaint.what
    yield "expected", complaint.expected
    yield "got", complaint.got


def outcome(call: Callable[..., Any], *arguments: object) -> Any:
    """What a call returns, or the error that it raises. An engine's panic becomes an
    EngineError."""
    try:
        return call(*arguments)
    except INTERRUPTS:
        raise
    except Exception as error:
        return error
    except BaseException as panic:
        return EngineError(f"{type(panic).__name__}: {panic}")


def fails(call: Callable[..., Any], *arguments: object) -> bool:
    return isinstance(outcome(call, *arguments), Exception)


def prefix_complaint(complaint: Complaint | None, what: str) -> Complaint | None:
    """The complaint with `what` in front of its words."""
    return None if complaint is None else replace(complaint, what=f"{what}: {complaint.what}")


def at_once(work: Callable[[int], Result], threads: int) -> list[Result]:
    """Run `work(0)`, `work(1)`, ... at once, each in a thread of its own. Return the result or the
    error of each.

    The threads only call `work` and compare nothing: threads that do other things in between
    would seldom run the engine at the same moment."""
    found: dict[int, Result] = {}
    start = threading.Barrier(threads)  # noqa: TID251  # no other call has it

    def run(number: int) -> None:
        start.wait()
        found[number] = outcome(work, number)

    workers = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    return [found[number] for number in range(threads)]
