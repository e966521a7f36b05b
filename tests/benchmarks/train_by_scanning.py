"""The baseline of the training benchmark: the method of the "byte-level BPE from scratch" article,
written straight down.

Pre-tokenization in parallel, counts, an inverted index from pair to pre-tokens, only the touched
pre-tokens rewritten; but before every merge a full `max` over all pairs, in one process. Kept as it
is for comparison: `tokpar.train` gives the same merges with ties="lexicographic".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import regex

Pair = tuple[bytes, bytes]
CHUNKS_PER_WORKER = 4
WINDOW = 4096


def train_by_scanning(
    path: Path, merges: int, special_token: str, pattern: str, min_frequency: int, workers: int
) -> list[Pair]:
    """The merges, first to last, as pairs of byte strings."""
    counts = count_pre_tokens(path, special_token, pattern, workers)
    return merge_by_scanning(counts, merges, min_frequency)


def count_pre_tokens(path: Path, special_token: str, pattern: str, workers: int) -> Counter[bytes]:
    """Pre-tokens of the whole file, chunk by chunk in a pool of processes."""
    edges = chunk_edges(path, special_token.encode(), workers * CHUNKS_PER_WORKER)
    tasks = [(path, start, stop, special_token, pattern) for start, stop in pairwise(edges)]
    total: Counter[str] = Counter()
    with get_context().Pool(workers) as pool:
        for counts in pool.imap_unordered(count_chunk, tasks):
            total.update(counts)
    return Counter({word.encode(): count for word, count in total.items()})


def chunk_edges(path: Path, special_token: bytes, chunks: int) -> list[int]:
    """Byte offsets, each moved on to where the next special token begins."""
    size = path.stat().st_size
    edges = {0, size}
    with path.open("rb") as file:
        for number in range(1, chunks):
            place = size * number // chunks
            while place < size:
                file.seek(place)
                found = file.read(WINDOW + len(special_token)).find(special_token)
                if found >= 0:
                    edges.add(place + found)
                    break
                place += WINDOW
    return sorted(edges)


def count_chunk(task: tuple[Path, int, int, str, str]) -> Counter[str]:
    """Pre-tokens of one chunk."""
    path, start, stop, special_token, pattern = task
    with path.open("rb") as file:
        file.seek(start)
        text = file.read(stop - start).decode("utf-8")
    counts: Counter[str] = Counter()
    for part in text.split(special_token):
        counts.update(regex.findall(pattern, part, regex.VERSION0))
    return counts


def merge_by_scanning(word_counts: Counter[bytes], merges: int, min_frequency: int) -> list[Pair]:
    """The merges of these pre-tokens; the greatest pair of the most frequent ones goes first."""
    words = [[bytes([byte]) for byte in word] for word in word_counts]
    counts = list(word_counts.values())
    pair_counts: Counter[Pair] = Counter()
    words_with: defaultdict[Pair, set[int]] = defaultdict(set)
    for number, word in enumerate(words):
        for pair in pairwise(word):
            pair_counts[pair] += counts[number]
            words_with[pair].add(number)
    made: list[Pair] = []
    while len(made) < merges and pair_counts:
        most = max(pair_counts.values())  # in two steps: a key function takes several times longer
        if most < max(1, min_frequency):
            break
        best = max(pair for pair, count in pair_counts.items() if count == most)
        made.append(best)
        for number in list(words_with[best]):
            word, count = words[number], counts[number]
            for pair in pairwise(word):
                pair_counts[pair] -= count
                words_with[pair].discard(number)
                if not pair_counts[pair]:
                    del pair_counts[pair], words_with[pair]
            words[number] = word = merged(word, best)
            for pair in pairwise(word):
                pair_counts[pair] += count
                words_with[pair].add(number)
    return made


def merged(word: list[bytes], pair: Pair) -> list[bytes]:
    """`word` with the pair joined wherever it stands, from left to right."""
    joined: list[bytes] = []
    i = 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            joined.append(word[i] + word[i + 1])
            i += 2
        else:
            joined.append(word[i])
            i += 1
    return joined
