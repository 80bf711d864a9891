"""How many parameters there are."""

import dataclasses
import math

import jax
import pytest

from skillplan.models import make_models
from skillplan.presets import make_config
from small import PIXEL_SPEC, SPEC, small


def count(part):
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(part))


def shapes(config, spec):
    return jax.eval_shape(lambda: make_models(config, spec, jax.random.key(0)))


def test_dreamer_has_as_many_parameters_as_dreamer():
    config = make_config("walker-walk", "dreamer", "paper", {"environment": {"pixels": True}})
    models = shapes(config, dataclasses.replace(PIXEL_SPEC, action_size=6))
    assert (count(models.world_model), count(models.policy), count(models.value)) == (5_296_820, 578_412, 413_601)
    assert models.predictor is None
    assert count(models.selection) == 0


def test_a_skill_widens_only_the_policys_input():
    config = make_config("walker-walk", "lsp", "paper")
    models = shapes(config, dataclasses.replace(PIXEL_SPEC, action_size=6))
    assert (count(models.world_model), count(models.policy), count(models.value)) == (
        5_296_820,
        578_412 + 3 * 400,
        413_601,
    )
    # Two layers of 256 on the features of s_0 … s_10, then mean and deviation of a 3-d skill.
    assert count(models.predictor) == (11 * 230 + 1) * 256 + 257 * 256 + 257 * 6


@pytest.mark.parametrize(
    ("agent", "learns"), [("lsp", False), ("random-skills", False), ("dreamer", False), ("amortized-skills", True)]
)
def test_only_the_high_level_policy_has_parameters_for_selecting(agent, learns):
    assert (count(shapes(small(agent), SPEC).selection) > 0) == learns


def test_the_parts_are_initialised_differently_by_another_key():
    config = small("dreamer")
    one, same, other = (make_models(config, SPEC, jax.random.key(seed)) for seed in (0, 0, 1))
    weight = lambda models: models.policy.mlp.hidden[0].dense.weight  # noqa: E731
    assert (weight(one) == weight(same)).all()
    assert not (weight(one) == weight(other)).any()
    assert not (one.value.mlp.hidden[0].dense.weight == one.world_model.reward.mlp.hidden[0].dense.weight).any()
