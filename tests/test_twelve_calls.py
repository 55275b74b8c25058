"""Each of the twelve calls of the command line's description, in a real shell: the screen is compared, and its exit code.

`--accept` writes the screens (`fixtures/calls/screens`) anew; they are read before they are committed.
"""

import os
import shutil
import subprocess
import sysconfig
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import zstandard

CALLS = Path(__file__).resolve().parent.parent / "fixtures" / "calls"
SCREENS = CALLS / "screens"

# What is typed. The screen of each line is what it says on stdout and stderr, and its exit code.
TYPED: dict[str, list[str]] = {
    "01-a-request-for-the-other-vendor": ["proxai convert req.json --to messages > out.json", "cat out.json"],
    "02-live-in-a-pipe": [
        # What it says is kept back until all has come through `tee`, for both go to one screen here.
        'curl -sN "$URL" -d @req.json | proxai stream --to responses 2> said | tee out.sse; cat said'
    ],
    "03-what-would-be-lost": ["proxai diff req.json --to responses"],
    "04-what-did-the-gateway-do": ["proxai diff client.request.json upstream.request.json"],
    "05-in-ci": [
        "cd repo && proxai diff --write-baseline -q",
        'cd repo && sed -i.bak \'s/"user": "walker"/"logit_bias": {"42": 5}/\' captures/plain.json && rm captures/*.bak',
        "cd repo && proxai diff --report github:- --report out/proxai.sarif --report summary.md --format none",
        "cd repo && cat summary.md && ls out",
    ],
    "06-accept-today": [
        "cd repo && proxai diff captures/ --to messages --baseline proxai-baseline.json --write-baseline -q",
        'cd repo && sed -i.bak \'s/"user": "walker"/"logit_bias": {"42": 5}/\' captures/plain.json && rm captures/*.bak',
        "cd repo && proxai diff captures/ --to messages --baseline proxai-baseline.json --write-baseline",
        "cd repo && cat proxai-baseline.json",
        "cd repo && proxai diff captures/ --to messages --baseline proxai-baseline.json -q --format none",
    ],
    "07-what-is-in-this-file": ["proxai inspect traffic.har"],
    "08-a-tie": ["proxai convert hi.json --to responses"],
    "09-stream-to-body": ["proxai collect s.sse -o s.json && proxai diff s.sse plain.json --format lines"],
    "10-will-clients-accept-it": ["proxai validate gw.sse"],
    "11-a-million-records": [
        "proxai convert batch.jsonl.zst --to messages -j 0 --on-error skip -o batch.messages.jsonl --report out/report.jsonl",
        "wc -l < batch.messages.jsonl; wc -l < out/report.jsonl",
    ],
    "12-for-a-bug-report": [
        "proxai redact failing.har --pick 1 --level text --salt walks -o failing.redacted.har",
        "grep -cE 'ada@example.org|gpt-4.1' failing.redacted.har",
        "proxai inspect failing.redacted.har",
        "proxai convert failing.redacted.har --pick 0 --to chat -qq",
        "proxai map foreign-signature",
    ],
}


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a vendor, who answers every request with the same stream."""

    class Vendor(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for frame in (CALLS / "live.sse").read_bytes().split(b"\n\n"):
                self.wfile.write(frame + b"\n\n" if frame else b"")
                self.wfile.flush()

        def log_message(self, format: str, *said: object) -> None:
            """Nothing is logged."""

    server = HTTPServer(("127.0.0.1", 0), Vendor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", TYPED)
def test_the_screen(name: str, url: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for program in {word for line in TYPED[name] for word in ("curl", "bash") if word in line or word == "bash"}:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    home = tmp_path / "calls"
    shutil.copytree(CALLS, home, ignore=shutil.ignore_patterns("screens"))
    (home / "batch.jsonl.zst").write_bytes(zstandard.compress((CALLS / "batch.jsonl").read_bytes()))
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "FORCE_COLOR", "PAGER")}
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    environment = {**kept, "PATH": path, "URL": url, "SOURCE_DATE_EPOCH": "1796000000"}
    screen = ""
    for line in TYPED[name]:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        screen += f"$ {line}\n{done.stdout}$? {done.returncode}\n"
    expected = SCREENS / f"{name}.txt"
    if request.config.getoption("--accept"):
        SCREENS.mkdir(exist_ok=True)
        expected.write_text(screen)
    assert screen == expected.read_text()


def test_no_screen_is_left_over() -> None:
    assert {path.stem for path in SCREENS.iterdir()} == set(TYPED)
