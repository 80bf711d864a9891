"""What a configuration refuses, and that it never changes."""

import dataclasses

import pytest

from skillplan.config import Config
from skillplan.errors import UserError
from skillplan.presets import with_overrides

POSITIVE = {
    "environment": ("action_repeat", "episode_length"),
    "world_model": ("deter", "stoch", "hidden", "feature_units", "feature_layers", "pixel_depth", "head_units"),
    "policy": ("units", "layers"),
    "value": ("units", "layers"),
    "behavior": ("imagination_length", "start_sequences"),
    "skill": ("size", "duration", "segment_length"),
    "planner": ("horizon", "population", "elites", "iterations"),
    "discovery": ("units", "layers"),
    "replay": ("max_frames",),
    "training": ("seed_episodes", "batch_size", "sequence_length", "updates_per_call", "checkpoint_every"),
    "evaluation": ("every", "episodes", "hold_steps"),
}
REFUSED = [
    *[({section: {name: 0}}, f"--{section}.{name} is 0") for section, names in POSITIVE.items() for name in names],
    *[
        ({section: {name: 0.0}}, f"--{section}.{name} is 0.0: give a number above zero")
        for section, name in (
            ("network", "output_scale"),
            ("world_model", "learning_rate"),
            ("policy", "learning_rate"),
            ("policy", "initial_std"),
            ("value", "learning_rate"),
            ("discovery", "learning_rate"),
            ("training", "updates_per_frame"),
            ("training", "gradient_clip"),
        )
    ],
    *[
        ({section: {name: -0.5}}, f"--{section}.{name} is -0.5: give zero or more")
        for section, name in (
            ("world_model", "kl_scale"),
            ("world_model", "free_nats"),
            ("policy", "entropy_scale"),
            ("policy", "exploration_noise"),
            ("planner", "skill_noise"),
            ("discovery", "intrinsic_scale"),
            ("discovery", "predictor_noise"),
        )
    ],
    *[
        ({section: {name: 1.5}}, f"--{section}.{name} is 1.5: give a .* between 0 and 1")
        for section, name in (
            ("world_model", "kl_balance"),
            ("behavior", "discount"),
            ("behavior", "return_lambda"),
            ("skill", "prior_fraction"),
            ("skill", "explore_fraction"),
            ("planner", "plan_lambda"),
        )
    ],
    ({"world_model": {"learning_rate": float("nan")}}, "--world_model.learning_rate is nan"),
    ({"training": {"pretrain_updates": -1}}, "--training.pretrain_updates is -1: give zero or more"),
    ({"behavior": {"imagination_length": 1}}, "--behavior.imagination_length is 1: returns need at least 2"),
    ({"planner": {"horizon": 1}}, "--planner.horizon is 1: a score needs at least 2"),
    ({"planner": {"elites": 17}}, "--planner.elites is 17, more than --planner.population 16"),
    (
        {"planner": {"training_elites": 17}},
        "--planner.training_elites is 17, more than --planner.training_population 16",
    ),
    ({"planner": {"training_iterations": 0}}, "--planner.training_iterations is 0"),
    (
        {"skill": {"selection": "none", "size": 0, "explore_fraction": 0.5}},
        "--skill.explore_fraction is 0.5 but --skill.selection is 'none': there are no skills to draw",
    ),
    ({"skill": {"selection": "none", "size": 3}}, "--skill.size is 3 but --skill.selection is 'none'"),
    ({"skill": {"duration": 11}}, r"--skill.duration \(K\) is 11, longer than --planner.horizon \(H\) 10"),
    ({"skill": {"segment_length": 11}}, "held for 11 steps but --behavior.imagination_length is 10"),
    ({"behavior": {"imagination_length": 9}}, "held for 10 steps but --behavior.imagination_length is 9"),
    ({"behavior": {"start_sequences": 51}}, "--behavior.start_sequences is 51, more than --training.batch_size 50"),
    (
        {"behavior": {"start_sequences": 51}, "skill": {"selection": "none", "size": 0}},
        "--behavior.start_sequences is 51, more than --training.batch_size 50",
    ),
    ({"frames": 0}, "--frames is 0: give a number above zero"),
    ({"seed": -1}, "--seed is -1: give zero or more"),
]


@pytest.mark.parametrize(("overrides", "message"), REFUSED)
def test_every_refusal_names_the_option_its_value_and_a_remedy(overrides, message):
    with pytest.raises(UserError, match=message.replace("_", "-")) as caught:
        with_overrides(Config(), overrides)
    assert ":" in str(caught.value)  # the remedy follows


def test_zero_is_allowed_where_it_means_off():
    overrides = {
        "discovery": {"intrinsic_scale": 0.0, "predictor_noise": 0.0},
        "planner": {"skill_noise": 0.0, "plan_lambda": 0.0},
        "policy": {"entropy_scale": 0.0, "exploration_noise": 0.0},
        "training": {"pretrain_updates": 0},
    }
    assert with_overrides(Config(), overrides).planner.skill_noise == 0.0


def test_an_agent_without_skills_may_imagine_less_than_a_skill():
    overrides = {"skill": {"selection": "none", "size": 0}, "behavior": {"imagination_length": 5}}
    assert with_overrides(Config(), overrides).behavior.imagination_length == 5


def test_the_training_segment_follows_the_duration_unless_set():
    assert Config().skill.training_segment == Config().skill.duration == 10
    long = with_overrides(Config(), {"skill": {"duration": 30, "segment_length": 10}, "planner": {"horizon": 120}})
    assert long.skill.training_segment == 10


def test_nothing_writes_to_a_configuration():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().seed = 1  # pyright: ignore[reportAttributeAccessIssue]
    assert hash(Config()) == hash(Config())
