"""A run that is killed again and again, wherever it happens to be, ends as one that never was."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from skillplan.training.checkpoint import state_sha256
from skillplan.training.metrics_log import read_metrics
from skillplan.training.restore import load_run
from skillplan.training.run_directory import RunDirectory

FRAMES = 3000
TRAIN = ["train", "rover-field", "--size", "debug", "--seed", "4", "--frames", str(FRAMES)]
TRAIN += ["--training.checkpoint-every", "300", "--evaluation.every", "600"]
MOVE = ["rover-cove", "--frames", str(FRAMES)]


def start(*arguments: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "skillplan.cli.main", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(*arguments: str) -> None:
    assert start(*arguments).wait() == 0


def kill_again_and_again(run: Path, draws: np.random.Generator, *arguments: str) -> int:
    """Kill the command at random moments, from its first file on, until it is done; how often it was killed."""
    kills = 0
    while True:
        begun = RunDirectory(run).config_file.is_file()
        process = start(*arguments, "--run", str(run), *(["--resume"] if begun else []))
        lines = sum(1 for _ in read_metrics(run / "metrics.jsonl"))
        # Starting takes longer than learning does: the clock runs from the first new sign of life.
        while process.poll() is None and sum(1 for _ in read_metrics(run / "metrics.jsonl")) <= lines:
            time.sleep(0.01)
        try:
            assert process.wait(timeout=draws.uniform(0, 0.8)) == 0
            return kills
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1


def told(run: Path) -> list[dict]:
    return [
        {name: value for name, value in line.items() if name != "seconds" and not name.startswith("rate/")}
        for line in read_metrics(run / "metrics.jsonl")
    ]


def same(run: Path, whole: Path) -> bool:
    assert told(run) == told(whole)
    return state_sha256(load_run(run).state) == state_sha256(load_run(whole).state)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "moving"),
    [
        ([], [*MOVE, "--fix-policy", "--relabel", "--skill-duration", "30", "--horizon", "60"]),
        (["--envs", "2"], []),
        (["--agent", "hiro"], [*MOVE, "--fix-policy"]),
    ],
    ids=["one world", "two worlds", "hiro"],
)
def test_killing_at_any_moment_changes_nothing(tmp_path, settings, moving):
    draws = np.random.default_rng(0)
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    finish(*TRAIN, *settings, "--run", str(whole))
    assert kill_again_and_again(torn, draws, *TRAIN, *settings) >= 3
    assert same(torn, whole)
    if moving:  # And so for what is carried over from it.
        moved, torn_moved = tmp_path / "moved", tmp_path / "torn-moved"
        finish("transfer", str(whole), *moving, "--run", str(moved))
        assert kill_again_and_again(torn_moved, draws, "transfer", str(whole), *moving) >= 3
        assert same(torn_moved, moved)
