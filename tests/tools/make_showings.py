"""Write proxai_cli/report/showings.json: for each reason an example, as the code shows it with a small document.

python -m tests.tools.make_showings
"""

from pathlib import Path

from proxai_cli import text, translate
from proxai_cli.report import mapping

PLACE = Path(mapping.__file__).with_name("showings.json")


def showings() -> bytes:
    found = {each.code: list(each[1:]) for each in mapping.showings(translate)}
    rows = (f"{text.dumps(code).decode()}: {text.dumps(said).decode()}" for code, said in sorted(found.items()))
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


if __name__ == "__main__":
    PLACE.write_bytes(showings())
