"""How a configuration is put together, and that the paper's numbers are the paper's."""

import dataclasses

import pytest

from skillplan.config import Config
from skillplan.errors import UserError
from skillplan.presets import AGENTS, FAMILIES, SIZES, default_size, make_config, merge, with_overrides


def test_merge_is_nested_and_the_last_one_wins():
    below, above = {"a": {"x": 1, "y": 1}, "b": 1, "c": {"x": 1}}, {"a": {"x": 2}, "c": 3}
    assert merge(below, above) == {"a": {"x": 2, "y": 1}, "b": 1, "c": 3}
    assert below == {"a": {"x": 1, "y": 1}, "b": 1, "c": {"x": 1}}
    assert merge({"a": 1}, {"a": {"x": 2}}) == {"a": {"x": 2}}


def test_overrides_leave_their_neighbours_alone():
    config = with_overrides(Config(), {"skill": {"size": 2}, "seed": 4})
    assert (config.skill.size, config.seed) == (2, 4)
    assert config == dataclasses.replace(Config(), seed=4, skill=dataclasses.replace(Config().skill, size=2))


@pytest.fixture
def layered(monkeypatch):
    """A size, a family and an agent that all set the same fields."""
    field = lambda scale, batch: {"discovery": {"intrinsic_scale": scale}, "training": {"batch_size": batch}}  # noqa: E731
    monkeypatch.setitem(SIZES, "probe", ("", ({"value": {"units": 5}, "frames": 1}, field(1.0, 1))))
    monkeypatch.setitem(FAMILIES, "rover", {**field(2.0, 2), "frames": 2})
    monkeypatch.setitem(AGENTS, "probe", ("", field(3.0, 3)))


@pytest.mark.usefixtures("layered")
def test_size_then_family_then_agent_then_the_caller():
    suite, rover = (make_config(task, "lsp", "probe") for task in ("walker-walk", "rover-field"))
    assert (suite.discovery.intrinsic_scale, suite.training.batch_size) == (1.0, 1)
    assert (rover.discovery.intrinsic_scale, rover.training.batch_size) == (2.0, 2)
    assert (rover.frames, rover.value.units) == (2, 5)
    agent = make_config("rover-field", "probe", "probe")
    assert (agent.discovery.intrinsic_scale, agent.training.batch_size, agent.frames) == (3.0, 3, 2)
    caller = make_config("rover-field", "probe", "probe", {"discovery": {"intrinsic_scale": 4.0}, "frames": 4})
    assert (caller.discovery.intrinsic_scale, caller.training.batch_size, caller.frames) == (4.0, 3, 4)


def test_worlds_that_may_terminate_learn_whether_they_do():
    assert make_config("gym:Pendulum-v1").world_model.continuation
    assert not make_config("walker-walk").world_model.continuation


def test_overrides_are_judged_together():
    # Either one alone is an error.
    config = make_config(
        "rover-field", "lsp", "debug", {"skill": {"duration": 30, "segment_length": 10}, "planner": {"horizon": 120}}
    )
    assert (config.skill.duration, config.planner.horizon) == (30, 120)


def test_the_task_decides_the_action_repeat_and_the_size():
    assert make_config("rover-field").environment.action_repeat == 1
    repeated = make_config("rover-field", overrides={"environment": {"action_repeat": 3}})
    assert repeated.environment.action_repeat == 3
    assert make_config("walker-walk").environment.action_repeat == 2
    assert (default_size("rover-cove"), default_size("walker-walk"), default_size("gym:Pendulum-v1")) == (
        "tiny",
        "compact",
        "compact",
    )
    assert make_config("rover-field").size == "tiny"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_comes_in_every_size(agent, size):
    config = make_config("rover-field", agent, size)
    assert (config.agent, config.size, config.task) == (agent, size, "rover-field")


@pytest.mark.parametrize(
    ("agent", "selection", "size", "intrinsic", "length"),
    [
        ("lsp", "cem", 3, True, 10),
        ("no-mi", "cem", 3, False, 10),
        ("random-skills", "prior", 3, True, 10),
        ("rand-skills-init", "prior", 3, False, 10),
        ("dreamer", "none", 0, True, 15),
        ("amortized-skills", "high-level-policy", 3, True, 10),
        ("amortized-train", "amortized-train", 3, True, 10),
        ("mppi", "mppi", 3, True, 10),
        ("cem-gradient", "cem-gradient", 3, True, 10),
        ("online", "actions", 0, True, 10),
        ("hiro", "high-level-policy", 3, True, 10),
    ],
)
def test_what_sets_the_agents_apart(agent, selection, size, intrinsic, length):
    config = make_config("walker-walk", agent, "paper")
    assert (config.skill.selection, config.skill.size) == (selection, size)
    assert (config.discovery.intrinsic_scale > 0) == intrinsic
    assert config.behavior.imagination_length == length


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("agent", "of"), [("no-mi", "lsp"), ("rand-skills-init", "random-skills")])
def test_an_ablation_is_the_agent_without_intrinsic_reward_and_nothing_else(agent, of, size):
    # Not even a size that weighs it anew brings it back.
    whole = make_config("rover-field", of, size)
    assert whole.discovery.intrinsic_scale > 0
    without = with_overrides(whole, {"agent": agent, "discovery": {"intrinsic_scale": 0.0}})
    assert make_config("rover-field", agent, size) == without


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("agent", ["mppi", "cem-gradient", "random-skills", "amortized-skills", "amortized-train"])
def test_other_ways_to_choose_skills_differ_from_lsp_in_nothing_else(agent, size):
    lsp, other = (make_config("walker-walk", name, size) for name in ("lsp", agent))
    assert with_overrides(other, {"agent": "lsp", "skill": {"selection": "cem"}}) == lsp


@pytest.mark.parametrize("size", SIZES)
def test_dreamer_and_planned_actions_share_lsps_world_model(size):
    lsp = make_config("walker-walk", "lsp", size)
    for agent in ("dreamer", "online"):
        config = make_config("walker-walk", agent, size)
        for part in ("environment", "network", "world_model", "policy", "value", "replay", "training", "evaluation"):
            assert getattr(config, part) == getattr(lsp, part), (agent, part)


def test_the_paper_size_has_the_papers_numbers():
    config = make_config("walker-walk", "lsp", "paper")
    assert (config.planner.horizon, config.skill.duration) == (10, 10)
    assert (config.planner.population, config.planner.elites, config.planner.iterations) == (16, 4, 4)
    assert config.planner.skill_noise == 0.1
    assert config.planner.objective == "task"
    assert (config.behavior.discount, config.behavior.return_lambda) == (0.99, 0.95)
    assert (config.training.batch_size, config.training.sequence_length) == (50, 50)
    assert (config.training.seed_episodes, config.training.pretrain_updates) == (5, 100)
    assert config.training.updates_per_frame == 0.2
    assert config.training.gradient_clip == 100.0
    rates = (config.world_model, config.policy, config.value, config.discovery)
    assert [part.learning_rate for part in rates] == [6e-4, 8e-5, 8e-5, 8e-5]
    assert (config.world_model.free_nats, config.world_model.kl_scale) == (3.0, 1.0)
    assert config.world_model.kl_balance is None
    assert config.policy.entropy_scale == 0.0
    assert config.policy.exploration_noise == 0.3
    assert not config.behavior.normalize_returns


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("rover-field", "lps", "debug"), "Unknown agent 'lps': did you mean 'lsp'"),
        (("rover-field", "zzzzzz", "debug"), "Unknown agent 'zzzzzz': choose from amortized-skills, amortized-train"),
        (("rover-field", "lsp", "tinny"), "Unknown size 'tinny': did you mean 'tiny'"),
        (("rover-feild", "lsp", "debug"), "Unknown task 'rover-feild': did you mean 'rover-field'"),
    ],
)
def test_unknown_names_suggest(names, message):
    with pytest.raises(UserError, match=message):
        make_config(*names)
