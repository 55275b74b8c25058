"""What the README offers for CI is tried as it stands: the workflow's shell steps, and the hook in a scratch repository."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxai_cli import text

from .test_docs import ROOT, block

KNOWN = {
    "model": "gpt-4.1-mini",
    "messages": [{"role": "user", "content": "Name a lighthouse cat."}],
    "max_completion_tokens": 60,
    "seed": 7,
    "presence_penalty": 0.5,
}
NEW = {**KNOWN, "logit_bias": {"42": -100}}


class Repository:
    """A scratch repository with the README's policy, one capture and its baseline."""

    def __init__(self, home: Path, programs: Path) -> None:
        self.home = home
        # Nothing of the machine's own settings of git or of a CI gets in.
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "GITHUB_", "PRE_COMMIT"))
        }
        self.environment = {
            **kept,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "PRE_COMMIT_HOME": str(home / ".cache"),
            "GITHUB_STEP_SUMMARY": str(home / "step-summary.md"),
        }
        (home / "captures").mkdir(parents=True)
        (home / "proxai.toml").write_text(block("policy"))
        self.capture(KNOWN)
        self.call("git", "init", "-q")
        assert self.call(sys.executable, "-m", "proxai_cli", "diff", "--write-baseline").returncode == 0
        assert len(text.loads((home / "proxai-baseline.json").read_bytes())["known"]) > 0

    def capture(self, request: Any) -> None:
        (self.home / "captures" / "request.json").write_bytes(text.dumps(request, 2) + b"\n")
        subprocess.run(["git", "add", "-A"], cwd=self.home, env=self.environment, check=False, capture_output=True)

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=self.home, env=self.environment, capture_output=True, text=True, check=False, timeout=300
        )


def test_the_steps_of_the_workflow(tmp_path: Path) -> None:
    # An environment of its own, as on a fresh runner, which finds what is installed here already.
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    for below in (tmp_path / "venv").rglob("site-packages"):
        (below / "here.pth").write_text(sysconfig.get_path("purelib") + "\n")
    repository = Repository(tmp_path / "repository", programs)
    repository.environment["PIP_NO_BUILD_ISOLATION"] = "1"
    (repository.home / "proxai").symlink_to(ROOT)

    steps = yaml.safe_load(block("workflow"))["jobs"]["losses"]["steps"]
    steps = [step for step in steps if "run" in step]
    assert [step["name"] for step in steps] == ["Install proxai", "New losses only", "Summary"]
    for step in steps:
        done = repository.call("bash", "-e", "-c", step["run"])
        assert done.returncode == 0, (step, done.stdout, done.stderr)
        if step["name"] == "New losses only":
            assert "::error" not in done.stdout
            assert "::notice title=proxai::0 new" in done.stdout
    assert (programs / "proxai").exists()
    assert "presence_penalty" in (repository.home / "step-summary.md").read_text()
    assert text.loads((repository.home / "proxai.sarif").read_bytes())["version"] == "2.1.0"

    repository.capture(NEW)
    done = repository.call("bash", "-e", "-c", steps[1]["run"])
    assert done.returncode == 1
    assert "::error file=captures/request.json" in done.stdout
    assert "logit_bias" in done.stdout
    assert "::notice title=proxai::1 new" in done.stdout


def test_the_hook(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository", Path(sysconfig.get_path("scripts")))
    (repository.home / ".pre-commit-config.yaml").write_text(block("hook"))
    repository.capture(KNOWN)
    run = (sys.executable, "-m", "pre_commit", "run", "--all-files")
    done = repository.call(*run)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no new losses in captures" in done.stdout and "Passed" in done.stdout

    repository.capture(NEW)
    done = repository.call(*run)
    assert done.returncode == 1
    assert "Failed" in done.stdout and "logit_bias" in done.stdout

    repository.capture(KNOWN)
    (repository.home / "notes.md").write_text("not a capture\n")
    repository.call("git", "add", "-A")
    assert "Skipped" in repository.call(*run[:-1], "--files", "notes.md").stdout


@pytest.mark.parametrize("mark", ["workflow", "hook"])
def test_the_blocks_are_sound_yaml(mark: str) -> None:
    assert isinstance(yaml.safe_load(block(mark)), dict)
