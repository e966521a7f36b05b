"""A text in segments, each with its ids: an immutable balanced tree. Versions of a text share
subtrees.

Ropes are joined, and split at the edges of segments, in logarithmic time (AVL trees joined by
height: Blelloch, Ferizovic and Sun, Just Join for Parallel Ordered Sets, 2016)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokpar.arrays import IdArray
from tokpar.results.adding_up import concatenate


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The text between two certified cuts, and its ids.

    `absorbed_chars`: how many code points at the start of `text` the ids do not hold, because the
    tokenizer puts a dummy prefix in their place (theorem 6.4)."""

    text: str
    ids: IdArray
    absorbed_chars: int = 0

    @property
    def height(self) -> int:
        return 0

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def count(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Two ropes in order, with the number of code points and of ids of both together."""

    left: Tree
    right: Tree
    height: int
    chars: int
    count: int


Tree = Segment | Node
Rope = Tree | None
"""A rope is None if it has no segment."""


def _node(left: Tree, right: Tree) -> Node:
    height = 1 + max(left.height, right.height)
    return Node(left, right, height, left.chars + right.chars, left.count + right.count)


def rope_of(segments: Sequence[Segment]) -> Rope:
    """The rope of the segments, in their order."""
    if len(segments) < 2:
        return segments[0] if segments else None
    middle = len(segments) // 2
    left, right = rope_of(segments[:middle]), rope_of(segments[middle:])
    assert left is not None
    assert right is not None
    return _node(left, right)


def join_ropes(left: Rope, right: Rope) -> Rope:
    """The rope of `left` followed by `right`."""
    return _join_trees(left, right) if left is not None and right is not None else left or right


def _join_trees(left: Tree, right: Tree) -> Tree:
    if isinstance(left, Node) and left.height > right.height + 1:
        return _balance(left.left, _join_trees(left.right, right))
    if isinstance(right, Node) and right.height > left.height + 1:
        return _balance(_join_trees(left, right.left), right.right)
    return _node(left, right)


def _balance(left: Tree, right: Tree) -> Node:
    """A balanced node of two trees whose heights differ by at most two."""
    if isinstance(left, Node) and left.height > right.height + 1:
        if left.left.height >= left.right.height or not isinstance(left.right, Node):
            return _node(left.left, _node(left.right, right))
        inner = left.right
        return _node(_node(left.left, inner.left), _node(inner.right, right))
    if isinstance(right, Node) and right.height > left.height + 1:
        if right.right.height >= right.left.height or not isinstance(right.left, Node):
            return _node(_node(left, right.left), right.right)
        inner = right.left
        return _node(_node(left, inner.left), _node(inner.right, right.right))
    return _node(left, right)


def split(rope: Rope, position: int) -> tuple[Rope, Rope]:
    """The parts of a rope before and after code point `position`, which must be an edge of a
    segment."""
    if rope is None or position <= 0:
        return None, rope
    if position >= rope.chars:
        return rope, None
    assert isinstance(rope, Node), "a rope is split between two segments"
    if position <= rope.left.chars:
        left, right = split(rope.left, position)
        return left, join_ropes(right, rope.right)
    left, right = split(rope.right, position - rope.left.chars)
    return join_ropes(rope.left, left), right


def first_segment(tree: Tree) -> Segment:
    """The first segment of a rope."""
    while isinstance(tree, Node):
        tree = tree.left
    return tree


def edge_before(rope: Rope, position: int) -> int:
    """The last start of a segment at or before code point `position`; 0 if there is none."""
    start, tree = 0, rope
    while isinstance(tree, Node):
        middle = start + tree.left.chars
        if middle <= position:
            start, tree = middle, tree.right
        else:
            tree = tree.left
    return start


def edge_after(rope: Rope, position: int) -> int:
    """The first start of a segment at or after code point `position`; the end if there is none."""
    start, stop, tree = 0, 0 if rope is None else rope.chars, rope
    while isinstance(tree, Node):
        middle = start + tree.left.chars
        if middle < position:
            start, tree = middle, tree.right
        else:
            stop, tree = middle, tree.left
    return stop


def join_segments(segments: Sequence[Segment]) -> Segment:
    """One segment in place of neighbours."""
    text, ids = "".join(each.text for each in segments), [each.ids for each in segments]
    return Segment(text, concatenate(ids), segments[0].absorbed_chars)


def join_until(segments: Sequence[Segment], least: int) -> list[Segment]:
    """The segments, with those that start before code point `least` joined to one."""
    place, count = 0, 0
    for segment in segments:
        if count and place >= least:
            break
        place, count = place + segment.chars, count + 1
    return [join_segments(segments[:count]), *segments[count:]] if count else []


def divide(rope: Rope, edges: Sequence[tuple[int, int]]) -> list[list[Segment]]:
    """The segments before, between and after `edges`: (code points, ids) before each, ascending.

    A segment across an edge is divided. Each edge must be a certified cut that absorbs nothing."""
    pieces, place, count = [list[Segment]()], 0, 0
    waiting = [*edges]
    for _, segment in segments_after(rope, -1):
        rest = segment
        while waiting and waiting[0][0] <= place + rest.chars:
            chars, ids = waiting[0][0] - place, waiting[0][1] - count
            del waiting[0]
            left = Segment(rest.text[:chars], rest.ids[:ids], rest.absorbed_chars)
            pieces[-1] += [left] if chars else []
            pieces.append([])
            place, count = place + chars, count + ids
            rest = Segment(rest.text[chars:], rest.ids[ids:], 0 if chars else rest.absorbed_chars)
        pieces[-1] += [rest] if rest.text or rest.count else []
        place, count = place + rest.chars, count + rest.count
    return pieces


def segments_after(rope: Rope, position: int) -> Iterator[tuple[int, Segment]]:
    """Yield (start, segment) of all segments that end after `position`, from first to last."""
    waiting = [(0, rope)] if rope is not None else []
    while waiting:
        start, tree = waiting.pop()
        if start + tree.chars <= position:
            continue
        if isinstance(tree, Segment):
            yield start, tree
        else:
            waiting += [(start + tree.left.chars, tree.right), (start, tree.left)]


def slice_of(rope: Rope, start: int, stop: int) -> str:
    """The text of the code points [start, stop) of the rope."""
    if start >= stop:
        return ""
    found = []
    for at, segment in segments_after(rope, start):
        if at >= stop:
            break
        found.append(segment.text[max(0, start - at) : stop - at])
    return "".join(found)


def first_ids(rope: Rope, count: int) -> IdArray:
    """The first `count` ids of a rope."""
    found: list[IdArray] = []
    for _, segment in segments_after(rope, 0):
        if count <= 0:
            break
        found.append(segment.ids[:count])
        count -= len(found[-1])
    return concatenate(found)


def ids_after(rope: Rope, first: int) -> IdArray:
    """The ids from number `first` on; uint32, (n,)."""
    found: list[IdArray] = []
    waiting = [(0, rope)] if rope is not None else []
    while waiting:
        before, tree = waiting.pop()
        if before + tree.count <= first:
            continue
        if isinstance(tree, Segment):
            found.append(tree.ids if first <= before else tree.ids[first - before :])
        else:
            waiting += [(before + tree.left.count, tree.right), (before, tree.left)]
    return concatenate(found)
