import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError
from skillplan.presets import make_config
from skillplan.replay.episode import load
from skillplan.replay.restore import episode_files
from skillplan.training.checkpoint import state_sha256
from skillplan.training.loop import NonFiniteError, Trainer, train
from skillplan.training.metrics_log import read_metrics
from skillplan.training.progress import Display
from skillplan.training.restore import load_run
from skillplan.training.run_directory import RunDirectory
from training.conftest import FRAMES, debug_config


def timeless(run: Path) -> list[dict]:
    """The lines of a metrics file without what a clock says."""
    return [
        {name: value for name, value in line.items() if name != "seconds" and not name.startswith("rate/")}
        for line in read_metrics(run / "metrics.jsonl")
    ]


def digest(run: Path) -> str:
    return state_sha256(load_run(run).state)


def kill_at_frame(monkeypatch: pytest.MonkeyPatch, frame: int) -> None:
    """Pull the plug in the middle of an episode."""
    step, taken = RepeatedEnvironment.step, [0]

    def failing(self, action):
        taken[0] += 1
        if taken[0] == frame:
            raise KeyboardInterrupt
        return step(self, action)

    monkeypatch.setattr(RepeatedEnvironment, "step", failing)


@pytest.mark.parametrize("frame", [450, 1000])
def test_a_run_killed_and_resumed_equals_one_that_was_not(finished, tmp_path, monkeypatch, frame):
    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        kill_at_frame(patch, frame)
        with pytest.raises(KeyboardInterrupt):
            train(debug_config(), run)
    # A process that dies can leave half a line and half a file behind.
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"frames": 12')
    (run / "episodes" / "000009-301.npz.partial").write_bytes(b"half")
    train(debug_config(), run, resume=True)
    assert timeless(run) == timeless(finished)
    assert digest(run) == digest(finished)
    for mine, whole in zip(episode_files(run / "episodes"), episode_files(finished / "episodes"), strict=True):
        assert np.array_equal(load(mine).observation, load(whole).observation)


def test_more_frames_on_resume_continue_the_run(finished, tmp_path):
    run = tmp_path / "run"
    train(debug_config(frames=600), run)
    train(debug_config(), run, resume=True)
    # The shorter run evaluated at its own end; everything else is the same.
    lines = [line for line in timeless(run) if not (line["frames"] == 600 and "evaluation/return" in line)]
    assert lines == timeless(finished)
    assert digest(run) == digest(finished)


def test_a_finished_run_is_left_as_it_is(finished, capsys):
    before = {path: path.read_bytes() for path in (finished / "metrics.jsonl", *episode_files(finished / "episodes"))}
    state = digest(finished)
    train(debug_config(frames=900), finished, resume=True)
    assert capsys.readouterr().err.endswith("1,200 frames already: more --frames would go on from there.\n")
    assert {path: path.read_bytes() for path in before} == before
    assert digest(finished) == state


def test_another_seed_is_another_run(finished, tmp_path):
    train(debug_config(seed=1, frames=600), tmp_path / "run")
    assert timeless(tmp_path / "run")[0]["train/return"] != timeless(finished)[0]["train/return"]


def test_a_store_in_files_learns_the_same(finished, tmp_path):
    train(debug_config(replay={"memory_map": True}), tmp_path / "run")
    assert digest(tmp_path / "run") == digest(finished)


def test_updates_follow_the_frames(finished):
    training = debug_config().training
    for line in timeless(finished):
        if line["episodes"] < training.seed_episodes:
            expected = 0
        elif line["episodes"] == training.seed_episodes:
            expected = training.pretrain_updates
        else:
            expected = int(line["frames"] * training.updates_per_frame + 1e-6)
        assert line["updates"] == expected
    assert line["frames"] == line["agent_steps"] == FRAMES
    assert line["episodes"] == 4


def test_every_episode_is_on_disk_with_its_skills(finished):
    files = episode_files(finished / "episodes")
    assert len(files) == 4
    first, later = load(files[0]), load(files[-1])
    assert "skill" not in first.record
    skill = later.record["skill"][1:]
    changed = np.flatnonzero(np.any(skill[1:] != skill[:-1], axis=1)) + 1
    assert set(changed) == set(range(10, 300, 10))
    assert later.record["position"].shape == (301, 1, 2)


def test_the_last_evaluation_is_at_the_end(finished):
    last = timeless(finished)[-1]
    assert last["frames"] == FRAMES
    assert {"evaluation/return", "skill/displacement_across", "skill/log_q_prior"} <= last.keys()


def test_numbers_that_are_not_finite_end_the_run(tmp_path):
    config = debug_config(frames=600)
    trainer = Trainer(config, RunDirectory(tmp_path / "run"), resume=False)
    updates = trainer._updates

    def broken(*arguments):
        state, metrics = updates(*arguments)
        return state, metrics | {"value/loss": metrics["value/loss"] * np.nan}

    trainer._updates = broken
    with pytest.raises(NonFiniteError, match=r"value/loss stopped being finite"):
        trainer.run(Display(config.frames))
    trainer.close()


def test_the_update_is_compiled_once(tmp_path):
    config = debug_config(frames=1500)
    trainer = Trainer(config, RunDirectory(tmp_path / "run"), resume=False)
    trainer.run(Display(config.frames))
    assert trainer._updates._cache_size() == 1
    assert trainer._act._cache_size() == 1
    assert trainer.evaluator._act._cache_size() == 1
    assert trainer.evaluator._hold._cache_size() == 1
    trainer.close()


def test_a_world_that_terminates_trains_its_continuation_head(tmp_path):
    overrides = {"frames": 160, "environment": {"episode_length": 40}, "training": {"updates_per_frame": 0.05}}
    config = make_config("gym:MountainCarContinuous-v0", "lsp", "debug", overrides)
    assert config.world_model.continuation
    train(config, tmp_path / "run")
    assert any("world_model/continuation_loss" in line for line in timeless(tmp_path / "run"))


def test_resume_refuses_another_configuration_and_names_it(finished):
    before = (finished / "metrics.jsonl").read_bytes()
    with pytest.raises(UserError, match=r"policy\.units \(8 → 9\)"):
        train(debug_config(policy={"units": 9}), finished, resume=True)
    assert (finished / "metrics.jsonl").read_bytes() == before


def test_an_existing_run_is_not_overwritten(finished):
    with pytest.raises(UserError, match="--resume"):
        train(debug_config(), finished)


def test_there_must_be_something_to_resume(tmp_path):
    with pytest.raises(UserError, match="nothing to resume"):
        train(debug_config(), tmp_path / "run", resume=True)
    assert not (tmp_path / "run").exists()


def test_lost_checkpoints_are_told_before_episodes_are_lost(finished, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    shutil.rmtree(run / "checkpoints")
    with pytest.raises(UserError, match="has lost its checkpoints, though 1,200 frames were played"):
        train(debug_config(), run, resume=True)
    assert len(episode_files(run / "episodes")) == 4
    # One that is killed just before its first checkpoint is written has lost none.
    lines = (run / "metrics.jsonl").read_text().splitlines(keepends=True)
    (run / "metrics.jsonl").write_text("".join(line for line in lines if json.loads(line)["frames"] <= 600))
    Trainer(debug_config(), RunDirectory(run), resume=True).close()
    assert episode_files(run / "episodes") == []


def test_a_missing_episode_is_named(tmp_path):
    run = tmp_path / "run"
    train(debug_config(frames=600), run)
    episode_files(run / "episodes")[1].unlink()
    with pytest.raises(UserError, match="Episode 1 is missing"):
        train(debug_config(), run, resume=True)


def test_the_config_on_disk_is_what_was_asked_for(finished):
    content = json.loads((finished / "config.json").read_text())
    assert content["config"]["frames"] == FRAMES
    assert content["environment"]["observation_keys"][0] == "rays"
