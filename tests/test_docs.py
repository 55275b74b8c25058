"""What the README shows is what the program prints now."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from proxai_cli.cli.app import COMMANDS

from .captures import FIXTURES
from .tools.make_man import FOLDER, PAGES

ROOT = FIXTURES.parent
README = (ROOT / "README.md").read_text()


def block(mark: str) -> str:
    """The fenced block behind a mark."""
    found = re.search(rf"<!-- {mark} -->\n```\w*\n(.*?)```", README, re.DOTALL)
    assert found, f"README.md has no block behind <!-- {mark} -->"
    return found[1]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder that the README's calls are for; what one writes the next may read."""
    return Path(shutil.copytree(FIXTURES / "calls", tmp_path_factory.mktemp("calls") / "calls"))


def test_the_screen_is_what_the_first_command_prints() -> None:
    words = block("try").strip().split("proxai ", 1)[1].split()
    done = subprocess.run(
        [sys.executable, "-m", "proxai_cli", *words, "--indent", "2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout + done.stderr == block("screen")


def test_the_test_command_is_the_one_that_lands_work() -> None:
    assert ".[test]" in block("test") and "pytest" in block("test")
    assert "README.md" in (ROOT / ".ci" / "run").read_text()


def test_the_readme_names_every_command_of_the_program() -> None:
    assert not [name for name in COMMANDS if f"proxai {name}" not in README]


@pytest.mark.parametrize("line", [line.partition("  ")[0] for line in block("calls").splitlines()])
def test_the_calls_run_as_they_stand(line: str, calls: Path) -> None:
    environment = {**os.environ, "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=calls, env=environment, capture_output=True, text=True, check=False)
    wanted = 3 if "traffic.har" in line and "inspect" in line else 1 if re.search("diff|validate", line) else 0
    assert done.returncode == wanted, done.stderr


def test_the_library_names_of_the_readme_exist() -> None:
    import proxai_cli

    names = re.search(r"from proxai_cli import (.*)", README)
    assert names and all(hasattr(proxai_cli, name) for name in names[1].split(", "))


def test_no_machine_is_named() -> None:
    """No path of the machine at hand stands in what is written."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    for name in filter(None, listed):
        path = ROOT / name
        if path.is_file() and path.suffix in (".py", ".md", ".toml", ".json", ".sse", ""):
            assert f"{ROOT}/" not in path.read_text(errors="replace"), name


@pytest.mark.parametrize("name", PAGES)
def test_manual_pages_are_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text() == PAGES[name](), "run python -m tests.tools.make_man"


@pytest.mark.parametrize("name", PAGES)
def test_manual_pages_are_clean(name: str) -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-T", "lint", FOLDER / name], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_manual_pages_are_in_the_wheel(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    for name in PAGES:
        assert any(each.endswith(f"/share/man/man{name[-1]}/{name}") for each in names), name
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)
