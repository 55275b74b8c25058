"""Whether a JSON value is an exchange, and of which protocol: by its bodies, then by its URL and headers."""

from typing import Any, NamedTuple

from ..endpoints import ENDPOINTS, known_by_body
from ..endpoints.address import BATCHES, CREATE, ELSEWHERE, UNKNOWN, VENDOR, results_of_batch
from ..endpoints.failures import is_error
from ..endpoints.whose import spoken
from ..errors import Place
from ..ir.events import DONE
from ..wire import sse
from ..wire.detect import AMBIGUOUS, CERTAIN, LIKELY, Detection, detect_events, detect_value
from .evidence import Evidence, evidence
from .heads import read_head
from .texts import END, HALVES, opened

REQUEST, RESPONSE = HALVES


class Known(NamedTuple):
    """What an exchange is: its kind is that of its answer, or `request` where it has none; `endpoint` is the call
    beside the creation of replies, and `model` what its bodies name."""

    detection: Detection
    endpoint: str | None
    model: str | None


def is_exchange(value: Any) -> bool:
    """Is it an object with a request or an answer, or one of these itself? A line of a batch is none."""
    if not isinstance(value, dict) or "custom_id" in value:
        return False
    halves = [value[name] for name in HALVES if isinstance(value.get(name), dict)]
    return any(map(_is_request, halves)) or any(map(_is_answer, halves)) or _is_request(value) or _is_answer(value)


def _is_request(half: dict[str, Any]) -> bool:
    return isinstance(half.get("url"), str) and bool({"method", "headers", "body"} & set(half))


def _is_answer(half: dict[str, Any]) -> bool:
    return type(half.get("status")) is int and bool({"headers", "body"} & set(half))


def known(value: Any, name: str = "") -> Known:
    """What an exchange is; `name` is that of its file. Bodies may be values or text."""
    halves = {half: value[half] for half in HALVES if isinstance(value.get(half), dict)}
    if not halves:
        halves = {RESPONSE if _is_answer(value) else REQUEST: value}
    asked, answer = halves.get(REQUEST, {}), halves.get(RESPONSE, {})
    # How the events of a stream are named is the same in every protocol to whoever only looks.
    bodies = {half: opened(each, "chat")[0].get("body") for half, each in halves.items()}
    told = evidence(asked["url"] if isinstance(asked.get("url"), str) else None, _headers(asked) | _headers(answer))
    endpoint = _endpoint(told, bodies)
    if endpoint is not None:
        kind = REQUEST if RESPONSE not in halves else "error" if _failed(answer, bodies[RESPONSE]) else RESPONSE
        found = [
            detect_value(body).candidates or tuple(VENDOR) if is_error(body) else spoken(endpoint, body)
            for body in bodies.values()
            if body
        ]
        return Known(of_endpoint(endpoint, kind, found, told), endpoint, _model(bodies))
    seen = [_seen(body, half, name) for half, body in bodies.items() if body not in (None, "")]
    kind = _kind(answer, bodies[RESPONSE]) if RESPONSE in halves else REQUEST
    return Known(_joined(seen, told, kind), None, _model(bodies) or told.address.model)


def of_endpoint(endpoint: str, kind: str, found: list[tuple[str, ...]], told: Evidence | None = None) -> Detection:
    """What a body (or several) of a call beside the creation of replies is; `found` are the protocols that fit each."""
    title = ENDPOINTS[endpoint].title
    left = [protocol for protocol in VENDOR if all(protocol in fits for fits in found)]
    order = found[0] if found else tuple(VENDOR)
    by_body = sorted(left, key=order.index)
    both = [protocol for protocol in by_body if told is None or protocol in told.protocols] or by_body
    by_url = told is not None and told.address.call == endpoint
    evidence = (f"{'the URL is' if by_url else 'its words are'} of a {title}", *(told.words if told else ()))
    if not both or len({VENDOR[protocol] for protocol in both}) > 1:
        return Detection(None, kind, AMBIGUOUS if both else None, evidence, tuple(both))
    sure = CERTAIN if len({VENDOR[protocol] for protocol in by_body}) == 1 else LIKELY
    return Detection(both[0], kind, sure, evidence, tuple(both))


def settled(found: Detection, told: Evidence) -> Detection:
    """What a body is, with what URL and headers say about it: they settle what it leaves open, no more."""
    left = tuple(protocol for protocol in found.candidates if protocol in told.protocols)
    if not told.speaks or found.sure == CERTAIN or len(left) != 1:
        return found
    habits = found.evidence if found.sure == LIKELY and found.protocol == left[0] else ()
    return found._replace(protocol=left[0], sure=LIKELY, evidence=(*told.words, *habits))


def _endpoint(told: Evidence, bodies: dict[str, Any]) -> str | None:
    """The call, by the URL, else by the words of a body."""
    found = next((known[0].name for body in bodies.values() if (known := known_by_body(body))), None)
    call = (results_of_batch(told.address) if found == BATCHES else told.address).call
    return call if call in ENDPOINTS else found if call == UNKNOWN else None


def _headers(half: dict[str, Any]) -> dict[str, str]:
    return read_head(opened(half, "chat")[0]).values()


def _seen(body: Any, half: str, name: str) -> Detection:
    """What a body is by itself, as far as it stands in the right half."""
    if isinstance(body, list):
        return detect_events(sse.Event(DONE if each == END else each, None, Place()) for each in body)
    found = detect_value(body, name)
    fits = found.kind == REQUEST if half == REQUEST else found.kind != REQUEST
    return found if fits else Detection(None, None, None, found.evidence)


def _joined(seen: list[Detection], told: Evidence, kind: str) -> Detection:
    """What several bodies of one exchange say together: the first that is certain, else what all allow."""
    certain = next((found for found in seen if found.sure == CERTAIN), None)
    if certain is not None:
        return certain._replace(kind=kind)
    fitting = [found for found in seen if found.candidates]
    left = tuple(protocol for protocol in VENDOR if all(protocol in found.candidates for found in fitting) and fitting)
    if fitting and left:
        best = next((found for found in fitting if found.protocol in left), fitting[0])
        said = best._replace(kind=kind, candidates=left)
        if len(left) == 1:
            said = said._replace(protocol=left[0], sure=LIKELY)
        return settled(said, told)
    if told.only and told.address.call in (CREATE, UNKNOWN):
        return Detection(told.only, kind, LIKELY, told.words, (told.only,))
    if told.address.call == ELSEWHERE:
        return Detection(None, kind, None, ("the URL is of a call that is not translated",))
    return Detection(None, kind, None, tuple(one for found in seen for one in found.evidence) or ("it has no body",))


def _kind(answer: dict[str, Any], body: Any) -> str:
    if _failed(answer, body):
        return "error"
    return "stream" if isinstance(body, list) else RESPONSE


def _failed(answer: dict[str, Any], body: Any) -> bool:
    status = answer.get("status")
    return (type(status) is int and status >= 400) or is_error(body)


def _model(bodies: dict[str, Any]) -> str | None:
    found = (body.get("model") for body in bodies.values() if isinstance(body, dict))
    return next((model for model in found if isinstance(model, str)), None)
