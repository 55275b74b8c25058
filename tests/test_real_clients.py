"""The official clients, unmodified and over the loopback address, read what we write and see what the source said."""

import pytest

from proxai_cli import PROTOCOLS, Pipe, text, translate
from proxai_cli.errors import ProxaiError

from .captures import Capture, body, corpus, events, fixtures, wire
from .judges import complaint
from .refused import REFUSED

# Calls whose tool has no name, which no target takes; it is replaced (`legal-name`).
NAMELESS = ("corpus/chat/response/pydantic-ai-092.json",)
WANTED = [
    each
    for each in [*fixtures(), *corpus()]
    if each.kind in ("response", "stream", "error") and each.label not in REFUSED and each.label not in NAMELESS
]
PAIRS = [(each, target) for each in WANTED for target in PROTOCOLS if target != each.protocol]


@pytest.mark.parametrize(("capture", "target"), PAIRS, ids=lambda said: getattr(said, "label", said))
def test_clients_see_what_the_source_said(capture: Capture, target: str) -> None:
    clients = pytest.importorskip("tests.clients")
    source = wire(events(capture)) if capture.kind == "stream" else body(capture)
    if complaint(capture.protocol, capture.kind, source) is not None:
        pytest.skip("the source is not what the official types take")
    if capture.kind == "stream":
        pipe = Pipe(capture.protocol, target)
        data = pipe.feed(capture.data) + pipe.close()
        seen = clients.read_stream(target, data)
    else:
        try:
            done = translate(source, capture.protocol, target, capture.kind)
        except ProxaiError as error:
            pytest.fail(error.message)
        seen = clients.read_body(target, capture.kind, text.dumps(done.value))
    said = clients.seen_in(capture.protocol, capture.kind, source)
    assert not clients.equal(capture.protocol, said, target, seen)
