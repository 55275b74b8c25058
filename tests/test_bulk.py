"""Records are worked on in their order, however they are spread; what is held is bounded; nothing is lost."""

import tracemalloc
from collections.abc import Iterator

import pytest

from proxai_cli.bulk import BATCH, WAITING, Spread, in_order, spread
from proxai_cli.errors import ProxaiError

ALONE, TWO = Spread(), Spread(2)


def doubled(number: int) -> int:
    return 2 * number


def refused(number: int) -> int:
    if number == 200:
        raise ProxaiError("bad-json", "the two hundredth")
    return number


@pytest.mark.parametrize("how", [ALONE, TWO], ids=str)
@pytest.mark.parametrize("count", [0, 1, BATCH, 5 * BATCH + 3])
def test_the_order_is_that_of_the_records(how: Spread, count: int) -> None:
    assert list(in_order(doubled, range(count), how)) == [2 * number for number in range(count)]


@pytest.mark.parametrize("how", [ALONE, TWO], ids=str)
def test_an_error_comes_after_all_that_was_before_it(how: Spread) -> None:
    done = []
    with pytest.raises(ProxaiError, match="the two hundredth"):
        for result in in_order(refused, range(300), how):
            done.append(result)
    assert done == list(range(200))


def test_no_more_is_taken_than_is_at_work() -> None:
    taken = 0

    def records() -> Iterator[int]:
        nonlocal taken
        for number in range(100 * BATCH):
            taken = number
            yield number

    results = in_order(doubled, records(), TWO)
    assert next(results) == 0
    assert taken <= BATCH * WAITING * TWO.jobs
    results.close()  # type: ignore[attr-defined]


def test_memory_does_not_grow_with_the_number_of_records() -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        for _ in in_order(len, ("x" * 1000 for _ in range(count)), TWO):
            pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(40 * BATCH) < 2 * peak(10 * BATCH)


@pytest.mark.parametrize("jobs", ["", "x", "-1", "1.5", "²", "1000"])
def test_jobs_is_a_number(jobs: str) -> None:
    with pytest.raises(ProxaiError, match="--jobs"):
        spread(jobs, "local")


def test_no_jobs_are_as_many_as_cores() -> None:
    assert spread("0", "local").jobs >= 1
    assert spread("1", "local").is_alone
    assert not spread("1", "ray").is_alone


def test_ray_gives_the_same() -> None:
    pytest.importorskip("ray.data", reason="the extra proxai[ray] is not installed")
    assert list(in_order(doubled, range(200), Spread(2, "ray"))) == [2 * number for number in range(200)]
    with pytest.raises(ProxaiError, match="the two hundredth"):
        list(in_order(refused, range(300), Spread(2, "ray")))
