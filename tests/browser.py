"""A real Chromium without a window, and what it tells of a page: its errors, and what it asked for."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from proxai_cli import text

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


def obstacle() -> str:
    """Why there is no browser to be had; empty where there is one."""
    if not _chromium() or not _driver():
        return "no Chromium with its driver (python -m tests.tools.programs installs them, or set PROXAI_CHROMIUM)"
    return ""


def _chromium() -> str | None:
    return os.environ.get("PROXAI_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def _driver() -> str | None:
    return shutil.which("chromedriver")


@contextmanager
def browser(profile: Path) -> Iterator[Any]:
    """A browser with a profile of its own in this folder."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = _chromium() or ""
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(_driver()))
    try:
        yield driver
    finally:
        driver.quit()


def opened(
    driver: Any, page: Path, width: int = 1400, dark: bool = False, scripts: bool = True, media: str = ""
) -> None:
    """Show a page in a window of that width; what was told of pages before is forgotten."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(page.as_uri())


def complaints(driver: Any) -> list[str]:
    """What the console tells, violations of the page's policy among it."""
    return [entry["message"] for entry in driver.get_log("browser")]


def requests(driver: Any) -> list[str]:
    """The addresses that the page has asked for."""
    told = [text.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [each["params"]["request"]["url"] for each in told if each["method"] == "Network.requestWillBeSent"]
