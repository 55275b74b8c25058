"""Which elements of two lists belong together, told by keys of their content; the work grows with the lists only.

Each element has keys, from the most exact to the loosest. An insertion moves nothing: elements of the same key anchor
the lists to each other, and looser keys only speak in the gaps between anchors.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Iterator, Sequence

Keys = Sequence[Hashable]


def in_order(ours: Sequence[Keys], theirs: Sequence[Keys]) -> dict[int, int]:
    """Pairs of positions, none of which cross. All elements have equally many keys."""
    found: dict[int, int] = {}
    for level in range(len(ours[0]) if ours else 0):
        for left, right in list(_gaps(found, len(ours), len(theirs))):
            found |= _anchors([ours[at][level] for at in left], [theirs[at][level] for at in right], left, right)
    return found


def in_any_order(ours: Sequence[Keys], theirs: Sequence[Keys]) -> dict[int, int]:
    """Pairs of positions; among elements of the same key the first go together."""
    found: dict[int, int] = {}
    taken: set[int] = set()
    for level in range(len(ours[0]) if ours else 0):
        open_ones: dict[Hashable, deque[int]] = {}
        for at, keys in enumerate(theirs):
            if at not in taken:
                open_ones.setdefault(keys[level], deque()).append(at)
        for at, keys in enumerate(ours):
            if at not in found and open_ones.get(keys[level]):
                found[at] = open_ones[keys[level]].popleft()
                taken.add(found[at])
    return found


def _gaps(found: dict[int, int], ours: int, theirs: int) -> Iterator[tuple[range, range]]:
    """What lies between pairs on both sides."""
    left = right = 0
    for mine, other in [*sorted(found.items()), (ours, theirs)]:
        if left < mine and right < other:
            yield range(left, mine), range(right, other)
        left, right = mine + 1, other + 1


def _anchors(ours: list[Hashable], theirs: list[Hashable], left: range, right: range) -> dict[int, int]:
    """The same keys at both ends, and of those between the longest run of pairs in order."""
    begin, end = 0, min(len(ours), len(theirs))
    while begin < end and ours[begin] == theirs[begin]:
        begin += 1
    found = {left[at]: right[at] for at in range(begin)}
    back = 0
    while back < end - begin and ours[-1 - back] == theirs[-1 - back]:
        back += 1
        found[left[-back]] = right[-back]
    where = {key: at for at, key in _numbered(theirs[begin : len(theirs) - back])}
    both = [(at, where[key]) for at, key in _numbered(ours[begin : len(ours) - back]) if key in where]
    return found | {left[begin + mine]: right[begin + other] for mine, other in _rising(both)}


def _numbered(keys: list[Hashable]) -> Iterator[tuple[int, tuple[Hashable, int]]]:
    """Keys that come more than once, told apart by how often they came before."""
    seen: dict[Hashable, int] = {}
    for at, key in enumerate(keys):
        seen[key] = seen.get(key, 0) + 1
        yield at, (key, seen[key])


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest of the runs in which both positions rise (patience sorting)."""
    tops: list[int] = []  # of each pile the position on top
    top_pairs: list[int] = []
    before: list[int | None] = []
    for number, (_, other) in enumerate(pairs):
        pile = bisect_left(tops, other)
        before.append(top_pairs[pile - 1] if pile else None)
        tops[pile : pile + 1] = [other]
        top_pairs[pile : pile + 1] = [number]
    run: list[tuple[int, int]] = []
    at = top_pairs[-1] if top_pairs else None
    while at is not None:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]
