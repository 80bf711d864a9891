"""The compiled update: what it changes, what it leaves alone, and that it may be cut anywhere."""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan import algorithm
from skillplan.algorithm import LearnerState, make_learner, make_updates, planned_states, replace_parts, select_skills
from skillplan.optimizer import PARTS
from skillplan.presets import AGENTS
from skillplan.skill_selection.base import SkillSelection
from skillplan.types import SkillDistribution
from skillplan.world_model.rssm import feature
from small import (  # noqa: F401
    SPEC,
    assert_trees_equal,
    differ,
    fresh_models,
    quick_compilation,
    random_batch,
    random_latent,
    small,
)

CALL, BATCH, LENGTH = 5, 2, 3


class Learned(NamedTuple):
    """A compiled update of one agent, and five updates by it."""

    config: object
    updates: object
    before: LearnerState
    after: LearnerState
    metrics: dict
    traces: list


def copied(state):
    """The update consumes the state that it is given."""
    return jax.tree.map(jnp.copy, state)


def batches(first=0):
    """Five batches, from number `first` on."""
    return jax.tree.map(lambda x: jnp.roll(x, -first, axis=0), random_batch(0, CALL, BATCH, LENGTH))


def run(learned, state, count, first=0):
    """Some updates on batches from number `first` on; the key is the run's, whatever was done before."""
    return learned.updates(copied(state), batches(first), jnp.int32(count), jax.random.key(7))


@cache
def learn(config):
    traces, make_update = [], algorithm.make_update

    def counting(config):
        update = make_update(config)

        def counted(state, batch, key):
            traces.append(None)
            return update(state, batch, key)

        return counted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithm, "make_update", counting)
        learned = Learned(config, make_updates(config), make_learner(config, SPEC, jax.random.key(0)), None, {}, traces)
        after, metrics = run(learned, learned.before, CALL)
    return learned._replace(after=after, metrics=metrics)


def config_of(agent, **overrides):
    training = {"updates_per_call": CALL, "batch_size": BATCH, "sequence_length": LENGTH}
    # No free nats: what foresees is then trained from the first update on.
    model = {"free_nats": 0.0} | overrides.pop("world_model", {})
    return small(agent, training=training | overrides.pop("training", {}), world_model=model, **overrides)


def tuned(**training):
    """Everything that the small sizes turn on."""
    return config_of(
        "random-skills",
        network={"activation": "silu", "layer_norm": True},
        world_model={"kl_balance": 0.8, "symlog": True, "continuation": True},
        policy={"entropy_scale": 1e-3},
        behavior={"normalize_returns": True, "start_sequences": 1},
        discovery={"intrinsic_path": "loss", "predictor_input": "change", "predictor_noise": 0.1},
        skill={"prior_fraction": 0.25},
        training=training,
    )


# HIRO's update has tests of its own.
@pytest.mark.parametrize("agent", [name for name in AGENTS if small(name).learner == "latent"])
def test_every_agent_runs_five_updates(agent):
    learned = learn(config_of(agent))
    assert learned.after.updates == CALL
    assert all(np.isfinite(value) for value in learned.metrics.values())
    for part in PARTS:
        before, after = getattr(learned.before.models, part), getattr(learned.after.models, part)
        # Every single array changes; an agent may lack a part.
        for old, new in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
            assert np.isfinite(new).all()
            assert (old != new).any(), part
    has = {part for part in PARTS if jax.tree.leaves(getattr(learned.after.models, part))}
    behavior = {"policy", "value"}
    assert has == {"world_model"} | {
        "dreamer": behavior,
        "amortized-skills": behavior | {"predictor", "selection"},
        "amortized-train": behavior | {"predictor", "selection"},
        "online": set(),
    }.get(agent, behavior | {"predictor"})
    assert {f"{part}/gradient_norm" for part in has} <= set(learned.metrics)


def test_several_updates_equal_as_many_single_ones():
    learned = learn(config_of("lsp"))
    together, metrics = run(learned, learned.before, 4)
    state, singles = copied(learned.before), []
    for i in range(4):
        state, single = run(learned, state, 1, first=i)
        singles.append(single)
    assert_trees_equal(together, state)
    for name, value in metrics.items():
        np.testing.assert_allclose(value, np.mean([single[name] for single in singles]), rtol=1e-5)


def test_the_count_is_no_reason_to_trace_anew():
    learned = learn(config_of("lsp"))
    traced = len(learned.traces)
    assert traced > 0
    for count in (1, 3, CALL):
        run(learned, learned.before, count)
    assert len(learned.traces) == traced
    assert learned.updates._cache_size() == 1


def test_no_updates_change_nothing():
    learned = learn(config_of("lsp"))
    state, metrics = run(learned, learned.before, 0)
    assert_trees_equal(state, learned.before)
    assert not any(metrics.values())


def test_batches_past_the_count_are_not_used():
    learned = learn(config_of("lsp"))
    spoiled = jax.tree.map(lambda x: x.at[2:].set(jnp.full_like(x[2:], jnp.nan)) if x.dtype == float else x, batches())
    state, _ = learned.updates(copied(learned.before), spoiled, jnp.int32(2), jax.random.key(7))
    assert_trees_equal(state, run(learned, learned.before, 2)[0])


def test_frozen_parts_stay_bit_for_bit():
    learned = learn(tuned(frozen=("policy", "predictor")))
    before, after = learned.before, learned.after
    for part in ("policy", "predictor"):
        assert_trees_equal(getattr(before.models, part), getattr(after.models, part))
        assert_trees_equal(before.optimizers[part], after.optimizers[part])
    for part in ("world_model", "value"):
        assert differ(getattr(before.models, part), getattr(after.models, part))
    assert all(np.isfinite(value) for value in learned.metrics.values())
    assert after.return_range != before.return_range


def test_the_high_level_policy_alone_learns_from_its_loss():
    # Frozen, it leaves all the others where they were without its update.
    learned, frozen = (learn(config_of("amortized-skills", training={"frozen": f})) for f in ((), ("selection",)))
    assert_trees_equal(frozen.before.models.selection, frozen.after.models.selection)
    one, other = (run(case, case.before, 1)[0].models for case in (learned, frozen))
    assert differ(one.selection, other.selection)
    for part in ("world_model", "policy", "value", "predictor"):
        for left, right in zip(jax.tree.leaves(getattr(one, part)), jax.tree.leaves(getattr(other, part)), strict=True):
            np.testing.assert_allclose(left, right, atol=1e-6)


def test_exchanging_parts_leaves_the_others():
    one, other = (fresh_models(small(), seed=seed) for seed in (0, 1))
    mixed = replace_parts(one, {"value": other.value})
    assert mixed.value is other.value
    assert all(getattr(mixed, part) is getattr(one, part) for part in PARTS if part != "value")


class Telling(SkillSelection):
    """Selects the first numbers of the feature, so that a plan tells for which state it was selected."""

    plan_length: int = 2
    skill_size: int = 3
    skill_noise: float = 0.0

    def select(self, imagine_and_score, feature, key):
        return SkillDistribution(jnp.stack([feature[:3], feature[3:6]]), jnp.zeros((2, 3)))


def selected(starts, length=7, batch=2, **skill):
    """What is selected for random states, one of which ended its episode."""
    config = small(planner={"starts": starts}, skill={"duration": 3, **skill})
    models = replace_parts(fresh_models(config), {"selection": Telling()})
    posterior = random_latent(config, 0, batch, length)
    is_terminal = jnp.zeros((batch, length), bool).at[1, 4].set(True)
    return posterior, select_skills(models, posterior, is_terminal, jax.random.key(0), config)


@pytest.mark.parametrize(("starts", "stride"), [("all", 1), ("segment", 3)])
def test_neighbours_share_a_distribution_or_have_one_each(starts, stride):
    posterior, start = selected(starts)
    plans = start.plan.reshape(2, 7, 2, 3)
    features = feature(posterior)
    for b in range(2):
        for t in range(7):
            owner = features[b, t - t % stride]
            np.testing.assert_array_equal(plans[b, t], np.stack([owner[:3], owner[3:6]]))
    # Whatever the skills, imagination starts from every state.
    np.testing.assert_array_equal(start.latent.stoch, posterior.stoch.reshape(14, -1))
    ended = np.zeros((2, 7))
    ended[1, 4] = 1
    np.testing.assert_array_equal(start.goes_on, 1 - ended.ravel())


def test_planned_states_are_those_where_skills_begin():
    posterior = random_latent(small(), 0, 2, 7)
    planned, owner = planned_states(posterior, small(skill={"duration": 3}))
    np.testing.assert_array_equal(planned.stoch, posterior.stoch[:, [0, 3, 6]])
    np.testing.assert_array_equal(owner, [0, 0, 0, 1, 1, 1, 2])


@pytest.mark.parametrize("fraction", [0.0, 0.25, 1.0])
def test_a_share_of_the_plans_is_standard_normal(fraction):
    posterior, start = selected("all", 100, 8, prior_fraction=fraction)
    features = feature(posterior).reshape(800, -1)
    own = (start.plan == jnp.stack([features[:, :3], features[:, 3:6]], axis=1)).all((1, 2))
    np.testing.assert_allclose(1 - own.mean(), fraction, atol=0.06 if 0 < fraction < 1 else 0)
    if fraction == 1:
        np.testing.assert_allclose(start.plan.mean((0, 1)), np.zeros(3), atol=0.1)
        np.testing.assert_allclose(start.plan.std((0, 1)), np.ones(3), atol=0.1)
