"""Transfer: what is kept is kept to the bit, what describes the old task starts anew, the source is only read."""

import dataclasses
import json
import shutil
from pathlib import Path

import jax
import numpy as np
import pytest

from skillplan.errors import UserError
from skillplan.latent_learner import LatentLearner
from skillplan.learners import learner_of
from skillplan.presets import AGENTS, make_config
from skillplan.replay.episode import load
from skillplan.replay.restore import episode_files
from skillplan.skill_selection.plan_shape import plan_length, while_training
from skillplan.training.checkpoint import state_sha256
from skillplan.training.evaluate import Evaluator
from skillplan.training.loop import Trainer, train
from skillplan.training.metrics_log import read_metrics
from skillplan.training.progress import Display
from skillplan.training.restore import load_run
from skillplan.training.run_directory import RunDirectory
from skillplan.training.transfer import TransferOptions, begin_transfer, transfer, transfer_config
from small import SPEC, assert_trees_equal, differ, small

OPTIONS = TransferOptions(frames=600, seed=3, fix_policy=True, skill_duration=30, horizon=120)


@pytest.fixture(scope="module")
def moved(finished, tmp_path_factory) -> Path:
    """The finished run on the cove, with a fixed policy and plans of four skills."""
    path = tmp_path_factory.mktemp("transfer") / "cove"
    before = contents(finished)
    transfer(finished, "rover-cove", path, OPTIONS)
    assert contents(finished) == before
    return path


def contents(path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def parts_of(path: Path):
    return load_run(path).state


def test_a_fixed_policy_does_not_change_by_one_bit_and_the_rest_learns(finished, moved):
    old, new = parts_of(finished), parts_of(moved)
    for part in ("policy", "predictor"):
        assert_trees_equal(getattr(old.models, part), getattr(new.models, part))
        assert_trees_equal(old.optimizers[part], new.optimizers[part])
    for part in ("world_model", "value"):
        assert differ(getattr(old.models, part), getattr(new.models, part))
    assert int(new.updates) > 0


def test_the_config_tells_where_the_run_comes_from(finished, moved):
    content = json.loads((moved / "config.json").read_text())
    source, loaded = content["source"], load_run(finished)
    assert source["state_sha256"] == state_sha256(loaded.state)
    assert (source["run"], source["task"], source["frames"]) == (str(finished), "rover-field", loaded.counters.frames)
    assert source["config"] == json.loads((finished / "config.json").read_text())["config"]
    assert source["parts"] == {
        "world model": "kept",
        "reward head": "starts anew",
        "policy": "kept, frozen",
        "value": "starts anew",
        "skill predictor": "kept, frozen",
        "optimisers": "kept, but for what starts anew",
        "intrinsic reward": "off",
        "replay": "empty",
        "first episodes": "played by the carried agent",
    }
    assert content["config"]["discovery"]["intrinsic_scale"] == 0.0
    assert content["config"]["task"] == "rover-cove"


def test_plans_get_longer_where_the_agent_acts_and_not_where_it_trains(finished, moved):
    old, new = load_run(finished), load_run(moved)
    assert new.state.models.selection.acting_length == plan_length(new.config) == 4
    assert new.state.models.selection.plan_length == old.state.models.selection.plan_length == 1
    training = while_training(new.config)
    assert (training.skill.duration, training.planner.horizon) == (10, 10)
    assert new.config.planner.plan_lambda == 1.0
    episode = load(episode_files(moved / "episodes")[-1])
    skill = episode.record["skill"][1:]
    changes = np.flatnonzero(np.any(skill[1:] != skill[:-1], axis=1)) + 1
    np.testing.assert_array_equal(changes, np.arange(30, len(skill), 30))


def test_acting_searches_harder_where_asked_and_training_as_before(finished, tmp_path):
    harder = dataclasses.replace(OPTIONS, frames=300, population=24, elites=5, iterations=3, explore_fraction=0.5)
    transfer(finished, "rover-cove", tmp_path / "run", harder)
    old, new = load_run(finished), load_run(tmp_path / "run")
    assert new.state.models.selection.acting == (4, 24, 5, 3)
    assert new.state.models.selection.training == old.state.models.selection.training == (1, 4, 2, 2)
    training = while_training(new.config).planner
    assert (training.population, training.elites, training.iterations) == (4, 2, 2)
    assert (new.config.skill.explore_fraction, new.config.skill.duration) == (0.5, 30)
    # What a second move leaves unsaid stays.
    again = transfer_config(new.config, "rover-pillar", TransferOptions(frames=1, seed=0, population=30)).planner
    assert (again.population, again.elites, again.training_population) == (30, 5, 4)


def test_heads_start_anew_and_all_else_is_carried(finished, tmp_path):
    begin_transfer(finished, "rover-cove", tmp_path / "run", dataclasses.replace(OPTIONS, fix_policy=False))
    old, new = parts_of(finished), parts_of(tmp_path / "run")
    fresh = parts_of_fresh(tmp_path / "run")
    assert_trees_equal(new.models.value, fresh.models.value)
    assert_trees_equal(new.models.world_model.reward, fresh.models.world_model.reward)
    assert_trees_equal(new.optimizers["value"], fresh.optimizers["value"])
    for part in ("encoder", "rssm", "decoder"):
        assert_trees_equal(getattr(new.models.world_model, part), getattr(old.models.world_model, part))
    assert_trees_equal(new.optimizers["policy"], old.optimizers["policy"])
    # Of the world model's moments (and no other number) the reward head's alone are zero.
    changed = [
        jax.tree_util.keystr(path)
        for (path, a), b in zip(
            jax.tree_util.tree_leaves_with_path(old.optimizers["world_model"]),
            jax.tree.leaves(new.optimizers["world_model"]),
            strict=True,
        )
        if not np.array_equal(a, b)
    ]
    assert changed
    assert all(".reward." in name for name in changed)
    assert int(new.updates) == 0
    assert float(new.return_range) == 1.0


def parts_of_fresh(run: Path):
    """The state with which the run's learner begins on its own."""
    from skillplan.training.seeding import Stream, key

    config, spec = RunDirectory(run).read()
    return learner_of(config).initial(spec, key(config.seed, Stream.INITIAL_PARAMETERS))


def test_heads_are_kept_if_asked(finished, tmp_path):
    begun = begin_transfer(finished, "rover-cove", tmp_path / "run", dataclasses.replace(OPTIONS, keep_heads=True))
    assert begun.parts["reward head"] == begun.parts["value"] == "kept"
    old, new = parts_of(finished), parts_of(tmp_path / "run")
    # Plans are longer, which is no array: it is written in the structure of the models and of their optimisers.
    for part in ("models", "optimizers"):
        assert_trees_equal(jax.tree.leaves(getattr(old, part)), jax.tree.leaves(getattr(new, part)))


def test_relabelled_rewards_are_those_of_the_target(finished, tmp_path):
    run = tmp_path / "run"
    before = contents(finished)
    told = begin_transfer(finished, "rover-cove", run, dataclasses.replace(OPTIONS, relabel=True)).relabelled
    assert contents(finished) == before
    old, new = episode_files(finished / "episodes"), episode_files(run / "source_episodes")
    assert told is not None
    assert told.episodes == len(old) == len(new) == 4
    rewards = []
    for source, target in zip(map(load, old), map(load, new), strict=True):
        np.testing.assert_array_equal(source.observation, target.observation)
        distance = np.linalg.norm(source.record["position"][:, 0] - np.array([2.4, 0.0]), axis=1)
        np.testing.assert_array_equal(target.reward[1:], (distance < 0.6)[1:])
        rewards.append(source.reward[1:].mean())
    np.testing.assert_allclose(told.old_reward, np.mean(rewards), rtol=1e-5)
    train(load_run(run).config, run, resume=True)
    assert len(episode_files(run / "episodes")) == 2


def test_a_transfer_that_is_killed_goes_on_as_if_it_had_not_been(finished, moved, tmp_path, monkeypatch):
    from skillplan.envs.wrapper import RepeatedEnvironment

    run, step, taken = tmp_path / "run", RepeatedEnvironment.step, [0]

    def failing(self, action):
        taken[0] += 1
        if taken[0] == 400:
            raise KeyboardInterrupt
        return step(self, action)

    with monkeypatch.context() as patch:
        patch.setattr(RepeatedEnvironment, "step", failing)
        with pytest.raises(KeyboardInterrupt):
            transfer(finished, "rover-cove", run, OPTIONS)
    transfer(finished, "rover-cove", run, OPTIONS, resume=True)
    assert state_sha256(parts_of(run)) == state_sha256(parts_of(moved))
    returns = [[line.get("train/return") for line in read_metrics(path / "metrics.jsonl")] for path in (run, moved)]
    assert returns[0] == returns[1]


def test_the_first_episodes_are_the_carried_agents(moved):
    # A random action sequence has no skill on record.
    assert "skill" in load(episode_files(moved / "episodes")[0]).record


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("keep_heads", [False, True])
def test_what_is_said_of_the_parts_is_what_happens(agent, keep_heads):
    config = small(agent)
    learner = learner_of(config)
    if not isinstance(learner, LatentLearner):
        pytest.skip("It has tests of its own.")
    old, fresh = (learner.initial(SPEC, jax.random.key(seed)) for seed in (0, 1))
    models = learner.carry_over(old, fresh, keep_heads=keep_heads).models
    told = learner.carried(keep_heads=keep_heads, fix_policy=False)
    places = {
        "world model": lambda m: (m.world_model.rssm, m.world_model.encoder, m.world_model.decoder),
        "reward head": lambda m: m.world_model.reward,
        "policy": lambda m: m.policy,
        "value": lambda m: m.value,
        "skill predictor": lambda m: m.predictor,
        "high-level policy": lambda m: m.selection,
    }
    assert set(told) == {name for name, place in places.items() if jax.tree.leaves(place(old.models))}
    for name, fate in told.items():
        assert_trees_equal(places[name](models), places[name](old.models if fate == "kept" else fresh.models))
        assert differ(places[name](old.models), places[name](fresh.models))


def test_evaluation_holds_skills_as_long_as_acting_does(moved):
    loaded = load_run(moved)
    evaluator = Evaluator(loaded.config)
    for episode in evaluator.episodes(loaded.state.models, 2):
        skill = episode.record["skill"][1:]
        changes = np.flatnonzero(np.any(skill[1:] != skill[:-1], axis=1)) + 1
        np.testing.assert_array_equal(changes, np.arange(30, len(skill), 30))
    evaluator.close()


def test_longer_plans_compile_nothing_anew(finished, tmp_path):
    run = tmp_path / "run"
    begin_transfer(finished, "rover-cove", run, OPTIONS)
    config = load_run(run).config
    trainer = Trainer(config, RunDirectory(run), resume=True)
    trainer.run(Display(config.frames))
    assert trainer._updates._cache_size() == 1
    assert trainer._act._cache_size() == 1
    assert trainer.evaluator._act._cache_size() == 1
    trainer.close()


def test_what_another_option_began_is_not_resumed(finished, moved):
    before = contents(moved)
    with pytest.raises(UserError, match=r"--keep-heads \(False → True\), --horizon \(120 → 90\)"):
        transfer(finished, "rover-cove", moved, dataclasses.replace(OPTIONS, keep_heads=True, horizon=90), resume=True)
    with pytest.raises(UserError, match="no transfer to resume"):
        transfer(finished, "rover-cove", moved / "nothing", OPTIONS, resume=True)
    with pytest.raises(UserError, match="no transfer to resume"):
        transfer(finished, "rover-cove", finished, OPTIONS, resume=True)
    assert contents(moved) == before


def test_a_transfer_goes_on_for_more_frames(finished, moved, tmp_path):
    short, run = dataclasses.replace(OPTIONS, frames=300), tmp_path / "run"
    transfer(finished, "rover-cove", run, short)
    transfer(finished, "rover-cove", run, OPTIONS, resume=True)
    assert state_sha256(parts_of(run)) == state_sha256(parts_of(moved))


def test_what_was_carried_over_is_not_made_up_when_it_is_lost(finished, tmp_path):
    run = tmp_path / "run"
    begin_transfer(finished, "rover-cove", run, OPTIONS)
    shutil.rmtree(run / "checkpoints")
    with pytest.raises(UserError, match="lost its checkpoints"):
        transfer(finished, "rover-cove", run, OPTIONS, resume=True)


def test_a_transfer_that_fails_leaves_nothing(finished, tmp_path):
    source = tmp_path / "source"
    shutil.copytree(finished, source)
    episode_files(source / "episodes")[2].write_bytes(b"")
    with pytest.raises(UserError, match="damaged"):
        begin_transfer(source, "rover-cove", tmp_path / "run", dataclasses.replace(OPTIONS, relabel=True))
    assert list(tmp_path.iterdir()) == [source]
    # Nor does what goes on from there.
    run = tmp_path / "relabelled"
    begin_transfer(finished, "rover-cove", run, dataclasses.replace(OPTIONS, relabel=True))
    episode_files(run / "source_episodes")[3].unlink()
    with pytest.raises(UserError, match=r"Episode 3 is missing .* needs the first 4"):
        Trainer(load_run(run).config, RunDirectory(run), resume=True)


def test_relabelling_misses_no_episode(finished, tmp_path):
    source = tmp_path / "source"
    shutil.copytree(finished, source)
    episode_files(source / "episodes")[1].unlink()
    with pytest.raises(UserError, match=r"Episode 1 is missing .* needs the first 4"):
        begin_transfer(source, "rover-cove", tmp_path / "run", dataclasses.replace(OPTIONS, relabel=True))
    assert list(tmp_path.iterdir()) == [source]


def test_what_a_killed_beginning_left_is_cleared_away(finished, tmp_path):
    (tmp_path / "run.partial").mkdir()
    (tmp_path / "run.partial" / "config.json").write_text("{")
    (tmp_path / "run").mkdir()
    begin_transfer(finished, "rover-cove", tmp_path / "run", OPTIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_transfer_can_be_transferred(moved, tmp_path):
    run = tmp_path / "run"
    options = TransferOptions(frames=300, seed=1, relabel=True)
    begun = begin_transfer(moved, "rover-field", run, options)
    config = load_run(run).config
    assert (config.skill.duration, config.planner.horizon, config.skill.training_segment) == (30, 120, 10)
    assert begun.relabelled is not None
    assert begun.relabelled.episodes == 2  # those of its own; not those that it had been given
    assert begun.relabelled.new_reward > 0


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"skill_duration": 30, "horizon": None}, r"held for 30 steps but a plan be judged by 10: give a --horizon"),
        ({"skill_duration": 0}, "--skill-duration is 0"),
        ({"horizon": 1, "skill_duration": 1}, "--horizon is 1"),
        ({"explore_fraction": 1.5}, "--explore-fraction is 1.5: give a share between 0 and 1"),
        ({"population": 0}, "--population is 0: give at least 1"),
        ({"population": 8, "elites": 9}, "keep 9 of 8 plans: give a --population of at least 9"),
        ({"frames": 0}, "--frames is 0"),
        ({"seed": -1}, "--seed is -1"),
    ],
)
def test_impossible_options_are_refused(changes, complaint):
    source = make_config("rover-field", "lsp", "debug")
    with pytest.raises(UserError, match=complaint):
        transfer_config(source, "rover-cove", dataclasses.replace(OPTIONS, **changes))


def test_an_agent_without_skills_has_none_to_lengthen():
    dreamer = make_config("rover-field", "dreamer", "debug")
    for told in (OPTIONS, TransferOptions(frames=1, seed=0, explore_fraction=0.5)):
        with pytest.raises(UserError, match="dreamer has no skills"):
            transfer_config(dreamer, "rover-cove", told)


@pytest.mark.parametrize("agent", ["dreamer", "random-skills", "hiro", "amortized-skills"])
def test_an_agent_that_does_not_search_cannot_search_harder(agent):
    source = make_config("rover-field", agent, "debug")
    with pytest.raises(UserError, match=f"{agent} does not search for plans: leave out --population"):
        transfer_config(source, "rover-cove", TransferOptions(frames=1, seed=0, population=64))


def test_hiro_lengthens_skills_but_has_no_plans_to_lengthen():
    hiro = make_config("rover-field", "hiro", "debug")
    longer = transfer_config(hiro, "rover-cove", TransferOptions(frames=1, seed=0, skill_duration=30))
    assert (longer.skill.duration, longer.skill.training_segment) == (30, hiro.skill.training_segment)
    assert longer.planner == hiro.planner
    with pytest.raises(UserError, match="hiro does not plan: leave out --horizon"):
        transfer_config(hiro, "rover-cove", TransferOptions(frames=1, seed=0, horizon=120))


def test_a_foreign_world_is_refused_and_nothing_is_left(finished, tmp_path):
    with pytest.raises(UserError, match=r"lacks the observations 'rays' \(size 12\).*takes 6 actions, not 2"):
        begin_transfer(finished, "walker-walk", tmp_path / "run", OPTIONS)
    with pytest.raises(UserError, match="walker"):
        begin_transfer(finished, "walker-walk", tmp_path / "run", dataclasses.replace(OPTIONS, relabel=True))
    assert list(tmp_path.iterdir()) == []
