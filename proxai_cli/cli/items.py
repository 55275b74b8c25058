"""The items of a run: some as they are, and of a long run the rest in a file without a name, so that memory stays."""

from collections.abc import Collection, Iterable, Iterator
from typing import IO

from ..report.account import Item

HELD = 1000


class Items(Collection[Item]):
    """Items in the order in which they came; may be gone through at any time, and as often as wanted.

    State: the first HELD of them, and the file with all others.
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._held: list[Item] = []
        self._file: IO[bytes] | None = None
        self._filed = 0
        for item in items:
            self.append(item)

    def append(self, item: Item) -> None:
        if len(self._held) < HELD:
            self._held.append(item)
            return
        import pickle

        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it goes with the run)
        self._file.seek(0, 2)
        pickle.dump(item, self._file, pickle.HIGHEST_PROTOCOL)
        self._filed += 1

    def __len__(self) -> int:
        return len(self._held) + self._filed

    def __iter__(self) -> Iterator[Item]:
        yield from self._held
        if not self._filed:
            return
        import pickle

        place = 0
        for _ in range(self._filed):
            assert self._file is not None
            self._file.seek(place)
            item: Item = pickle.load(self._file)
            place = self._file.tell()
            yield item

    def __contains__(self, item: object) -> bool:
        return any(each == item for each in self)
