"""Imports go the way that the house allows, and no room holds what another is for."""

import ast
from pathlib import Path

import pytest

import proxai_cli
from proxai_cli.protocols import PROTOCOLS

HOUSE = Path(proxai_cli.__file__).parent
EVERYONE = {"text", "errors"}

# Which of our rooms a room may import. A room is the first folder or file below the package; `protocols/chat` is one,
# and `protocols` (the list) another. Longest match first.
ALLOWED: dict[str, set[str]] = {
    "text": set(),
    "errors": set(),
    "context": set(),
    "reasons": set(),
    "markers": set(),
    "checks": {"context"},
    "schemas": set(),
    "ir": {"ir"},
    "ledger": {"reasons"},
    "tables": {"ir", "ledger", "reasons", "context"},
    "protocols/chat": {"protocols/chat", "tables", "ir", "ledger", "reasons", "context", "markers", "checks"},
    "protocols/responses": {"protocols/responses", "tables", "ir", "ledger", "reasons", "context", "markers", "checks"},
    "protocols/messages": {"protocols/messages", "tables", "ir", "ledger", "reasons", "context", "markers", "checks"},
    "protocols": {"protocols/chat", "protocols/responses", "protocols/messages", "tables"},
    "translate": {"protocols", "ir", "ledger", "context", "tables"},
    "side": {"translate", "ledger", "context", "ir"},
    "wire": {"wire", "protocols", "ir", "markers", "context"},
    "pipe": {"wire", "translate", "ir", "ledger", "context", "protocols"},
    "endpoints": {"endpoints", "protocols", "protocols/messages", "translate", "tables", "ir", "ledger", "context"},
    "exchange": {
        "exchange",
        "endpoints",
        "protocols",
        "translate",
        "pipe",
        "wire",
        "tables",
        "ir",
        "ledger",
        "context",
    },
    "bulk": set(),
    "redact": {"wire", "protocols", "exchange", "endpoints", "patterns", "tables", "ir", "ledger"},
    "patterns": set(),
    "policy": {"patterns", "protocols", "reasons", "schemas"},
    "compare": {"translate", "protocols", "ir", "ledger", "context", "reasons"},
    "validate": {
        "protocols",
        "endpoints",
        "exchange",
        "ir",
        "wire",
        "pipe",
        "ledger",
        "context",
        "reasons",
        "schemas",
        "tables",
        "checks",
    },
    "report": {"report", "ledger", "reasons", "tables", "protocols", "ir", "schemas"},
}
FREE = {"cli", "__init__", "__main__"}


def room_of(module: str) -> str:
    parts = module.split(".")
    if parts[0] == "protocols" and len(parts) > 1:
        return "/".join(parts[:2])
    return parts[0] or "__init__"


def files() -> list[Path]:
    return sorted(path for path in HOUSE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The modules of ours that a file imports, as dotted names below the package."""
    package = list(path.relative_to(HOUSE).with_suffix("").parts)[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - (node.level - 1)]
            if node.module:
                found.add(".".join([*base, node.module]))
            else:
                found |= {".".join([*base, alias.name]) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("proxai_cli"):
            found.add((node.module or "").removeprefix("proxai_cli").lstrip("."))
    return found


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(HOUSE)))
def test_imports_go_one_way(path: Path) -> None:
    parts = path.relative_to(HOUSE).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    room = room_of(".".join(parts))
    if room in FREE:
        return
    assert room in ALLOWED, f"{room} is a new room: say here what it may import"
    wrong = {name for name in imported(path) if room_of(name) not in ALLOWED[room] | EVERYONE | {room}}
    assert not wrong, f"{room} imports {sorted(wrong)}"


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts).removesuffix(".__init__")


def asked_for(path: Path) -> set[str]:
    """The files of ours that a file imports, also inside of functions, but not for types alone."""
    known, tree = set(map(name_of, files())), ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    package, found = path.relative_to(HOUSE).parts[:-1], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            inner = {f"{home}.{alias.name}".lstrip(".") for alias in node.names} & known
            found |= inner or {home} & known
    return found - {name_of(path)}


def test_no_imports_go_in_a_circle() -> None:
    left = {name_of(path): asked_for(path) for path in files()}
    while free := {name for name, wanted in left.items() if not wanted & left.keys()}:
        left = {name: wanted for name, wanted in left.items() if name not in free}
    assert not left, f"among these each needs another: {sorted(left)}"


GENERAL = ("compare", "validate", "policy", "patterns", "redact", "bulk", "checks", "ledger", "tables", "ir")


@pytest.mark.parametrize(
    "path",
    [path for path in files() if room_of(name_of(path)) in GENERAL],
    ids=lambda path: str(path.relative_to(HOUSE)),
)
def test_general_rooms_know_no_protocol_by_name(path: Path) -> None:
    """Texts for people may hold such a name; a word by itself, or a key, must not be one."""
    said = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
    assert not said & set(PROTOCOLS)


# The rooms that every protocol has, and further ones for what one protocol alone arranges.
SAME = {
    "__init__.py", "tables.py", "markers.py", "request.py", "parts.py", "tools.py", "response.py", "stream.py",
    "decoder.py", "encoder.py", "error.py", "checks.py",
}  # fmt: skip
FURTHER = {
    "chat": {"asked.py", "citations.py", "turns.py"},
    "responses": {
        "asked.py", "blocks.py", "citations.py", "client_calls.py", "collected.py", "hosted.py", "ids.py", "input.py", "items.py",
        "output.py", "source_items.py", "target_items.py", "values.py",
    },
    "messages": {"effort.py", "hosted.py", "hosted_tools.py"},
}  # fmt: skip


@pytest.mark.parametrize("name", FURTHER)
def test_protocol_folders_have_the_same_files(name: str) -> None:
    assert {path.name for path in (HOUSE / "protocols" / name).glob("*.py")} == SAME | FURTHER[name]


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(HOUSE)))
def test_json_has_one_door(path: Path) -> None:
    if path.name == "text.py":
        return
    names = {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert not names & {"json", "msgspec", "ujson"}, "JSON goes through text.py"
