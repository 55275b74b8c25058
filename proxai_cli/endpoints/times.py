"""Times in the forms that the vendors use, turned into each other exactly and without a clock (`spec/http.md` §3, §6).

An instant is a `Fraction` of seconds since 1970 in UTC; a duration is a `Fraction` of seconds. What is no time of the
form that is asked for gives None.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from fractions import Fraction
from typing import Any

EPOCH = "1970-01-01T00:00:00Z"

_START = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,18}))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,18})(?:\.(\d{1,18}))?(h|ms|m|s|us|µs|ns)", re.ASCII)
_UNITS = {
    "h": Fraction(3600),
    "m": Fraction(60),
    "s": Fraction(1),
    "ms": Fraction(1, 1000),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
}


def instant(text: Any) -> Fraction | None:
    """What `2026-01-02T03:04:05.5Z` means."""
    found = _RFC3339.fullmatch(text) if isinstance(text, str) else None
    if not found:
        return None
    day, time, fraction, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{time}{'+00:00' if zone in 'Zz' else zone}")
        return _seconds(moment) + _fraction(fraction)
    except (ValueError, OverflowError):
        return None


def spelled_instant(moment: Fraction) -> str | None:
    """An instant as RFC 3339 in UTC, with a fraction only where there is one; None beyond the years 1 to 9999."""
    whole = moment.numerator // moment.denominator
    try:
        said = (_START + timedelta(seconds=whole)).strftime("%Y-%m-%dT%H:%M:%S")
    except OverflowError:
        return None
    return said.rjust(19, "0") + _decimals(moment - whole) + "Z"


def day(text: Any) -> Fraction | None:
    """The first instant of a date such as `2026-01-02`."""
    return instant(f"{text}T00:00:00Z") if isinstance(text, str) and _DATE.fullmatch(text) else None


def spelled_day(moment: Fraction) -> str | None:
    """The date that begins at this instant; None where none does."""
    said = spelled_instant(moment)
    return said[:10] if said and said.endswith("T00:00:00Z") else None


def http_date(text: Any) -> Fraction | None:
    """What a `date` header says."""
    if not isinstance(text, str):
        return None
    try:
        moment = parsedate_to_datetime(text)
        return _seconds(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def duration(text: Any) -> Fraction | None:
    """What `6m0s`, `1.5s` or `120ms` means."""
    if not isinstance(text, str):
        return None
    total, at = Fraction(0), 0
    while at < len(text):
        found = _AMOUNT.match(text, at)
        if not found:
            return None
        total += (int(found[1]) + _fraction(found[2])) * _UNITS[found[3]]
        at = found.end()
    return total if text else None


def spelled_duration(length: Fraction) -> str:
    """A duration as `1h6m0s`, `6m0s` or `1.5s`; under a second `120ms`. What is past already is `0s`."""
    if length <= 0:
        return "0s"
    if length < 1:
        return _number(length * 1000) + "ms"
    minutes, seconds = divmod(length, 60)
    hours, minutes = divmod(int(minutes), 60)
    said = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return said + _number(seconds) + "s"


def _seconds(moment: datetime) -> Fraction:
    passed = moment - _START
    return Fraction(passed.days * 86400 + passed.seconds)


def _fraction(digits: str | None) -> Fraction:
    return Fraction(int(digits), 10 ** len(digits)) if digits else Fraction(0)


def _number(amount: Fraction) -> str:
    whole = amount.numerator // amount.denominator
    return str(whole) + _decimals(amount - whole)


def _decimals(part: Fraction) -> str:
    """A part of one as `.5`; what came in had at most 18 digits, so that this ends."""
    digits = ""
    while part and len(digits) < 40:
        part *= 10
        digits += str(int(part))
        part -= int(part)
    return "." + digits if digits else ""
