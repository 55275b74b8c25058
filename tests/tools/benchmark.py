"""Print how much a translation costs, as a multiple of bare parsing and printing of the same input in the same run.

    python -m tests.tools.benchmark

Each figure is the median of several rounds in which both sides take turns.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proxai_cli import PROTOCOLS, Pipe, text, translate

from ..test_growth import long_text, requests

ROUNDS = 7


def spent(work: Callable[[], Any]) -> float:
    """Seconds of processor time."""
    start = time.process_time()
    work()
    return time.process_time() - start


def ratio(work: Callable[[], Any], bare: Callable[[], Any]) -> float:
    work(), bare()
    return statistics.median(spent(work) / spent(bare) for _ in range(ROUNDS))


def bodies(source: str, target: str) -> float:
    data = text.dumps(requests(source, 100))
    return ratio(
        lambda: text.dumps(translate(text.read(data)[0], source, target, "request").value),
        lambda: text.dumps(text.loads(data)),
    )


def streams(source: str, target: str) -> float:
    lines = [text.dumps(event) for event in long_text(source, 1000)]
    data = b"".join(b"data: " + line + b"\n\n" for line in lines)

    def through() -> None:
        pipe = Pipe(source, target)
        pipe.feed(data)
        pipe.close()

    return ratio(through, lambda: [text.dumps(text.loads(line)) for line in lines])


def start(words: list[str]) -> float:
    """Starting a call against starting a bare interpreter, whole processes by the clock."""

    def run(call: list[str]) -> float:
        before = time.perf_counter()
        subprocess.run([sys.executable, *call], capture_output=True, check=True)
        return time.perf_counter() - before

    return statistics.median(run(["-m", "proxai_cli", *words]) / run(["-c", "pass"]) for _ in range(ROUNDS))


def main() -> None:
    print("translation of bodies and streams, times bare parse and print")
    for source in PROTOCOLS:
        for target in PROTOCOLS:
            if source != target:
                print(
                    f"  {source} -> {target}: request {bodies(source, target):.1f}, stream {streams(source, target):.1f}"
                )
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.json"
        small.write_bytes(text.dumps(requests("chat", 1)))
        print(
            f"convert of a small body, times python -c pass: {start(['convert', str(small), '--to', 'messages']):.1f}"
        )


if __name__ == "__main__":
    main()
