"""What the page on environments shows: every task with its picture and floors, and an environment of a user's own."""

import csv
import re
import sys
from pathlib import Path

import gymnasium
import pytest

import skillplan
from skillplan.cli.main import main
from skillplan.envs.registry import TASKS
from small import quick_compilation  # noqa: F401

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "environments.md").read_text()
FLOORS = Path(skillplan.__file__).parent / "reporting" / "floors.csv"
ROW = re.compile(r"^\| !\[[^\]]+\]\((\S+)\) \| \*\*`([\w-]+)`\*\*.* \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
# What makes training one of seconds.
SHORTER = ["--agent", "dreamer", "--size", "debug", "--frames", "60"]
SHORTER += ["--environment.episode-length", "20", "--evaluation.episodes", "1"]


def test_every_task_has_a_row_with_a_small_picture():
    rows = {task: picture for picture, task, *_ in ROW.findall(TEXT)}
    assert set(rows) == set(TASKS)
    for task, picture in rows.items():
        assert Path(picture).stem == task
        assert (DOCS / picture).stat().st_size < 60_000


def test_the_floors_are_those_that_were_measured():
    with FLOORS.open() as file:
        measured = {
            (row["task"], row["policy"]): f"{float(row['return']):.0f} ± {float(row['std']):.0f}"
            for row in csv.DictReader(file)
        }
    shown = {}
    for _, task, _, idle, at_random in ROW.findall(TEXT):
        shown |= {(task, "doing nothing"): idle, (task, "random actions"): at_random}
    assert shown == measured


@pytest.fixture
def _forgotten(monkeypatch):
    """What a user's module leaves behind in the process."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("boat", None)
    gymnasium.registry.pop("harbour/Boat-v0", None)


@pytest.mark.usefixtures("_forgotten")
def test_the_environment_of_a_user_passes_its_examination_and_is_trained_in(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    section = TEXT.split("## Your own environment")[1].split("\n## ")[0]
    (code,) = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    Path("boat.py").write_text(code)
    for line in commands.splitlines():
        program, name, *rest = line.split()
        assert program == "skillplan"
        assert main([name, *rest, *(SHORTER if name == "train" else [])]) == 0, capsys.readouterr()
    assert (tmp_path / "runs" / "boat" / "config.json").is_file()
