"""The one list of protocols; commands, laws, tables and man pages loop over it."""

from ..errors import ProxaiError
from ..tables import Protocol
from . import chat, messages, responses


class Protocols(dict[str, Protocol]):
    """Protocols by their names. Asking for one that is not there raises `bad-call` with the names that are."""

    def __missing__(self, name: object) -> Protocol:
        raise ProxaiError("bad-call", f"there is no protocol {name!r}; there are {', '.join(self)}")


PROTOCOLS = Protocols({each.PROTOCOL.name: each.PROTOCOL for each in (chat, responses, messages)})
