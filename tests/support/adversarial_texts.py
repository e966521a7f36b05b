"""Texts that tokenizers stumble over, for loops that draw more of them than hypothesis would: each
is the same for the same state of a `random.Random`. Those of `tests.support.texts` are longer, and
they shrink."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.support.tokenizers_drawn import PIECES

CHARACTERS = tuple(
    "aAsSdDtTmMlLvVeErRkKiIzé1٣½²Ⅷ中あア가яאαहिǅʰªß\u0301\u0903\u0488.'’-_/▁!$\n\r\t\0\x0b\x0c\x1c "
    "\x85\xa0\xad\u1680\u180e\u2003\u200b\u200d\u2028\u3000\ufeff\u017f\u212a\u0130\u0131😀ﬁ\u1e9e"
)
"""A character or two of each class that patterns and engines tell apart."""
CONTRACTIONS = ("'s", "'S", "'ll", "'VE", "'\u017f", "'t", "'re", "'d", "\u2019s", "'lL")
WHITE = (" ", "  ", "\t", "\n", "\x0c", "\r\n", "\xa0", "\u3000")
RUNS = tuple(one * times for one in CHARACTERS for times in (1, 1, 1, 2, 3, 4))


@dataclass(frozen=True)
class AdversarialTexts:
    """Texts of `least` to `most` pieces without anything between them, each drawn from a pool that
    is as likely as the others. A piece or a pool that is listed twice is drawn twice as often."""

    pools: tuple[Sequence[str], ...]
    least: int = 2
    most: int = 14

    def draw(self, rng: random.Random) -> str:
        count = rng.randint(self.least, self.most)
        if len(self.pools) == 1:
            return "".join(rng.choices(self.pools[0], k=count))
        return "".join(rng.choice(rng.choice(self.pools)) for _ in range(count))

    def strategy(self) -> st.SearchStrategy[str]:
        """The same texts by hypothesis: of a seed, which does not shrink."""
        return st.integers(0, 2**32).map(lambda seed: self.draw(random.Random(seed)))


def adversarial_texts(
    added: Sequence[str] = (), tokens: Sequence[str] = (), most: int = 7
) -> AdversarialTexts:
    """Texts for a tokenizer with these added tokens and these tokens of its vocabulary: characters
    of all classes in runs, contractions, white space and its own tokens."""
    own = ([added] * 5 if added else []) + ([tokens] * 3 if tokens else [])
    return AdversarialTexts((*own, *[(*CONTRACTIONS, *PIECES, *WHITE)] * 2, *[RUNS] * 10), 1, most)
