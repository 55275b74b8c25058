"""OpenAI Responses."""

from ...tables import Protocol
from . import tables
from .error import read_error, write_error
from .markers import MARKERS
from .request import read_request, write_request
from .response import read_response, write_response
from .stream import Decoder, Encoder

PROTOCOL = Protocol(
    name=tables.NAME,
    title="OpenAI Responses",
    read={"request": read_request, "response": read_response, "error": read_error},
    write={"request": write_request, "response": write_response, "error": write_error},
    Decoder=Decoder,
    Encoder=Encoder,
    tables=tables.TABLES,
    markers=MARKERS,
    named=True,
    repeats=True,
)
