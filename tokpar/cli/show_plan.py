"""Show where a text would be cut, by which rule, and why not elsewhere; nothing is tokenized.

The column "around" shows the text beside each cut, which is marked by "│". With --why the answer is
about one place alone, with --gaps about all certified cuts together.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from tokpar.cli import options
from tokpar.cli.cuts import Cuts, foresee_cuts, rule_of
from tokpar.cli.encodings import blamed_on, one_source
from tokpar.cli.options import print_json
from tokpar.cli.progress import bar_of, working
from tokpar.cli.screen import plural, print_table, visible
from tokpar.cli.summary import describe_compiled_call, describe_loader
from tokpar.cli.text_files import TextSource
from tokpar.contract.adapter import require_accepted
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import OptionError
from tokpar.types import Chunk, Seam, Split, Witness

MOST_SHOWN = 20
CHARS_AROUND = 16
SHOWN_HASH = 12
MARK = "│"
HEADER = ("position", "rule", "around")


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=options.ONE_TEXT)
    options.declare_field(parser)
    options.declare_row(parser)
    options.declare_tokenizer(parser)
    options.declare_strategy(parser)
    options.declare_output(parser)
    parser.add_argument(
        "--why", type=int, metavar="PLACE", help="tell why the text is cut there, or is not"
    )
    parser.add_argument(
        "--gaps", action="store_true", help="count all certified cuts, and how far they are apart"
    )
    parser.add_argument(
        "--progress", action="store_true", help="show a bar for --gaps even if this is no terminal"
    )
    parser.add_argument(
        "--all", action="store_true", help=f"show all cuts, not the first {MOST_SHOWN}"
    )


def run(arguments: argparse.Namespace) -> int:
    from tokpar.registry.combining import build_parts

    own = options.strategy_options(arguments)
    strategy = build_parts(arguments.strategy, own, allow_approximate=True)
    tokenizer = options.tokenizer_of(arguments)
    source, loader = one_source(arguments, arguments.file), describe_loader(tokenizer)
    with blamed_on(source):
        require_accepted(source.text, tokenizer)
    if loader is not None and not arguments.json:
        print(f"tokenizer {arguments.tokenizer}: loaded by {loader}")
    described: dict[str, Any]
    if arguments.why is not None:
        said = _why(source.text, arguments.why, tokenizer)
        described = {"position": arguments.why, "why": said}
    elif arguments.gaps:
        with bar_of(arguments, len(source.text)) as on_progress:
            described = _gaps(source.text, tokenizer, on_progress)
        said = _describe_gaps(source.name, described)
    else:
        with working(arguments, "planning"):
            split, cuts = foresee_cuts(source.text, tokenizer, strategy)
        if not arguments.json:
            _print(source, split, cuts, None if arguments.all else MOST_SHOWN)
            print(_control_tokens(tokenizer))
            print(f"compiled call: {describe_compiled_call(tokenizer)}")
            return 0
        control = {
            "control": _control_tokens(tokenizer),
            "compiled_call": describe_compiled_call(tokenizer),
        }
        described = _plan(source, strategy.name, split, cuts) | control
    if arguments.json:
        print_json({"file": source.name, "loader": loader, **described})
    else:
        print(said)
    return 0


def _control_tokens(tokenizer: TokenizerAdapter) -> str:
    """How many tokens only trusted text may spell, and which the model may give by itself."""
    from tokpar.encoder import Encoder

    try:
        trusted = Encoder(tokenizer).trusted_encoder()
    except OptionError as error:
        return f"no untrusted text: {error}"
    given = sorted(trusted.given_ids.values())
    shown = ", ".join(map(visible, given[:4])) + (", ..." if len(given) > 4 else "")
    said = f"ordinary text may get {shown}" if given else "ordinary text never gets one"
    return f"control tokens: {len(trusted.control):,}; {said} (docs/untrusted.md)"


def _plan(source: TextSource, strategy: str, split: Split, cuts: Cuts) -> dict[str, Any]:
    """The JSON object of a plan."""
    return {
        "strategy": strategy,
        "code_points": len(source.text),
        "chunks": len(split.chunks),
        "plan": split.plan,
        "why": split.why,
        "serial_regions": [list(region) for region in split.serial_regions],
        "places": cuts.count,
        "places_by_rule": dict(cuts.by_rule),
        "cuts": [_cut(source.text, *pair) for pair in pairwise(split.chunks)],
    }


def _gaps(
    text: str, tokenizer: TokenizerAdapter, on_progress: Callable[[int], object]
) -> dict[str, Any]:
    """Count all certified cuts of a text.

    Returns their number, the mean and the greatest distance in code points between two neighbouring
    cuts or a cut and an end of the text, and why the text is not cut, if it is not."""
    import numpy as np

    from tokpar.contract.interfaces import facts_of
    from tokpar.cuts.finder import finder_for

    finder = finder_for(facts_of(tokenizer))
    cuts = finder.places(text, on_progress)
    gaps = np.diff(cuts, prepend=0, append=len(text))
    return {
        "cuts": len(cuts),
        "mean_gap": round(float(gaps.mean()), 2),
        "greatest_gap": int(gaps.max()),
        "why": finder.refusal_for(text) or "",
    }


def _describe_gaps(name: str, gaps: Mapping[str, Any]) -> str:
    why = f" ({gaps['why']})" if gaps["why"] else ""
    apart = f"{gaps['mean_gap']:,} code points apart, at most {gaps['greatest_gap']:,}"
    return f"{visible(name)}: could be cut at {plural(gaps['cuts'], 'place')}; {apart}{why}"


def _why(text: str, place: int, tokenizer: TokenizerAdapter) -> str:
    """The rule that licenses a cut at `place`, or an example text that shows why none does."""
    from tokpar.contract.interfaces import facts_of
    from tokpar.cuts.finder import finder_for
    from tokpar.cuts.pair_seams import doubt

    facts = facts_of(tokenizer)
    finder = finder_for(facts)
    if not 0 < place < len(text):
        raise OptionError(f"--why must be a place inside the text, 1 to {len(text) - 1}")
    around = f"{visible(text[max(0, place - CHARS_AROUND) : place])}{MARK}"
    around += visible(text[place : place + CHARS_AROUND])
    refusal = finder.refusal_for(text)
    if refusal is not None:
        return f"{around}: {refusal}"
    seam = finder.certify(text, place)
    if seam is not None:
        witness = _format_witness(seam.witness)
        return f"{around}: a cut by {seam.rule}, theorem {seam.theorem}: {witness}"
    found = doubt(facts, text, place)
    if found is None:
        return f"{around}: no rule licenses a cut here"
    sides = zip(found, ("before", "behind"), strict=True)
    more = " and ".join(f"{each!r} {side}" for each, side in sides if each)
    return f"{around}: no cut: {f'with {more} ' if more else ''}the pieces of the parts are others"


def _cut(text: str, left: Chunk, right: Chunk) -> dict[str, Any]:
    """The JSON object of the cut between two chunks.

    `shared`: the number of code points that both chunks encode. If chunks share text, the final
    seam may lie elsewhere."""
    cut = right.cut or Seam(right.core_start, None, "")
    position = cut.position
    return {
        "position": position,
        "shared": max(0, left.stop - right.start),
        "rule": cut.rule,
        "theorem": cut.theorem or None,
        "witness": dict(cut.witness),
        "before": text[max(0, position - CHARS_AROUND) : position],
        "after": text[position : position + CHARS_AROUND],
    }


def _print(source: TextSource, split: Split, cuts: Cuts, most: int | None) -> None:
    print(
        f"{visible(source.name)}: {plural(len(source.text), 'code point')}; {_summary(split, cuts)}"
    )
    pairs = list(pairwise(split.chunks))
    if pairs:
        print_table(HEADER, (_row(source.text, *pair) for pair in pairs), most)
        for line in _reasons(pairs[:most]):
            print(line)
    for start, stop in split.serial_regions:
        print(f"one call for code points {start:,} to {stop:,}: no certified cut inside")


def _summary(split: Split, cuts: Cuts) -> str:
    """ "cut at 7 places (7 PAIR; 8 chunks)", or why the text is not cut."""
    if not cuts.count:
        return f"not cut: {split.why}"
    why = f"; {split.why}" if split.serial_regions else ""
    inside = len(split.chunks) > 1 and cuts.at_spaces
    between = f"; those between its {plural(len(split.chunks), 'chunk')}:" if inside else ""
    return f"{cuts}{why}{between}"


def _row(text: str, left: Chunk, right: Chunk) -> tuple[object, ...]:
    cut = _cut(text, left, right)
    around = f"{visible(cut['before'])}{MARK}{visible(cut['after'])}"
    return cut["position"], rule_of(left, right), around


def _reasons(pairs: Iterable[tuple[Chunk, Chunk]]) -> Iterator[str]:
    """What licenses the cuts between chunks, each licence once: "PAIR: theorem 20, left=..."."""
    licences = {
        (rule_of(left, right), right.cut.theorem, right.cut.witness): None
        for left, right in pairs
        if right.cut is not None and right.cut.theorem
    }
    for rule, theorem, witness in licences:
        yield f"{rule}: theorem {theorem}" + f", {_format_witness(witness)}" * bool(witness)


def _format_witness(witness: Witness) -> str:
    """Returns a witness in words: "family=cl100k left=non-space", a hash shortened."""
    shown = (
        (name, str(value)[:SHOWN_HASH] if name == "proof" else value) for name, value in witness
    )
    return " ".join(f"{name}={value}" for name, value in shown)
