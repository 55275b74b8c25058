"""What the shells complete, asked through the scripts that `--show-completion` prints, in the shells themselves."""

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from proxai_cli.cli.app import COMMANDS
from proxai_cli.cli.choices import CHOICES
from proxai_cli.cli.options import KIND_WORDS, PROTOCOL_WORDS
from proxai_cli.reasons import ERRORS, FINDINGS, REASONS

CODES = {*REASONS, *FINDINGS, *ERRORS}
PROGRAMS = sysconfig.get_path("scripts")

BASH = """
COMP_WORDS=({line} {last}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_proxai_completion proxai
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ }}
_arguments() {{ print -r -- "$@" }}
_files() {{ print -r -- FILES }}
. ./script
words=({line} {last}); CURRENT=$#words
_proxai_completion
"""


def asked(shell: str, line: str, last: str, folder: Path) -> str:
    """What a shell offers for the last word of a line."""
    environment = {**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.stderr == "", done.stderr
        return done.stdout

    script = run("proxai", "--show-completion", shell)
    (folder / "script").write_text(script)
    if shell == "bash":
        return run("bash", "--norc", "-c", ". ./script\n" + BASH.format(line=line, last=last or "''"))
    if shell == "zsh":
        return run("zsh", "-f", "-c", ZSH.format(line=line, last=last or "''"))
    return run("fish", "--no-config", "-c", f"source script; complete -C '{line} {last}'")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "last", "wanted"),
    [
        ("proxai", "", set(COMMANDS)),
        ("proxai", "con", {"convert"}),
        ("proxai convert", "--inter", {"--interleave"}),
        ("proxai convert x.json --to", "", set(PROTOCOL_WORDS)),
        ("proxai inspect --kind", "re", {word for word in KIND_WORDS if word.startswith("re")}),
        ("proxai convert --set", "keep-r", {"keep-reasoning=true", "keep-reasoning=false"}),
        ("proxai map", "no-e", {code for code in CODES if code.startswith("no-e")}),
        ("proxai map", "cha", {"chat"}),
        ("proxai map --schema", "chat.r", {"chat.request", "chat.response"}),
        ("proxai diff --report", "sar", {"sarif:"}),
    ],
)
def test_what_a_shell_offers(shell: str, line: str, last: str, wanted: set[str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    said = asked(shell, line, last, tmp_path)
    if shell == "zsh":  # '*: :(("one":"help" "two":"help"))'
        names = re.findall(r'(?:\(\(| )"([\w=.:\\-]+)"(?=:"| "|\)\))', said)
        found = {name.replace("\\", "") for name in names}
    else:
        found = {row.partition("\t")[0] for row in said.splitlines() if row}
    assert found == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_files_are_offered_where_a_capture_stands(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "capture.json").write_text("{}")
    said = asked(shell, "proxai convert", "cap", tmp_path)
    # Bash falls back to files by itself where nothing is offered (`-o default`).
    assert said.strip() == {"bash": "", "zsh": "FILES", "fish": "capture.json"}[shell]


def test_every_choice_is_offered_with_each_value() -> None:
    from proxai_cli.cli.completion import mapping_choices

    offered = [said for said, _ in mapping_choices("")]
    for name, choice in CHOICES.items():
        assert [said for said in offered if said.startswith(f"{name}=")] == [
            f"{name}={value}" for value in choice.values or ("",)
        ]


def test_the_script_for_powershell_is_printed() -> None:
    done = subprocess.run(
        [Path(PROGRAMS) / "proxai", "--show-completion", "powershell"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "Register-ArgumentCompleter -Native -CommandName proxai" in done.stdout
