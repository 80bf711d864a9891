import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
DOTTED = re.compile(r"`(skillplan(?:\.\w+)+)`")


def table_rows() -> list[list[str]]:
    lines = (DOCS / "glossary.md").read_text().splitlines()
    cells = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in lines if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in row] for row in cells]
    assert header[:3] == ["Paper", "Name in code", "Place"]
    return rows


def resolve(dotted: str) -> object:
    """Import as many parts as are modules, then follow attributes."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError as error:
            # A module that is there but lacks one of its own imports is another matter.
            if not dotted.startswith(str(error.name)):
                raise
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(dotted)


def dotted_paths(page: str) -> list[str]:
    return sorted(set(DOTTED.findall((DOCS / page).read_text())))


def test_every_symbol_has_one_name_and_one_place() -> None:
    rows = table_rows()
    assert len(rows) >= 40
    for row in rows:
        assert len(row) == 4, row
        assert re.fullmatch(r"`\w+`", row[1]), row
        assert DOTTED.fullmatch(row[2]), row
    assert len({row[0] for row in rows}) == len(rows)


def test_the_symbols_of_the_algorithms_are_there() -> None:
    symbols = {row[0].split(",")[0].split(" ")[0] for row in table_rows()}
    assert symbols >= set("θ φ ψ χ ζ z K H G M ε 𝒮 S B L C 𝒟 r^i V_g MaxCEMiter ⌈H/K⌉ s_t o_t a_t r_t".split())


@pytest.mark.parametrize("place", [row[2].strip("`") for row in table_rows()])
def test_every_place_of_the_glossary_exists(place: str) -> None:
    resolve(place)


def test_every_path_in_the_description_of_the_algorithm_exists() -> None:
    paths = dotted_paths("algorithm.md")
    assert len(paths) >= 40
    missing = []
    for path in paths:
        try:
            resolve(path)
        except (ModuleNotFoundError, AttributeError):
            missing.append(path)
    assert not missing


@pytest.mark.parametrize("dotted", ["skillplan.nowhere", "skillplan.types.Nothing", "skillplan.types.Latent.nothing"])
def test_a_place_that_is_gone_is_noticed(dotted: str) -> None:
    with pytest.raises((ModuleNotFoundError, AttributeError)):
        resolve(dotted)
