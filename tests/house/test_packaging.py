"""What goes out with a release says what the release is."""

import json
import re
import subprocess
from pathlib import Path
from shutil import which
from xml.etree import ElementTree

import pytest

from minime import __version__
from tests.conftest import ROOT
from tests.support.manual import manual_page
from tests.support.mm import run_mm

MANUAL = ROOT / "docs" / "reference" / "mm.1"
REGISTRY = ROOT / "docs" / "registry" / "mini-me"


def test_the_manual_page_is_made_from_the_help(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("update_snapshots"):
        MANUAL.write_text(manual_page(), encoding="utf-8")
    assert MANUAL.read_text(encoding="utf-8") == manual_page()


@pytest.mark.skipif(not which("groff"), reason="groff is not installed")
def test_the_manual_page_is_good_roff() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", MANUAL], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "mm sessions show ID" in re.sub(".\x08", "", done.stdout)


def test_the_manifest_of_the_registry_is_of_this_version() -> None:
    manifest = json.loads((REGISTRY / "agent.json").read_bytes())
    assert manifest["id"] == REGISTRY.name
    assert re.fullmatch(r"[a-z][a-z0-9-]*", manifest["id"])
    assert manifest["version"] == __version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert manifest["distribution"] == {
        "uvx": {"package": f"minime=={__version__}", "cmd": "mm", "args": ["acp"]}
    }


def test_the_icon_of_the_registry_is_small_and_takes_the_colour_of_its_place() -> None:
    icon = ElementTree.parse(REGISTRY / "icon.svg").getroot()
    assert (icon.get("width"), icon.get("height"), icon.get("viewBox")) == ("16", "16", "0 0 16 16")
    colours = {value for part in icon.iter() for name in ("fill", "stroke") if (value := part.get(name))}
    assert colours == {"none", "currentColor"}


@pytest.mark.skipif(not which("bash"), reason="bash is not installed")
def test_the_words_of_mm_are_completed_in_bash(tmp_path: Path) -> None:
    script = tmp_path / "mm.bash"
    script.write_text(run_mm("completion", "bash", cwd=tmp_path).stdout, encoding="utf-8")

    def completed(*words: str) -> list[str]:
        asked = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _mm"
        done = subprocess.run(
            ["bash", "-c", f'{asked}; echo "${{COMPREPLY[@]}}"'], capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert completed("mm", "sess") == ["sessions"]
    assert completed("mm", "sessions", "exp") == ["export"]
    assert completed("mm", "--mod") == ["--mode", "--model"]
