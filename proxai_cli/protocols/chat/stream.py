"""Streams of Chat Completions, both ways. Source: `spec/streams.md`."""

from .decoder import Decoder
from .encoder import Encoder

__all__ = ["Decoder", "Encoder"]
