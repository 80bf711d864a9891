"""What the README says can be typed, and leads where it says."""

import re
import shlex
from pathlib import Path

import pytest

from skillplan.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
# What makes a command of the README one of seconds.
SHORTER = {
    "train": ["--size", "debug", "--frames", "600"],
    "transfer": ["--frames", "300"],
    "evaluate": ["--episodes", "2"],
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def whole_lines(block: str) -> list[str]:
    return block.replace("\\\n", "").splitlines()


def test_the_commands_work_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [shlex.split(line, comments=True) for block in blocks("sh") for line in whole_lines(block)]
    assert len(lines) >= 6
    for program, name, *rest in lines:
        assert program == "skillplan"
        assert main([name, *rest, *SHORTER.get(name, [])]) == 0, capsys.readouterr().err
    assert (tmp_path / "runs" / "cove" / "config.json").is_file()


def test_the_python_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    shorter = code.replace('size="tiny", frames=12_000', 'size="debug", frames=600')
    assert shorter != code
    exec(compile(shorter, "README.md", "exec"), {})
    assert re.match(r"return -?\d+\.\d, last skill \[", capsys.readouterr().out)


def test_the_table_lists_the_commands():
    assert re.findall(r"^\| `skillplan ([\w-]+)", TEXT, re.MULTILINE) == list(COMMANDS)


def test_make_knows_the_targets():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"^make ([\w-]+)|`make ([\w-]+)`", TEXT, re.MULTILINE))
    assert {first or second for first, second in named} <= targets
    assert {"setup", "demo"} <= {first or second for first, second in named}


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", TEXT))))
def test_links_lead_somewhere(link):
    assert (ROOT / link).is_file()


def test_the_paper_leads_to_files():
    table = TEXT.split("## From the paper to the files")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)[2:]
    assert len(rows) >= 12
    for row in rows:
        for path in re.findall(r"`([\w/.]+)`", row[1]):
            assert (ROOT / "src" / "skillplan" / path).exists(), path


def test_pictures_are_small():
    for picture in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT):
        assert (ROOT / picture).stat().st_size < 400_000
