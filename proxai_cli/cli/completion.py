"""What a shell offers for values that are more than a short list: mapping choices, codes, forms of reports."""

from ..protocols import PROTOCOLS
from ..reasons import ERRORS, FINDINGS, REASONS
from ..report.forms import WRITERS
from .choices import CHOICES
from .schemas import names


def mapping_choices(begun: str) -> list[tuple[str, str]]:
    """For `--set`: each choice with each of its values, and what it decides."""
    offered = [(f"{name}={value}", choice.text) for name, choice in CHOICES.items() for value in choice.values or ("",)]
    return _beginning(offered, begun)


def report_forms(begun: str) -> list[tuple[str, str]]:
    """For `--report`: the forms that may stand before the file."""
    return _beginning([(f"{form}:", "a report in this form") for form in WRITERS], begun)


def what_is_mapped(begun: str) -> list[tuple[str, str]]:
    """For `map`: the protocols and every code."""
    offered = [(name, "a protocol") for name in PROTOCOLS]
    offered += [(code, said.text) for table in (REASONS, FINDINGS, ERRORS) for code, said in table.items()]
    return _beginning(offered, begun)


def schemas(begun: str) -> list[tuple[str, str]]:
    """For `map --schema`."""
    return _beginning([(name, "a JSON Schema") for name in names()], begun)


def _beginning(offered: list[tuple[str, str]], begun: str) -> list[tuple[str, str]]:
    return [one for one in dict(offered).items() if one[0].startswith(begun)]
