"""An agent without skills."""

import jax
import jax.numpy as jnp

from skillplan.behavior.policy import Policy
from skillplan.skill_selection import make_selection
from skillplan.world_model.model import feature_size
from small import ACTION, SPEC, small


def test_there_is_nothing_to_select():
    selection = make_selection(small("dreamer"), ACTION, jax.random.key(0))
    distribution = selection.select(lambda plan, key: jnp.zeros(()), jnp.zeros(12), jax.random.key(0))
    assert selection.skill_size == 0
    assert distribution.mean.shape == (1, 0)
    assert selection.sample(distribution, jax.random.key(0)).shape == (1, 0)
    assert selection.decide(distribution, jax.random.key(0), jnp.float32(1)).shape == (0,)


def test_dreamers_policy_reads_the_feature_alone():
    inputs = {
        agent: Policy(small(agent), SPEC.action_size, jax.random.key(0)).mlp.hidden[0].dense.weight.shape[0]
        for agent in ("dreamer", "lsp")
    }
    assert inputs == {"dreamer": feature_size(small()), "lsp": feature_size(small()) + 3}
