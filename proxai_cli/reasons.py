"""Every code that the product says, each with one meaning, one level and one sentence for the person who reads it.

Source: `spec/reasons.md`. A code is the stable name for CI files and is never reused for another meaning.
"""

from typing import NamedTuple

LEVELS = ("note", "loss", "risk", "unexplained")


class Reason(NamedTuple):
    """Why a leaf was dropped, changed or synthesized; level `loss*` is a risk where the leaf steers the reply."""

    level: str
    text: str


class Notice(NamedTuple):
    """A finding: something about the document rather than a leaf. `layer` is where it is seen."""

    level: str
    layer: str
    text: str


class Failure(NamedTuple):
    """An error: the document, or the rest of it, could not be translated.

    `exit` is the exit code, `action` the one thing to do where whoever sees the error knows nothing better.
    """

    exit: int
    text: str
    action: str


def level(why: str, steers: bool = False) -> str:
    """The level of a reason that is given now; `loss*` is a risk if the term steers the reply."""
    said = REASONS[why].level if why in REASONS else "unexplained"
    return said if said != "loss*" else "risk" if steers else "loss"


REASONS: dict[str, Reason] = {
    "no-equivalent": Reason("loss*", "The target has no place for this, so it is not said any more."),
    "target-default": Reason("note", "The target does the same when this is absent."),
    "target-rejects": Reason(
        "loss*", "This version or model of the target would refuse the whole call because of it, so it was left out."
    ),
    "foreign-id": Reason(
        "loss", "Only the source's vendor knows this id; upload or create the thing again on the other side."
    ),
    "foreign-signature": Reason(
        "risk",
        "Only the source's vendor can verify or read this reasoning, so the model will not see it; `--set "
        "keep-reasoning=true` keeps it.",
    ),
    "stateful-reference": Reason(
        "risk",
        "This points to something kept on the source's server, which the other side cannot see; send the "
        "conversation itself.",
    ),
    "hosted-tool": Reason(
        "loss*",
        "The source's vendor runs this tool and the target has none like it; offer a function of your own instead.",
    ),
    "unsupported-media": Reason(
        "loss*", "The target cannot hold audio, images or files of this form, so the model does not get them."
    ),
    "filter-tools": Reason("note", "This tool is outside the subset that may be called, so it is not offered."),
    "single-candidate": Reason(
        "loss", "The target has room for one reply; this belongs to another one, which `--set choice=N` selects."
    ),
    "unknown-field": Reason(
        "loss*", "No known version of the protocol has this field, so nobody can say what it would be elsewhere."
    ),
    "duplicate": Reason("note", "The same is already said in another place."),
    "noise": Reason("note", "Filler of the transport that says nothing."),
    "not-terminal": Reason("note", "This is true only while the reply is running."),
    "late-piece": Reason(
        "loss*", "This piece came after its block was finished, and the target cannot open a block twice."
    ),
    "not-yet": Reason("loss*", "A rule for this is specified but not built yet, so it was left out."),
    "unclaimed": Reason(
        "unexplained", "No rule said anything about this: that is a hole in our tables, please report it."
    ),
    "out-of-nowhere": Reason(
        "unexplained",
        "This was written from a place that the source does not have: that is a fault of ours, please report it.",
    ),
    "respelled": Reason("note", "The same meaning in the target's word."),
    "one-to-list": Reason("note", "One value where the target wants a list."),
    "data-url": Reason("note", "A data URL and its media type and data are the same content in two forms."),
    "json-parse": Reason("note", "Argument text became the object that it spells."),
    "json-dump": Reason("note", "An object became the text that spells it."),
    "empty-arguments": Reason("note", "No arguments at all and an empty object mean the same."),
    "raw-arguments": Reason(
        "risk", "The arguments are no JSON object, so their text is wrapped in one as `_raw`; the tool must look there."
    ),
    "wrap-custom": Reason(
        "note", "Free text for a tool stands in an object's `input`, since the target's tools take objects only."
    ),
    "flatten-namespace": Reason("note", "The target has no namespaces, so the tool has a longer name."),
    "legal-name": Reason(
        "risk", "The target refuses this name, so the tool is called otherwise; map the name back before you run it."
    ),
    "legal-id": Reason("note", "The target refuses this id, so another one, made from it, links call and result."),
    "wrap-id": Reason("note", "The id has the target's prefix, or lost the source's."),
    "role-merge": Reason("loss", "The target does not tell these roles or places of instructions apart."),
    "merged-boundary": Reason("loss", "Separate pieces became one, so where one ended is not told any more."),
    "moved-media": Reason(
        "risk", "Media cannot stand in a tool result there, so they follow in a message of their own."
    ),
    "missing-result": Reason(
        "risk", "A call without a result would be refused, so one that says so was put in; add the real result."
    ),
    "orphan-result": Reason("risk", "A result without its call would be refused, so it is told as the user's text."),
    "refusal-text": Reason("note", "The words of a refusal stand in a text, or as its explanation, too."),
    "transcript-as-text": Reason("loss", "The target cannot hold the audio; its transcript stands in its place."),
    "whole-block-span": Reason("note", "The citation marks the whole text block, since the exact span is not told."),
    "clamp-temperature": Reason(
        "risk", "The target takes temperatures up to 1 only, so the reply will vary less than was asked for."
    ),
    "budget-to-effort": Reason("loss", "A thinking budget in tokens became the nearest word for effort."),
    "adaptive-default": Reason("note", "Thinking that adapts by itself is nearest to effort `high`."),
    "room-for-thinking": Reason("note", "The token limit was raised, for it must be above the thinking budget."),
    "cache-ttl": Reason("note", "The cache mark lives as long as the target's nearest class."),
    "tier-downgrade": Reason("loss", "The target does not have this service tier, so the call runs in a plainer one."),
    "stop-with-tools": Reason(
        "note", "The reply stopped although it calls tools; clients of the target look for the tool word."
    ),
    "usage-sum": Reason("note", "Both sides count the same tokens but cut them differently."),
    "redacted": Reason("note", "The value of a credential is not shown; --set credentials=true keeps it."),
    "time-form": Reason("note", "The same time in the target's form, in whole seconds."),
    "pieces-joined": Reason("note", "Pieces of a stream became one value."),
    "differs": Reason("loss*", "Both documents say this, but not the same."),
    "not-carried": Reason("loss*", "The target has a place for this, but the second document does not say it."),
    "required-by-target": Reason("note", "The target demands this field, so it has its neutral value."),
    "default-max-tokens": Reason(
        "note", "The target demands a token limit; choose your own with `--set max-tokens=N`."
    ),
    "store-default": Reason("note", "Without this the target would start to store replies."),
    "want-usage": Reason("note", "Asks for the token counts that the source's protocol sends unasked."),
    "thinking-on": Reason("note", "The target thinks only if this stands beside the effort."),
    "placeholder": Reason(
        "risk", "A short text stands where media could not go, so that the model knows something is missing."
    ),
    "from-request": Reason("note", "Repeated from the request that was given with it."),
    "no-time": Reason("note", "The source does not say when, so this is zero."),
    "no-usage": Reason("note", "The source says no token counts, so these are zero."),
    "made-id": Reason("note", "The target demands an id, so one was made from the source's ids or positions."),
    "position": Reason("note", "A number that only says where in the stream or list something stands."),
    "stream-shape": Reason("note", "An event, or a field of one, that only the stream's own grammar needs."),
    "separator": Reason("note", "A blank line between pieces that have one place in the target."),
    "sum-of-pieces": Reason("note", "A closing event repeats the text that came in pieces."),
    "stream-was-cut": Reason(
        "risk", "The capture ends before its end, so this ending is ours; do not read it as the model's."
    ),
    "added": Reason(
        "loss*", "The second document says this, the first does not, and our own translation would not add it."
    ),
}

FINDINGS: dict[str, Notice] = {
    "address-says-otherwise": Notice(
        "note", "input", "The URL or the headers belong to another protocol than the body; the body counts."
    ),
    "not-wire-traffic": Notice(
        "note", "input", "These are a client's own notes, in which fields that were sent are missing."
    ),
    "unpaired-file": Notice("loss", "input", "This document has no partner on the other side, so it was not compared."),
    "hardly-alike": Notice("note", "input", "These two share hardly anything, so they may be no pair."),
    "twice-the-same-key": Notice(
        "risk", "input", "An object has one key twice; the last one counts, as in every common parser."
    ),
    "continuation-line": Notice(
        "note", "input", "A line belongs to no field and was read as the rest of the line before it."
    ),
    "lost-blank-lines": Notice(
        "note", "input", "The blank lines between events are missing, and events were told apart without them."
    ),
    "event-name": Notice(
        "risk",
        "client",
        "An event's name is missing or is not the type in its data; clients that go by the name miss it.",
    ),
    "keep-alive-event": Notice(
        "note", "client", "An empty event: nothing but a comment, or `id` or `retry`; at least one client fails on it."
    ),
    "empty-event": Notice(
        "risk", "client", "An event has no data; clients that read the data of every event as JSON stop here."
    ),
    "extra-done": Notice("note", "client", "A `[DONE]` stands where a stream of this protocol has none, or once more."),
    "call-repeats": Notice(
        "note", "client", "A later piece of a call repeats its id or name; at least one client library joins them."
    ),
    "blocks-overlap": Notice(
        "risk", "client", "A block starts while another one is open; some clients put the pieces into the wrong one."
    ),
    "usage-missing": Notice("note", "client", "The reply says no token counts."),
    "no-start": Notice(
        "risk", "order", "The stream does not begin with its first event, so id and model are not known."
    ),
    "no-part": Notice("risk", "order", "Pieces came for a part that was never opened; official clients stop here."),
    "no-done": Notice("note", "order", "The reply is finished, but the stream's last line is missing."),
    "open-at-end": Notice("note", "order", "The stream ends its reply while blocks are open; they were closed."),
    "after-finish": Notice("risk", "order", "Content or another stop reason came after the finish."),
    "usage-early": Notice("note", "order", "Token counts came before the finish."),
    "usage-late": Notice("loss", "order", "Token counts came after the target's were written, so they are not told."),
    "seq-gap": Notice("risk", "order", "A sequence number skips, so events may be missing."),
    "seq-back": Notice("risk", "order", "A sequence number goes back, so events may be doubled or out of order."),
    "id-changes": Notice("risk", "order", "The id or the model changes inside the stream; the first one counts."),
    "index-reused": Notice(
        "note", "order", "A new call uses the index of an earlier one; it was told apart by its id."
    ),
    "unknown-event": Notice("risk", "client", "The protocol has no event of this type; strict clients stop here."),
    "pieces-differ": Notice("risk", "order", "A closing event says another text than the pieces before it."),
    "index-gap": Notice("risk", "order", "An index skips; clients that go by position stop here."),
    "snapshot-short": Notice("risk", "order", "The closing event leaves out items that came as pieces."),
    "snapshot-extra": Notice("note", "order", "The closing event lists items that never came as pieces."),
    "unpaired-tool": Notice(
        "risk", "shape", "A tool call has no result, or a result has no call; the API refuses that."
    ),
    "bad-arguments": Notice(
        "risk", "shape", "The arguments of a tool call are no JSON; what runs the tool cannot read them."
    ),
    "end-with-calls": Notice(
        "risk", "client", "The reply ends its turn although it calls tools; agents that go by it do not run them."
    ),
    "stop-with-calls": Notice(
        "note",
        "client",
        "The reply says `stop` although it calls tools, as where one is forced; clients that go by it do not run them.",
    ),
    "unknown-key": Notice("note", "shape", "The protocol has no field of this name; the API refuses the call."),
    "invalid-shape": Notice("risk", "shape", "The document does not fit its protocol's schema."),
    "empty-turn": Notice("note", "shape", "A message had nothing left that the target can hold."),
    "empty-reply": Notice("note", "shape", "The reply holds nothing."),
    "prefill": Notice("risk", "shape", "The last message is the assistant's; newer models refuse to continue it."),
    "prefill-space": Notice(
        "risk", "shape", "The last message is the assistant's and ends in white space, which the API refuses."
    ),
    "root-ref": Notice(
        "risk",
        "shape",
        "A tool's schema is a reference at its root, which the API refuses; `--set inline-refs=true` writes it out.",
    ),
    "unknown-choice": Notice("risk", "shape", "The tool that must be called is not among the tools."),
    "tools-with-effort": Notice("risk", "shape", "Newer models refuse tools together with an effort in this protocol."),
    "model-refuses": Notice("risk", "shape", "This model is known to refuse a field that is set."),
    "too-many-cache-marks": Notice("risk", "shape", "There are more cache marks than the target allows."),
    "too-many-messages": Notice("risk", "shape", "There are more messages than the target allows."),
    "too-long": Notice("risk", "shape", "A value is longer than the target allows."),
    "foreign-id-kept": Notice(
        "risk", "shape", "A file id of the other vendor was kept; upload the file again before you send this."
    ),
    "mcp-approval": Notice("risk", "shape", "Approval of a call is demanded, which the target cannot ask for."),
    "runs-elsewhere": Notice("risk", "shape", "A tool runs in another place than in the source."),
    "paused-turn": Notice("risk", "shape", "The reply is paused; send it back to have it continued."),
    "unknown-stop": Notice("risk", "shape", "The protocol does not have this stop reason."),
    "usage-mismatch": Notice("risk", "shape", "Token counts do not add up."),
    "bad-header": Notice("risk", "shape", "A header is missing, doubled, empty or too long."),
    "error-shape": Notice("note", "shape", "The error body has a form that the protocol does not know."),
    "more-pages": Notice("note", "shape", "The list has further pages, which are not in the capture."),
    "illegal-custom-id": Notice("risk", "shape", "A custom id does not fit the target's pattern."),
    "side-stale": Notice(
        "loss", "input", "A value kept in the side file no longer fits the edited document and was not put back."
    ),
    "invalid-utf8": Notice("risk", "input", "Some bytes are no UTF-8 and are read as replacement characters."),
    "byte-order-mark": Notice("note", "input", "The text begins with a byte-order mark, which was skipped."),
}

_LEAVE_OUT = "leave the event out with --on-error skip"

ERRORS: dict[str, Failure] = {
    "unreadable": Failure(
        3,
        "The input is missing, may not be read, or is not in a form that is read here.",
        "name a file that is there and holds text: JSON, an event stream, or an HTTP message",
    ),
    "bad-json": Failure(
        3,
        "The body or event is no JSON.",
        "mend the place that is named, or leave the document or event out with --on-error skip",
    ),
    "number-too-long": Failure(
        3, "A number has more than 10 000 digits.", "shorten the number, or leave the document out with --on-error skip"
    ),
    "unrecognised": Failure(
        3,
        "The input is none of the protocols and kinds; name them with `--from` and `--kind` if you know better.",
        "--from P and --kind K, if you know what it is",
    ),
    "ambiguous": Failure(3, "More than one protocol fits; settle it with `--from`.", "--from P"),
    "wrong-kind": Failure(
        3, "The document is of another kind than what is asked for takes.", "proxai inspect   tells what it is"
    ),
    "wrong-protocol": Failure(3, "The body is not what `--from` says.", "leave --from out"),
    "empty": Failure(
        3, "There is nothing to translate: no message, no choice, no event.", "capture the call again, with its body"
    ),
    "no-model": Failure(
        3, "The target needs the name of a model; give one with `--set model=NAME`.", "--set model=NAME"
    ),
    "still-running": Failure(
        3, "The reply is not finished; `--set partial=true` takes it as it is.", "--set partial=true"
    ),
    "old-version": Failure(
        3,
        "This is an old form of stream, or events of the Assistants API, which are not read.",
        "capture the call of today's API",
    ),
    "wrong-url": Failure(
        3, "The URL belongs to a call of another kind.", "convert the body by itself, without its URL"
    ),
    "no-endpoint": Failure(3, "The target has no such call.", "leave this call out with --on-error skip"),
    "dup-custom-id": Failure(
        3, "Two lines of a batch have the same id.", "give every line of the batch an id of its own"
    ),
    "truncated": Failure(
        3,
        "The stream ends before its end; `--repair` ends it properly.",
        "--repair ends it in the target; of `proxai collect`, --partial writes what there is",
    ),
    "dup-start": Failure(3, "Something starts that is open or finished already.", _LEAVE_OUT),
    "orphan-delta": Failure(3, "A piece came for something that never started.", _LEAVE_OUT),
    "stop-unopened": Failure(3, "Something ends that is not open.", _LEAVE_OUT),
    "delta-kind": Failure(3, "A piece does not fit the kind of the block that it is for.", _LEAVE_OUT),
    "event-order": Failure(3, "An event came where the protocol does not allow it.", _LEAVE_OUT),
    "wrong-side-file": Failure(
        3, "The side file belongs to another document.", "give --back the side file that was written with this document"
    ),
    "bad-call": Failure(2, "The command line has an option or a value that is not known.", "proxai --help"),
    "bad-policy": Failure(
        2, "The policy or baseline file is not understood.", "mend the line that is named, or call with --no-config"
    ),
    "not-written": Failure(4, "An output could not be written.", "make room, or name another place"),
    "leak": Failure(4, "A secret was found in what was written, so it was removed.", "--drop the place that is named"),
    "internal": Failure(
        70,
        "This is our mistake; please report it with the command, the version and the place.",
        "report it with this line and `proxai --version`; --debug shows the traceback",
    ),
}
