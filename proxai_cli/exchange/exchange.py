"""One exchange under way: which call it is, and its halves, piece by piece."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..context import Context, Finding
from ..endpoints import ENDPOINTS, carry, compact, known_by_body, rerank
from ..endpoints.address import (
    BATCHES,
    COMPACT,
    COUNT,
    CREATE,
    ELSEWHERE,
    RERANK,
    UNKNOWN,
    VENDOR,
    Address,
    address,
    covered,
    has_call,
    results_of_batch,
    written,
)
from ..endpoints.failures import is_error, status_of
from ..endpoints.way import Way
from ..errors import NotPossible, NotThatProtocol, ProxaiError
from ..ledger import Leaf, Writer
from ..protocols import PROTOCOLS
from ..text import pointer
from . import bodies
from .credentials import COVERED
from .headers import OLD_VERSION, REQUEST, RESPONSE, Frame, judge_request, needed_betas, write_head
from .heads import copy_head, read_head
from .texts import HALVES

JSON, EVENTS = "application/json", "text/event-stream"

# What only the bodies of a call that creates a reply have.
_ASKS, _ANSWERS = ("messages",), ("choices", "output")


class Exchange:
    """An exchange with its bodies as values. State: its halves, and what its URL (else its bodies) say of the call."""

    def __init__(self, value: Any, source: str, target: str, context: Context) -> None:
        """Raises `unrecognised`, `wrong-url` and `no-endpoint`."""
        self.value, self.source, self.target, self.context = value, source, target, context
        self.halves, self.both = _halves(value)
        self.request, self.response = self.halves.get("request", {}), self.halves.get("response", {})
        url = self.request.get("url")
        self.address = address(url) if isinstance(url, str) else Address(UNKNOWN)
        with self._inside(*(("request", "url") if self.both else ("url",))):
            self.call = self._call()

    def write(self, w: Writer) -> None:
        """Write the target. What steers a reply is in the request; an answer steers nothing."""
        if not self.both:
            self._write_half(next(iter(self.halves)), w)
            return
        for name, half in self.halves.items():
            if half:
                with self._inside(name):
                    self._write_half(name, w.object(name))
        for key in self.value:
            if key not in w.value:
                w.put(key, Leaf(self.value, key))
        w.order(self.value)

    def _write_half(self, name: str, w: Writer) -> None:
        if name == "request":
            self._write_request(w)
            return
        steering = set(w.ledger.steering)
        self._write_response(w)
        w.ledger.steering = steering

    @contextmanager
    def _inside(self, *path: Any) -> Iterator[None]:
        """Places of errors and findings from inside there begin with this path."""
        findings = self.context.findings
        before = len(findings)
        try:
            yield
        except ProxaiError as error:
            error.place = error.place._replace(pointer=pointer(path) + (error.place.pointer or ""))
            raise
        finally:
            for at, (code, place, said) in enumerate(findings[before:], before):
                if type(place) is tuple:
                    findings[at] = Finding(code, (*path, *place), said)

    # What kind of call

    def _call(self) -> str:
        by_body = self._call_of_bodies()
        if by_body == BATCHES:
            self.address = results_of_batch(self.address)
        said = self.address.call
        if said == ELSEWHERE:
            raise NotPossible("no-endpoint", "the URL is of a call that is not translated")
        if said == UNKNOWN:
            said = by_body or CREATE
        elif self._compacts(said):
            said = COMPACT
            self.address = self.address._replace(call=said)
        elif by_body not in (None, said):
            raise NotThatProtocol(
                "wrong-url",
                "the URL is of another call than the body",
                hint="look at the URL that was captured with this body",
            )
        for protocol in (self.source, self.target):
            if not has_call(said, protocol):
                raise NotPossible(
                    "no-endpoint",
                    f"{PROTOCOLS[protocol].title} has no {ENDPOINTS[said].title}",
                    hint="translate it to a protocol that has one",
                )
        if self.address.protocol not in (None, self.source):
            self.context.find("address-says-otherwise", ())
        return said

    def _compacts(self, said: str) -> bool:
        """Is it a request of Messages that the other protocol has a call of its own for?"""
        streamed = isinstance(self.response.get("body"), list)
        asked = said == CREATE and compact.wants(self.request.get("body"))
        return asked and not streamed and self.source != self.target and has_call(COMPACT, self.target)

    def _call_of_bodies(self) -> str | None:
        for name, half in self.halves.items():
            body = half.get("body")
            known = known_by_body(body)
            if known is not None:
                return known[0].name
            marks = _ASKS if name == "request" else _ANSWERS
            if isinstance(body, dict) and any(isinstance(body.get(key), list) for key in marks):
                return self.address.call if name == "request" and self.address.call in (COUNT, COMPACT) else CREATE
        return None

    # Requests

    def _write_request(self, w: Writer) -> None:
        half, head = self.request, read_head(self.request)
        said = head.values()
        judge_request(head, self.source, self.address.cloud, self.context)
        self._refuse_old(said)
        context = self.context._replace(headers=said)
        for key in half:
            if key == "url":
                w.put(key, self._url(Leaf(half, key)))
            elif key == "body" and half[key] not in (None, ""):
                with self._inside("body"):
                    self._write_asked(w, context)
            elif key != "headers":
                w.put(key, Leaf(half, key))
        if "headers" in half:
            self._write_request_head(w, context)
        w.order(half)

    def _write_asked(self, w: Writer, context: Context) -> None:
        if self.call == CREATE:
            bodies.write_request(self.request, self.address, self.source, self.target, w, context)
        else:
            carry(self.request, "body", w, ENDPOINTS[self.call], Way(self.source, self.target, "request", context))

    def _write_request_head(self, w: Writer, context: Context) -> None:
        if self.source == self.target:
            copy_head(self.request, w, context)
            return
        body, url = w.value.get("body"), w.value.get("url")
        frame = Frame(
            streamed=isinstance(body, dict) and body.get("stream") is True,
            media=self._media(body),
            host=address(url).host or None if isinstance(url, str) else None,
            betas=needed_betas(body) if self.target == "messages" else (),
        )
        write_head(self.request, REQUEST, self.source, self.target, w, context, frame)

    def _url(self, leaf: Leaf) -> Leaf:
        if not isinstance(leaf.value, str):
            return leaf
        said = leaf.value
        if self.call == RERANK:
            said = rerank.url_of(self.address, self.context.choice("rerank")) or said
        if self.source != self.target and self.address.call != UNKNOWN:
            body = self.request.get("body")
            model = body.get("model") if isinstance(body, dict) else None
            said = written(self.address, self.source, self.target, model if isinstance(model, str) else None)
        shown = said if self.context.chosen("credentials") else covered(said)
        return leaf.to(shown, COVERED if shown != said else "respelled")

    def _refuse_old(self, said: dict[str, str]) -> None:
        asked, answer = self.request.get("body"), self.response.get("body")
        streamed = isinstance(answer, list) or (isinstance(asked, dict) and asked.get("stream") is True)
        if streamed and said.get("anthropic-version", "").strip() == OLD_VERSION:
            raise NotThatProtocol(
                "old-version", f"streams of version {OLD_VERSION} have another form, which is not read"
            )

    # Answers

    def _write_response(self, w: Writer) -> None:
        half, head = self.response, read_head(self.response)
        asked = self.request.get("body")
        context = self.context._replace(headers=head.values())
        if isinstance(asked, dict):
            context = context._replace(request=asked, request_protocol=self.source)
        request_id = None
        if "body" in half and (half["body"] not in (None, "") or self._failed()):
            with self._inside("body"):
                request_id = self._write_answer(w, context, bool(head.headers))
        for key in half:
            if key not in ("headers", "status") and key not in w.value:
                w.put(key, Leaf(half, key))
        if "status" in half:
            w.put("status", self._status(Leaf(half, "status"), w.value.get("body")))
        if "headers" in half and self.source == self.target:
            copy_head(half, w, context)
        elif "headers" in half:
            write_head(
                half,
                RESPONSE,
                self.source,
                self.target,
                w,
                context,
                Frame(media=self._media(w.value.get("body")), request_id=request_id),
            )
        w.order(half)

    def _media(self, body: Any) -> str | None:
        if isinstance(body, dict):
            return JSON
        return EVENTS if isinstance(body, list) and self.call == CREATE else None

    def _failed(self) -> bool:
        status = self.response.get("status")
        return type(status) is int and 400 <= status <= 599

    def _write_answer(self, w: Writer, context: Context, has_head: bool) -> Leaf | None:
        half, source, target = self.response, self.source, self.target
        failed = self._failed() or is_error(half["body"])
        if failed:
            return bodies.write_error(half, source, target, w, context, has_head)
        if self.call != CREATE:
            carry(half, "body", w, ENDPOINTS[self.call], Way(source, target, "response", context))
        elif isinstance(half["body"], list):
            bodies.write_stream(half, source, target, w, context)
        else:
            bodies.write_reply(half, source, target, w, context)
        return None

    def _status(self, status: Leaf, body: Any) -> Leaf:
        """Of an error the status that the other vendor sends; a failed reply, which had none, has one now."""
        failed, abroad = self._failed(), VENDOR[self.source] != VENDOR[self.target]
        if type(status.value) is not int or self.source == self.target or (failed and not abroad):
            return status
        if not failed and not is_error(body):
            return status
        return status.to(status_of(body, self.target, status.value), "respelled")


def _halves(value: Any) -> tuple[dict[str, dict[str, Any]], bool]:
    """The halves of an exchange by name, and whether they stand in an object of their own each."""
    if not isinstance(value, dict):
        raise NotThatProtocol("unrecognised", "an exchange is an object with `request` and `response`, or one of these")
    found = {half: value[half] for half in HALVES if isinstance(value.get(half), dict)}
    if found:
        return found, True
    if {"url", "method"} & set(value):
        return {"request": value}, False
    if {"status", "body"} & set(value):
        return {"request" if "status" not in value and _asks(value.get("body")) else "response": value}, False
    raise NotThatProtocol("unrecognised", "an exchange has a `url`, a `status` or a `body`; this has none")


def _asks(body: Any) -> bool:
    known = known_by_body(body)
    if known is not None:
        return known[1] == "request"
    return isinstance(body, dict) and bool({"messages", "input"} & set(body)) and not set(_ANSWERS) & set(body)
