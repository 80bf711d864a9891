"""Training in several worlds at once, in this process or in others."""

import json

import pytest

from envs import fragile
from skillplan.cli.main import main
from skillplan.training.checkpoint import state_sha256
from skillplan.training.loop import Trainer, train
from skillplan.training.metrics_log import read_metrics
from skillplan.training.restore import load_run
from training.conftest import debug_config

TRAIN = ["train", "gym:envs.fragile:probe/Fragile-v0", "--size", "debug", "--frames", "100", "--envs", "2"]
TRAIN += ["--environment.workers", "--evaluation.episodes", "1"]


def test_processes_of_their_own_change_no_bit(tmp_path):
    digests, returns = [], []
    for workers in (False, True):
        run = tmp_path / str(workers)
        train(debug_config(envs=2, frames=900, environment={"workers": workers}, evaluation={"episodes": 1}), run)
        digests.append(state_sha256(load_run(run).state))
        returns.append([line.get("train/return") for line in read_metrics(run / "metrics.jsonl")])
    assert digests[0] == digests[1]
    assert returns[0] == returns[1]


def test_a_worker_that_dies_shows_its_traceback_and_the_run_goes_on_later(tmp_path, monkeypatch, capsys):
    run, fails = tmp_path / "run", tmp_path / "fails"
    monkeypatch.setenv(fragile.FAILS_IF, str(fails))
    played, remember = [], Trainer._remember

    def and_fail_next_time(self, episode):
        remember(self, episode)
        played.append(episode.frames)
        fails.touch()

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_remember", and_fail_next_time)
        assert main([*TRAIN, "--run", str(run)]) == 1
    complaint = capsys.readouterr().err
    assert "ZeroDivisionError: the wheel came off" in complaint
    assert 'fragile.py", line' in complaint
    assert "--resume" in complaint.splitlines()[-1]
    assert "Traceback" in complaint
    assert load_run(run).counters.frames == sum(played) == 20
    fails.unlink()
    assert main([*TRAIN, "--run", str(run), "--resume"]) == 0
    capsys.readouterr()
    assert load_run(run).counters.frames == 100
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [line["frames"] for line in lines if "train/return" in line] == [20, 60, 100]


@pytest.mark.parametrize("workers", ["--environment.workers", "--environment.no-workers"])
def test_a_mistake_in_making_a_world_leaves_nothing(tmp_path, capsys, workers):
    command = ["train", "gym:CartPole-v1", "--size", "debug", "--envs", "2", workers, "--run", str(tmp_path / "run")]
    assert main(command) == 2
    complaint = capsys.readouterr().err
    assert "gym:CartPole-v1: its action space is a Discrete" in complaint
    assert len(complaint.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
