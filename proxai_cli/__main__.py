"""`python -m proxai_cli`, and the program `proxai`."""

import gc
import sys

# What is parsed are trees, in which the collector of cycles finds nothing: looking less often takes a quarter of the
# time off a large body, and no memory.
_OBJECTS_BETWEEN_LOOKS = 50_000


def main() -> None:
    """Answer a call. The version is told before anything is loaded."""
    if sys.argv[1:] == ["--version"]:
        from proxai_cli import __version__

        try:
            sys.stdout.write(f"proxai {__version__}\n")
            sys.stdout.flush()
            return
        except (OSError, AttributeError):
            pass  # it is told below
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)
    _load_json()
    from proxai_cli.cli.app import main as answer

    sys.exit(answer(sys.argv[1:]))


def _load_json() -> None:
    """Load `msgspec` without `typing_extensions`, of which it takes, where it is there, what `typing` has as well.

    That would take a fifth of the time in which the program starts.
    """
    blocked = "typing_extensions" not in sys.modules
    if blocked:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import proxai_cli.text  # noqa: F401
    finally:
        if blocked:
            del sys.modules["typing_extensions"]


if __name__ == "__main__":
    main()
