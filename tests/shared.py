"""The folder of specification, cases and recorded traffic beside the project, where there is one."""

import os
from pathlib import Path

place = Path(os.environ.get("PROXAI_SHARED") or Path(__file__).resolve().parent.parent.parent / "shared")
SHARED: Path | None = place if place.is_dir() else None
