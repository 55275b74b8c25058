"""The one list of protocols; commands, laws, tables and man pages loop over it."""

from ..tables import Protocol
from . import chat, messages, responses

PROTOCOLS: dict[str, Protocol] = {each.PROTOCOL.name: each.PROTOCOL for each in (chat, responses, messages)}
