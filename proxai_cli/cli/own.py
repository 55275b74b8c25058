"""Files that proxai writes or reads for itself (policy, baseline, side file, report), known by their beginning."""

import os
import re

POLICY = "proxai.toml"
BEGINNING = 1 << 12

_OWN = re.compile(
    rb'\s*\{\s*"proxai_(?:report|baseline|side)"\s*:'  # also one report in JSON
    rb'|\{"input":\{"path":"[^\n]*?"container":'  # lines of a report
    rb'|\s*\{\s*"\$schema"\s*:\s*"[^"]*/sarif-schema-'
    rb'|<\?xml[^>]*>\s*<testsuites>\s*<testsuite package="proxai"'
    rb'|\[\s*\{\s*"description": "(?:dropped|changed|synthesized|found) '
    rb"|### proxai "
    rb"|<!DOCTYPE html>.*?<title>[^<]*proxai ",
    re.DOTALL,
)


def is_own(path: str) -> bool:
    """Is this a file of ours, and no capture? One that cannot be read is told as any capture is."""
    if os.path.basename(path) == POLICY:
        return True
    try:
        with open(path, "rb") as file:
            return _OWN.match(file.read(BEGINNING).removeprefix(b"\xef\xbb\xbf")) is not None
    except OSError:
        return False
