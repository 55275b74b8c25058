"""Findings about what a model or API is known to refuse."""

import pytest

from proxai_cli import translate
from proxai_cli.ir.limits import refusals

ASKED = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}


@pytest.mark.parametrize(
    ("request_", "codes"),
    [
        ({"model": "gpt-4.1", "temperature": 0.5, "stop": ["x"]}, []),
        ({"model": "o3-mini", "temperature": 0.5}, ["model-refuses"]),
        ({"model": "gpt-5.2", "temperature": 1}, []),
        ({"model": "o4-mini", "stop": ["x"]}, ["model-refuses"]),
        ({"model": "o4-mini", "stop": []}, []),
        ({"model": "gpt-5.4", "temperature": 0.5, "reasoning_effort": "none"}, []),
        ({"model": "gpt-5.4", "temperature": 0.5, "reasoning": {"effort": "none"}}, []),
        ({"model": None, "stop": ["x"]}, []),
        ({"model": "m", "metadata": {str(n): "" for n in range(17)}}, ["too-long"]),
        ({"model": "m", "metadata": {"k" * 65: ""}}, ["too-long"]),
        ({"model": "m", "metadata": {"k": "v" * 512}}, []),
    ],
)
def test_refusals(request_: dict[str, object], codes: list[str]) -> None:
    assert list(refusals(request_)) == codes


@pytest.mark.parametrize("target", ["chat", "responses"])
def test_they_are_found_in_translations(target: str) -> None:
    done = translate({**ASKED, "temperature": 0.5}, "messages", target, "request", None)
    assert "model-refuses" not in [finding.code for finding in done.findings]
    done = translate({**ASKED, "model": "o3", "temperature": 0.5}, "messages", target, "request", None)
    assert "model-refuses" in [finding.code for finding in done.findings]
