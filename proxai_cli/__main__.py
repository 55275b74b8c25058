"""`python -m proxai_cli`, and the program `proxai`."""

import sys


def main() -> None:
    """Answer a call. The version is told before anything is loaded."""
    if sys.argv[1:] == ["--version"]:
        from proxai_cli import __version__

        sys.stdout.write(f"proxai {__version__}\n")
        return
    from proxai_cli.cli.app import main as answer

    sys.exit(answer(sys.argv[1:]))


if __name__ == "__main__":
    main()
