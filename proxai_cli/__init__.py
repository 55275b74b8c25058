"""proxai: captured LLM traffic of one protocol into another, with an account of every field.

The names below are the library. They are loaded when they are first used, so that starting the program stays cheap.
"""

import sys

__version__ = "0.1.0"

__all__ = [
    "ENDPOINTS",
    "PROTOCOLS",
    "Context",
    "Ledger",
    "Pipe",
    "StreamTranslator",
    "collect",
    "detect",
    "explode",
    "translate",
    "translate_endpoint",
    "translate_exchange",
]

_HOMES = {
    "ENDPOINTS": "endpoints",
    "PROTOCOLS": "protocols",
    "Context": "context",
    "Ledger": "ledger",
    "Pipe": "pipe",
    "StreamTranslator": "translate",
    "collect": "pipe",
    "detect": "wire.first",
    "explode": "pipe",
    "translate": "translate",
    "translate_endpoint": "endpoints",
    "translate_exchange": "exchange",
}

TYPE_CHECKING = False  # what `typing` calls so; loading it would take longer than telling the version
if TYPE_CHECKING:
    from .context import Context
    from .endpoints import ENDPOINTS, translate_endpoint
    from .exchange import translate_exchange
    from .ledger import Ledger
    from .pipe import Pipe, collect, explode
    from .protocols import PROTOCOLS
    from .translate import StreamTranslator, translate
    from .wire.first import detect


class _Package(type(sys)):  # type: ignore[misc]
    """A function that has the name of its module is not hidden by the module, whichever is loaded first."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOMES or not isinstance(value, type(sys)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
