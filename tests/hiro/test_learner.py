"""HIRO in the outer loop: runs, resuming, evaluation, transfer, and what it refuses."""

import dataclasses
import json
from pathlib import Path

import jax
import numpy as np
import pytest

import skillplan
from hiro.probes import PIXELS, hiro_config
from skillplan.cli.main import main
from skillplan.envs.wrapper import RepeatedEnvironment
from skillplan.errors import UserError
from skillplan.hiro.learner import HiroLearner
from skillplan.presets import make_config
from skillplan.replay.episode import load
from skillplan.replay.restore import episode_files
from skillplan.training.checkpoint import state_sha256
from skillplan.training.loop import Trainer, train
from skillplan.training.metrics_log import read_metrics
from skillplan.training.progress import Display
from skillplan.training.restore import load_run
from skillplan.training.run_directory import RunDirectory
from skillplan.training.transfer import TransferOptions, begin_transfer, carried_parts, transfer
from small import SPEC, assert_trees_equal, differ

FRAMES = 120


def debug_config(**overrides):
    """Four short episodes with checkpoints after the second and the fourth."""
    training = {"checkpoint_every": 60, "updates_per_frame": 0.1} | overrides.pop("training", {})
    settings = {"frames": FRAMES, "environment": {"episode_length": 30}, "evaluation": {"every": 60}}
    return make_config("rover-field", "hiro", "debug", settings | {"training": training} | overrides)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("hiro") / "whole"
    train(debug_config(), path)
    return path


def timeless(run: Path) -> list[dict]:
    return [
        {name: value for name, value in line.items() if name != "seconds" and not name.startswith("rate/")}
        for line in read_metrics(run / "metrics.jsonl")
    ]


def test_a_run_killed_and_resumed_equals_one_that_was_not(finished, tmp_path, monkeypatch):
    run, step, taken = tmp_path / "run", RepeatedEnvironment.step, [0]

    def failing(self, action):
        taken[0] += 1
        if taken[0] == 800:  # among the steps of the third episode; evaluation takes most of the others
            raise KeyboardInterrupt
        return step(self, action)

    with monkeypatch.context() as patch:
        patch.setattr(RepeatedEnvironment, "step", failing)
        with pytest.raises(KeyboardInterrupt):
            train(debug_config(), run)
    train(debug_config(), run, resume=True)
    assert timeless(run) == timeless(finished)
    assert state_sha256(load_run(run).state) == state_sha256(load_run(finished).state)


def test_everything_is_compiled_once(tmp_path):
    config = debug_config()
    trainer = Trainer(config, RunDirectory(tmp_path / "run"), resume=False)
    trainer.run(Display(config.frames))
    assert trainer._updates._cache_size() == 1
    assert trainer._act._cache_size() == 1
    assert trainer.evaluator._act._cache_size() == 1
    assert trainer.evaluator._hold._cache_size() == 1
    trainer.close()


def test_skills_are_recorded_from_the_first_episode_on_and_stored_beside_actions(finished):
    learner = HiroLearner(debug_config())
    for file in episode_files(finished / "episodes"):
        episode = load(file)
        skill = episode.record["skill"]
        changed = np.flatnonzero(np.any(skill[2:] != skill[1:-1], axis=1)) + 1
        assert changed.tolist() == [10, 20]
        stored = learner.to_store(episode)
        np.testing.assert_array_equal(stored.action, np.concatenate([episode.action, skill], axis=1))
    assert learner.stored_spec(SPEC).action_size == SPEC.action_size + 3
    assert (learner.sequence_length, learner.sequence_stride) == (11, 10)


def test_evaluation_measures_returns_and_held_skills(finished):
    last = timeless(finished)[-1]
    assert {"evaluation/return", "skill/displacement_across", "skill/displacement_within"} <= last.keys()
    # The same skill from the same start leads to the same place: there is no chance in it.
    assert last["skill/displacement_within"] == 0
    assert last["skill/displacement_across"] > 0
    assert "skill/log_q_prior" not in last


def test_state_goals_are_no_skills_to_hold(tmp_path):
    run = tmp_path / "run"
    train(debug_config(frames=60, hiro={"goal": "state", "goal_keys": ("position", "heading")}), run)
    lines = timeless(run)
    assert not any(name.startswith("skill/") for line in lines for name in line)
    assert load(episode_files(run / "episodes")[0]).record["skill"].shape[1] == 4
    models = load_run(run).state.models
    assert (models.skill_size, models.goal.size) == (0, 4)


def test_a_loaded_agent_acts_and_is_described(finished, capsys):
    agent = skillplan.load(finished)
    assert agent.act(np.zeros(21, np.float32)).shape == (2,)
    assert agent.skill.shape == (3,)
    assert main(["describe", str(finished), "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["shapes"]["goal"] == [3]
    assert described["shapes"]["batch"] == [2, 11]
    # One hidden layer of 8: (21 + 3) · 8 + 8, then 8 · 2 + 2; and (21 · 8 + 8) + (8 · 3 + 3).
    assert described["parameters"]["policy"] == 218
    assert described["parameters"]["high_level_policy"] == 203
    assert described["parameters"]["value"] == 2 * ((21 + 3 + 2) * 8 + 8 + 8 + 1)


def test_it_has_no_world_model(finished):
    models = load_run(finished).state.models
    assert {field.name for field in dataclasses.fields(models)} == {"high", "low", "goal", "observation_size"}
    parts = HiroLearner(debug_config()).parts(models)
    assert set(parts) == {"policy", "value", "high_level_policy", "high_level_value", "skill_predictor"}
    # Both levels read the observation itself, the lower one beside its goal.
    assert models.high.actor.mlp.hidden[0].dense.weight.shape[0] == 21
    assert models.low.actor.mlp.hidden[0].dense.weight.shape[0] == 21 + 3


OPTIONS = TransferOptions(frames=60, seed=3, fix_policy=True, skill_duration=30)


def test_transfer_with_a_fixed_policy_freezes_low_level_and_predictor(finished, tmp_path):
    run = tmp_path / "cove"
    transfer(finished, "rover-cove", run, OPTIONS)
    old, new = load_run(finished).state, load_run(run).state
    assert_trees_equal(old.low, new.low)
    assert_trees_equal(old.goal, new.goal)
    assert differ(old.high.learned, new.high.learned)
    assert int(new.updates) > 0
    episode = load(episode_files(run / "episodes")[-1])
    assert (np.ptp(episode.record["skill"][1:], axis=0) == 0).all()  # thirty steps: one skill


def test_what_is_carried_over_and_what_starts_anew(finished, tmp_path):
    for keep_heads in (False, True):
        run = tmp_path / str(keep_heads)
        options = dataclasses.replace(OPTIONS, fix_policy=False, keep_heads=keep_heads, relabel=True)
        begin_transfer(finished, "rover-cove", run, options)
        old, new = load_run(finished).state, load_run(run).state
        assert_trees_equal(old.low, new.low)
        assert_trees_equal(old.goal, new.goal)
        assert_trees_equal(old.high.learned.actor, new.high.learned.actor)
        assert_trees_equal(old.high.actor_optimizer, new.high.actor_optimizer)
        assert differ(old.high.learned.critic, new.high.learned.critic) != keep_heads
        assert differ(old.high.target.critic, new.high.target.critic) != keep_heads
        assert int(new.updates) == 0
        told = carried_parts(HiroLearner(load_run(finished).config), options)
        assert told["high-level critics"] == ("kept" if keep_heads else "start anew")
        assert "world model" not in told
    train(load_run(run).config, run, resume=True)


MISTAKES = {
    "pixels": ({}, PIXELS, "HIRO learns from features, not from images"),
    "keys": ({"hiro": {"goal": "state", "goal_keys": ("nearr",)}}, SPEC, "'nearr': did you mean 'near'"),
    "duration": ({"skill": {"duration": 6, "segment_length": 4}}, SPEC, "--skill.duration is 6, which is not a mult"),
    "seed policy": ({"training": {"seed_policy": "random"}}, SPEC, "--training.seed-policy is 'random'"),
    "forward": ({"discovery": {"intrinsic": "forward"}}, SPEC, "--discovery.intrinsic is 'forward', but HIRO has no"),
    "selection": ({"skill": {"selection": "cem"}}, SPEC, "--skill.selection is 'cem', but HIRO's skills come from"),
    "frozen": ({"training": {"frozen": ("value",)}}, SPEC, "--training.frozen names value"),
}


@pytest.mark.parametrize(("overrides", "spec", "message"), MISTAKES.values(), ids=MISTAKES)
def test_what_it_cannot_do_it_says_in_a_sentence(overrides, spec, message):
    learner = HiroLearner(hiro_config(**overrides))
    with pytest.raises(UserError, match=message):
        learner.initial(spec, jax.random.key(0))


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (["--pixels"], "leave out --pixels or choose another --agent"),
        (["--intrinsic", "forward"], "give 'backward'"),
        (["--hiro.goal", "state", "--hiro.goal-keys", "ray"], "'ray': did you mean 'rays'"),
    ],
)
def test_mistakes_are_refused_on_the_command_line(capsys, tmp_path, monkeypatch, given, remedy):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "rover-field", "--agent", "hiro", "--size", "debug", *given]) == 2
    complaint = capsys.readouterr().err.strip()
    assert remedy in complaint
    assert len(complaint.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_skill_may_be_longer_than_a_planners_horizon():
    assert hiro_config(skill={"duration": 20}).planner.horizon == 10


@pytest.mark.slow
def test_it_learns_to_drive(tmp_path):
    # Random actions return 36, doing nothing 0.
    train(make_config("rover-field", "hiro", "tiny", {"frames": 9_000}), tmp_path / "run")
    assert timeless(tmp_path / "run")[-1]["evaluation/return"] > 150
