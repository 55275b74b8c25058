"""Write proxai_cli/protocols/<protocol>/schema.json from the types of the official packages.

Facts only: names, types, required keys, words. Descriptions and titles are left out. Run it again when a newer package
is adopted; the difference of the files is the list of new work, and tests/test_tables.py fails for each new field.

    python -m tests.tools.make_schemas [FOLDER]
"""

import importlib.metadata
import json
import sys
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

FOLDER = Path(__file__).resolve().parents[2] / "proxai_cli" / "protocols"

# protocol -> kind -> official types, any of which a document of that kind may have.
TYPES: dict[str, dict[str, list[str]]] = {
    "chat": {
        "request": ["openai.types.chat.completion_create_params:CompletionCreateParams"],
        "response": ["openai.types.chat:ChatCompletion"],
        "stream": ["openai.types.chat:ChatCompletionChunk"],
    },
    "responses": {
        "request": ["openai.types.responses.response_create_params:ResponseCreateParams"],
        "response": ["openai.types.responses:Response"],
        "stream": ["openai.types.responses:ResponseStreamEvent"],
    },
    "messages": {
        "request": [
            "anthropic.types.message_create_params:MessageCreateParams",
            "anthropic.types.beta.message_create_params:MessageCreateParams",
        ],
        "response": ["anthropic.types:Message", "anthropic.types.beta:BetaMessage"],
        "stream": ["anthropic.types:RawMessageStreamEvent", "anthropic.types.beta:BetaRawMessageStreamEvent"],
        "error": ["anthropic.types.shared:ErrorResponse"],
    },
}
PACKAGES = {"chat": "openai", "responses": "openai", "messages": "anthropic"}
WORDS = {"title", "description", "examples", "default", "deprecated"}


def schema_of(protocol: str) -> dict[str, Any]:
    """The schemas of all kinds of one protocol, with their definitions side by side."""
    wanted = [(kind, place) for kind, places in TYPES[protocol].items() for place in places]
    if not any(kind == "error" for kind, _ in wanted):
        wanted.append(("error", "openai.types.shared:ErrorObject"))
    adapters = [((kind, place), "validation", TypeAdapter(_type(place))) for kind, place in wanted]
    found, whole = TypeAdapter.json_schemas(adapters, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    own = whole.get("$defs", {})
    names = _names(own)
    kinds: dict[str, list[Any]] = {}
    for ((kind, _), _), schema in found.items():
        kinds.setdefault(kind, []).append(_bare(schema, names))
    if protocol != "messages":
        kinds["error"] = [{"type": "object", "properties": {"error": kinds["error"][0]}, "required": ["error"]}]
    package = PACKAGES[protocol]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"types of the Python package {package} {importlib.metadata.version(package)}; made by tests/tools",
        "kinds": {kind: found[0] if len(found) == 1 else {"anyOf": found} for kind, found in kinds.items()},
        "$defs": {names[key]: _bare(own[key], names) for key in sorted(own, key=names.__getitem__)},
    }


def _type(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)


def _names(keys: Iterable[str]) -> dict[str, str]:
    """The type's own name; where types share one, with as many of its modules before it as tell them apart."""
    names: dict[str, str] = {}
    left, length = list(keys), 1
    while left:
        short = {key: ".".join(key.split("__")[-length:]) for key in left}
        count = Counter(short.values())
        names |= {key: name for key, name in short.items() if count[name] == 1}
        left, length = [key for key in left if count[short[key]] > 1], length + 1
    return names


def _bare(schema: Any, names: dict[str, str]) -> Any:
    """Without sentences, and with references to the names that definitions have here."""
    if isinstance(schema, list):
        return [_bare(each, names) for each in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key == "properties":
            out[key] = {name: _bare(inner, names) for name, inner in value.items()}
        elif key == "$ref":
            out[key] = "#/$defs/" + names[value.rsplit("/", 1)[-1]]
        elif key == "discriminator":
            out[key] = {"propertyName": value["propertyName"]}
        elif key not in WORDS:
            out[key] = _bare(value, names)
    return out


def main(folder: Path = FOLDER) -> None:
    for protocol in TYPES:
        data = json.dumps(schema_of(protocol), indent=1, ensure_ascii=False) + "\n"
        (folder / protocol / "schema.json").write_text(data, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
