import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from skillplan.config import Config
from skillplan.presets import SIZES, merge, with_overrides

TEXT = (Path(__file__).parents[1] / "docs" / "readings.md").read_text()
SECTIONS = {
    field.name for field in dataclasses.fields(Config) if dataclasses.is_dataclass(getattr(Config(), field.name))
}
SHOWN = ("paper", "compact", "tiny")


def settings_named() -> list[str]:
    dotted = re.findall(r"`(\w+(?:\.\w+)+)`", TEXT)
    return sorted({name for name in dotted if name.split(".")[0] in SECTIONS})


def leaves(overrides: dict[str, Any], prefix: str = "") -> set[str]:
    found: set[str] = set()
    for name, value in overrides.items():
        found |= leaves(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name}
    return found


def value_of(size: str, setting: str) -> object:
    found: object = with_overrides(Config(), merge(*SIZES[size][1]))
    for part in setting.split("."):
        found = getattr(found, part)
    return found


def read(cell: str) -> object:
    words = {"none": None, "on": True, "off": False}
    if cell in words:
        return words[cell]
    return cell.strip("`") if cell.startswith("`") else float(cell)


def size_rows() -> dict[str, list[object]]:
    _, table = TEXT.split("| Setting | `paper` | `compact` | `tiny` |\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:] if line]
    return {row[0].strip("`"): [read(cell) for cell in row[1:]] for row in rows}


def test_every_reading_has_a_row() -> None:
    assert re.findall(r'^\| <a id="r(\d+)"></a>R\1 \|', TEXT, re.MULTILINE) == [str(n) for n in range(1, 15)]
    assert len(settings_named()) >= 30


@pytest.mark.parametrize("setting", settings_named())
def test_every_setting_exists(setting: str) -> None:
    value_of("paper", setting)


def test_the_sizes_change_what_the_page_says_and_nothing_else() -> None:
    changed = leaves(merge(*SIZES["compact"][1])) | leaves(merge(*SIZES["tiny"][1]))
    assert set(size_rows()) == {name for name in changed if len({value_of(size, name) for size in SHOWN}) > 1}


@pytest.mark.parametrize(("setting", "values"), size_rows().items())
def test_the_numbers_of_the_sizes(setting: str, values: list[object]) -> None:
    assert [value_of(size, setting) for size in SHOWN] == values
