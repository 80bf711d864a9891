"""The command `transfer`: what it prints, and what it refuses."""

import json
import shutil
from pathlib import Path

import pytest

from cli.test_cli import run
from skillplan.cli.main import main
from skillplan.training.checkpoint import state_sha256
from skillplan.training.restore import load_run

LONGER = ("--skill-duration", "30", "--horizon", "120")


@pytest.fixture(scope="module")
def moved(finished, tmp_path_factory) -> Path:
    """The finished run carried over to the cove by the command."""
    path = tmp_path_factory.mktemp("cli") / "cove"
    assert main(["transfer", str(finished), "rover-cove", "--frames", "300", "--run", str(path), *LONGER]) == 0
    return path


def test_it_tells_what_is_kept_and_what_was_paid(capsys, finished, tmp_path):
    path = tmp_path / "cove"
    options = ("--frames", "300", "--run", str(path), "--fix-policy", "--relabel", "--seed", "5", *LONGER)
    status, out, err = run(capsys, "transfer", str(finished), "rover-cove", *options)
    assert status == 0
    assert out == f"The run is in {path}. Next: skillplan evaluate {path}\n"
    lines = err.splitlines()
    assert lines[0] == "lsp moves from rover-field to rover-cove:"
    table = {line[:20].strip(): line[20:] for line in lines[1:] if line.startswith("  ")}
    assert table["policy"] == table["skill predictor"] == "kept, frozen"
    assert table["value"] == "starts anew"
    assert (table["world model"], table["reward head"]) == ("kept", "starts anew")
    assert table["replay"] == "the source's episodes, relabelled"
    (summary,) = [line for line in lines if line.startswith("Relabelled")]
    assert summary.startswith("Relabelled 4 episodes in ")
    assert "on rover-field" in summary
    assert summary.endswith("on rover-cove.")
    assert json.loads((path / "config.json").read_text())["source"]["parts"] == table


def test_describe_tells_where_a_run_came_from(capsys, finished, moved):
    status, out, _ = run(capsys, "describe", str(moved), "--json")
    description = json.loads(out)
    assert status == 0
    assert description["shapes"]["plan"] == [4, 3]
    assert description["source"]["run"] == str(finished)
    assert description["source"]["state_sha256"] == state_sha256(load_run(finished).state)
    _, out, _ = run(capsys, "describe", str(moved))
    assert f"Carried over from {finished} (rover-field after 1,200 frames)" in out
    assert "  policy            kept\n" in out
    _, out, _ = run(capsys, "describe", str(finished))
    assert "Carried over" not in out


def test_a_transferred_run_is_evaluated_like_any_other(capsys, moved):
    status, out, _ = run(capsys, "evaluate", str(moved), "--episodes", "1")
    assert status == 0
    assert out.startswith("rover-cove after 300 frames: return ")


def test_more_frames_on_resume(capsys, finished, moved, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(moved, path)
    options = ("--frames", "600", "--run", str(path), "--resume", *LONGER)
    status, _, err = run(capsys, "transfer", str(finished), "rover-cove", *options)
    assert status == 0, err
    assert load_run(path).counters.frames == 600


MISTAKES = {
    "no source": (["nowhere", "rover-cove"], "There is no run at nowhere"),
    "no target": (["SOURCE"], "`skillplan transfer` needs TARGET."),
    "task": (["SOURCE", "rover-coev"], "Unknown task 'rover-coev': did you mean 'rover-cove'?"),
    "option": (["SOURCE", "rover-cove", "--fix-polcy"], "Unknown option '--fix-polcy': did you mean '--fix-policy'?"),
    "foreign": (["SOURCE", "walker-walk"], "it lacks the observations 'rays' (size 12)"),
    "foreign family": (
        ["SOURCE", "walker-walk", "--relabel"],
        "the features of the rover, not of the walker",
    ),
    "no features": (["SOURCE", "cheetah-run", "--relabel"], "Rewards of cheetah-run cannot be recomputed"),
    "K > H": (["SOURCE", "rover-cove", "--skill-duration", "30"], "give a --horizon of at least 30"),
    "zero K": (["SOURCE", "rover-cove", "--skill-duration", "0"], "--skill-duration is 0"),
    "short H": (["SOURCE", "rover-cove", "--skill-duration", "1", "--horizon", "1"], "--horizon is 1"),
    "no number": (["SOURCE", "rover-cove", "--horizon", "far"], "--horizon is 'far': give a whole number."),
    "zero frames": (["SOURCE", "rover-cove", "--frames", "0"], "--frames is 0"),
    "seed": (["SOURCE", "rover-cove", "--seed", "-1"], "--seed is -1"),
    "resume": (["SOURCE", "rover-cove", "--resume"], "no transfer to resume at runs/rover-cove-lsp-0-from-whole"),
}


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_get_one_sentence_and_leave_nothing(capsys, finished, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    arguments = [str(finished) if word == "SOURCE" else word for word in arguments]
    status, out, err = run(capsys, "transfer", *arguments)
    assert status == 2
    assert complaint in err
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_existing_run_is_kept(capsys, finished, moved):
    before = {path: path.stat().st_mtime_ns for path in moved.rglob("*")}
    status, _, err = run(capsys, "transfer", str(finished), "rover-cove", "--run", str(moved), *LONGER)
    assert status == 2
    assert "already exists" in err
    assert {path: path.stat().st_mtime_ns for path in moved.rglob("*")} == before
