"""Documents read by the unmodified official clients, from a server on the loopback address that answers with them.

Nothing leaves the machine: the clients know no proxy, no other address and no real key, and never try again.
"""

from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any

from .seen import Custom, NoJson, Seen, collect_responses, equal, error_in, events_in, plain, reading, seen_in

__all__ = ["Seen", "equal", "events_in", "read_body", "read_events", "read_stream", "seen_in"]

# Seconds that a client waits for the loopback server.
PATIENCE = 10
MARK = "X-Answer"


class Answers(BaseHTTPRequestHandler):
    """Answers a POST with what was put up under the number in its header."""

    protocol_version = "HTTP/1.1"
    # One write for head and body: two would wait for each other's acknowledgement.
    wbufsize = -1
    put_up: dict[str, tuple[int, str, bytes]] = {}  # noqa: RUF012

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, content_type, data = self.put_up[self.headers[MARK]]
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


numbers = count(1)


@contextmanager
def answer(status: int, content_type: str, data: bytes):
    """Puts an answer up; yields the header by which a client asks for it."""
    number = str(next(numbers))
    Answers.put_up[number] = (status, content_type, data)
    try:
        yield {MARK: number}
    finally:
        del Answers.put_up[number]


@cache
def address() -> str:
    """The URL of the server, which is started by the first question."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


@cache
def client(protocol: str) -> Any:
    """The official client of a protocol, at the loopback server."""
    import anthropic
    import openai

    package, maker = (anthropic, anthropic.Anthropic) if protocol == "messages" else (openai, openai.OpenAI)
    return maker(
        api_key="none",
        base_url=address(),
        max_retries=0,
        timeout=PATIENCE,
        http_client=package.DefaultHttpxClient(trust_env=False, timeout=PATIENCE),
    )


def door(protocol: str) -> tuple[Any, dict[str, Any]]:
    """The resource of the client that has `create` and `stream`, and the least that they ask for."""
    if protocol == "chat":
        return client(protocol).chat.completions, {"model": "m", "messages": []}
    if protocol == "responses":
        return client(protocol).responses, {"model": "m", "input": []}
    return client(protocol).messages, {"model": "m", "messages": [], "max_tokens": 1}


def api_errors() -> tuple[type[Exception], ...]:
    import anthropic
    import openai

    return openai.APIError, anthropic.APIError


def read_body(protocol: str, kind: str, data: bytes, status: int | None = None) -> Seen:
    """What the official client makes of the body of a response, or of an error, which has status 400 by default."""
    resource, least = door(protocol)
    status = status or (400 if kind == "error" else 200)
    with answer(status, "application/json", data) as headers:
        try:
            reply = resource.create(**least, extra_headers=headers)
        except api_errors() as error:
            return Seen(kind=kind, status=status, way="error", error=error_in(error.body))
    return replace(reading(protocol, reply), kind=kind, way="create")


def read_stream(protocol: str, data: bytes) -> Seen:
    """What the official client makes of the bytes of a stream.

    Read by the stream helper of the client where that can finish (`way` is "helper"), else event by event ("create").
    Whether it can is told by what is in the stream, so that a helper that raises for another reason is not hidden.
    """
    seen = read_events(protocol, data)
    if cannot_finish(protocol, seen):
        return seen
    resource, least = door(protocol)
    with (
        answer(200, "text/event-stream", data) as headers,
        resource.stream(**least, extra_headers=headers) as stream,
    ):
        final = {
            "chat": "get_final_completion",
            "responses": "get_final_response",
            "messages": "get_final_message",
        }[protocol]
        reply = getattr(stream, final)()
    return replace(reading(protocol, reply), kind="stream", way="helper", live=seen.live)


def read_events(protocol: str, data: bytes) -> Seen:
    """A stream as `create(stream=True)` yields it, its events put together as `seen_in` puts them."""
    resource, least = door(protocol)
    events = []
    error = None
    with answer(200, "text/event-stream", data) as headers:
        try:
            for event in resource.create(**least, stream=True, extra_headers=headers):
                events.append(plain(event))
        except api_errors() as raised:
            error = error_in(raised.body)
    seen = seen_in(protocol, "stream", events)
    seen = replace(seen, way="create", error=error or seen.error)
    if protocol == "responses":
        live = reading(protocol, collect_responses(events, live=True))
        seen.live = replace(live, kind="stream", error=error or live.error)
    return seen


def cannot_finish(protocol: str, seen: Seen) -> bool:
    """Whether the helper raises by design: at errors, cuts, some stops, free text, arguments that are no JSON."""
    if seen.error:
        return True
    if protocol == "chat":
        custom = any(isinstance(value, Custom) for _, value in seen.calls)
        return custom or seen.stop in ("length", "content_filter")
    if protocol == "responses":
        return seen.stop != "completed"
    return any(isinstance(value, NoJson) for _, value in seen.calls)
