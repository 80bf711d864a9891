"""Every number in the tables of docs/results.md is what results/ says, and no run is left out."""

import csv
import re
from itertools import groupby
from pathlib import Path

import pytest

from skillplan.presets import AGENTS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "results.md").read_text()
AGENTS_PAGE = (ROOT / "docs" / "agents.md").read_text()


def column(rows, name):
    return [float(row[name]) for row in rows if row.get(name)]


def last(name):
    return lambda rows: column(rows, name)[-1]


def return_at(frames):
    """The first evaluation at that many frames or later."""
    return lambda rows: next(
        float(row["evaluation/return"]) for row in rows if row["evaluation/return"] and int(row["frames"]) >= frames
    )


COLUMNS = {
    "Frames": last("frames"),
    "Last return": last("evaluation/return"),
    "Best return": lambda rows: max(column(rows, "evaluation/return")),
    **{f"At {frames:,}": return_at(frames) for frames in (10_000, 20_000, 30_000, 50_000)},
    "Minutes": lambda rows: column(rows, "seconds")[-1] / 60,
    "Apart (m)": last("skill/displacement_across"),
    "Within (m)": last("skill/displacement_within"),
    "log q": last("skill/log_q_prior"),
    "Episodes": last("episodes"),
    "Hits": last("hits"),
    "First hit": last("first_hit"),
    "Past the wall": last("past_wall"),
    "Cells": last("cells"),
}


def tables():
    """(file, header, rows) of each table that follows a line "Each run of `results/FILE.csv`:"."""
    for name, table in re.findall(r"Each run of `results/([\w-]+\.csv)`[^\n]*:\n\n((?:\|[^\n]*\n)+)", PAGE):
        header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        yield name, header, rows


TABLES = list(tables())


def runs_of(name):
    with (ROOT / "results" / name).open() as file:
        return {run: list(rows) for run, rows in groupby(csv.DictReader(file), key=lambda row: row["run"])}


def test_every_file_has_a_table():
    assert sorted(name for name, _, _ in TABLES) == sorted(path.name for path in (ROOT / "results").glob("*.csv"))


@pytest.mark.parametrize(("name", "header", "rows"), TABLES, ids=[name for name, _, _ in TABLES])
def test_a_table_says_what_its_file_says(name, header, rows):
    runs = runs_of(name)
    assert [row[0].strip("`") for row in rows] == list(runs)
    for row in rows:
        for title, cell in zip(header[1:], row[1:], strict=True):
            if cell == "–":
                with pytest.raises((IndexError, StopIteration)):
                    COLUMNS[title](runs[row[0].strip("`")])
                continue
            said = cell.replace("−", "-").replace(",", "")
            decimals = len(said.partition(".")[2])
            assert f"{COLUMNS[title](runs[row[0].strip('`')]):.{decimals}f}" == said, (row[0], title)


def test_the_agents_page_says_what_the_files_say():
    field, cove = runs_of("rover-field.csv"), runs_of("rover-cove-coverage.csv")
    columns = [(field, "Last return", 0), (field, "Apart (m)", 2), (cove, "Hits", 0)]
    section = AGENTS_PAGE.split("## What they learned")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    rows = {cells[0]: cells[1:] for cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)}
    assert set(rows) == {*(f"`{agent}`" for agent in AGENTS), "`lsp`, policy fixed at the move"}
    for title, cells in rows.items():
        name = "lsp-fixed-policy" if "fixed" in title else title.strip("`")
        for (runs, measure, decimals), cell in zip(columns, cells, strict=True):
            found = [runs[f"{name}-{seed}"] for seed in range(3) if f"{name}-{seed}" in runs]
            if measure == "Apart (m)":
                found = [run for run in found if column(run, "skill/displacement_across")]
            said = ", ".join(f"{COLUMNS[measure](run):.{decimals}f}" for run in found)
            assert cell == (said or "–") or (not said and cell == ""), (title, measure)
