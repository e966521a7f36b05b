"""`check_splitter`: the cores of the chunks tile every text, some attempt gives a single chunk, and
the licences of the cuts hold."""

from collections.abc import Iterator, Sequence

from tokpar.arrays import has_surrogate
from tokpar.certificate.checker import seam_findings
from tokpar.contract.interfaces import Splitter, TokenizerAdapter, facts_of
from tokpar.contract.part_checks import MOST_ATTEMPTS, split_text
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.types import CERTIFIED_CUTS, Split
from tokpar_conformance.checks import Check, Complaint, SetAsideError, Watch, check, require
from tokpar_conformance.pools import MOST, Unknown, pools


def check_splitter(
    splitter: Splitter,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    texts: Sequence[str] = (),
    examples: int | None = None,
    watch: Watch | None = None,
    fail_fast: bool = False,
) -> None:
    """Raise ConformanceError unless the splitter keeps its contract, with `tokenizer` and with a
    tokenizer without facts. The error names each failed check with its smallest text.

    `texts`, `examples`, `watch`, `fail_fast`: as in `check_tokenizer`. Use a splitter with small
    chunks: fixed and drawn texts have at most 400 code points."""
    adapter = load(tokenizer)
    checks = splitter_checks(splitter, adapter)
    require(type(splitter).__name__, checks, pools(adapter, texts, examples), watch, fail_fast)


def splitter_checks(splitter: Splitter, tokenizer: TokenizerAdapter) -> Iterator[Check]:
    """All checks of a splitter with one tokenizer."""
    first = FirstSplits(splitter)
    yield well_formed.of(first, tokenizer)
    said = "the same where nothing is known of the tokenizer; no rule licenses a cut then"
    name = "split: unknown tokenizer"
    yield well_formed.of(splitter, Unknown(), name=name, contract=said)
    for each in (licensed_cuts, words):
        yield each.of(first, tokenizer)
    yield surrogates.of(splitter, tokenizer, pool="surrogates")
    yield attempts.of(first, tokenizer)
    yield again.of(splitter, tokenizer, first)


class FirstSplits:
    """A splitter that keeps the first attempt for each short text, so that all checks look at the
    same split. Use it with one tokenizer only."""

    def __init__(self, splitter: Splitter) -> None:
        self.splitter = splitter
        self._splits: dict[str, Split] = {}

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        if attempt or len(text) > MOST:
            return self.splitter.split(text, tokenizer, attempt)
        if text not in self._splits:
            self._splits[text] = self.splitter.split(text, tokenizer, 0)
        return self._splits[text]


@check("split")
def well_formed(splitter: Splitter, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """a Split whose cores tile the text in order, each chunk around its core and in the text"""
    split = split_text(splitter, text, tokenizer, 0)
    known = facts_of(tokenizer).unprovable is None  # then another check looks at the cuts
    return None if known else _finding(split, text, tokenizer)


@check("split: cuts")
def licensed_cuts(splitter: Splitter, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """a cut that names rule PAIR, STAGE or EDGE is one that the certificate's checker licenses"""
    return _finding(splitter.split(text, tokenizer, 0), text, tokenizer)


def _finding(split: Split, text: str, tokenizer: TokenizerAdapter) -> Complaint | None:
    """The first finding of the certificate's checker about the certified cuts, or None."""
    cuts = [chunk.cut for chunk in split.chunks if chunk.cut is not None]
    seams = [cut for cut in cuts if cut.rule in CERTIFIED_CUTS]
    for finding in seam_findings(seams, text, facts_of(tokenizer)):
        got = "" if finding.seam is None else repr(seams[finding.seam])
        return Complaint(f"the cut is not licensed: {finding.message}", got=got)
    return None


@check("split: words")
def words(splitter: Splitter, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """plan and why are told in words, and serial_regions are ascending parts of the text"""
    split = splitter.split(text, tokenizer, 0)
    told = (split.plan, split.why)
    if not all(isinstance(each, str) for each in told):
        return Complaint("no plan in words", "two str", repr(told))
    edges = [0, *(edge for region in split.serial_regions for edge in region), len(text)]
    if edges == sorted(edges):
        return None
    return Complaint("serial_regions", "[start, stop) in order", repr(split.serial_regions))


@check("split: lone surrogates")
def surrogates(splitter: Splitter, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """a text with lone surrogates is one chunk, so that it ends as in the serial call"""
    if not has_surrogate(text):
        raise SetAsideError
    chunks = split_text(splitter, text, tokenizer, 0).chunks
    return None if len(chunks) == 1 else Complaint("cut", "1 chunk", f"{len(chunks)} chunks")


@check("split: attempts")
def attempts(splitter: Splitter, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """some attempt gives one chunk (64 are tried), and each keeps the contract"""
    for attempt in range(MOST_ATTEMPTS):
        split = split_text(splitter, text, tokenizer, attempt)
        if len(split.chunks) == 1:
            return None
    return Complaint("it goes on for ever", "1 chunk in the end", f"{len(split.chunks)} chunks")


@check("split: again", takes_all_texts=True)
def again(
    splitter: Splitter, tokenizer: TokenizerAdapter, earlier: Splitter, texts: Sequence[str]
) -> Complaint | None:
    """chunks depend on nothing but text, tokenizer and attempt"""
    first = [earlier.split(text, tokenizer, 0) for text in texts]
    for text, split in zip(reversed(texts), reversed(first), strict=True):
        got = splitter.split(text, tokenizer, 0)
        if got != split:
            return Complaint("another call", repr(split), repr(got), text)
    return None
