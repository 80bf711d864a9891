"""Acting: when skills change, what exploring adds, and that episodes side by side are strangers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.agent import Agent, blank_memory, make_act
from skillplan.errors import UserError
from small import ACTION, OBSERVATION, PIXEL_SPEC, SPEC, fresh_models, quick_compilation, small  # noqa: F401

DURATION, STEPS = 3, 8
CONFIG = small(skill={"duration": DURATION}, planner={"horizon": 4})


@pytest.fixture(scope="module")
def act():
    return make_act(CONFIG)


def observations(seed, rows=2, steps=STEPS):
    return np.random.default_rng(seed).normal(size=(steps, rows, OBSERVATION)).astype(np.float32)


def play(act, seen, explore, keys=(0, 1), restart=(), config=CONFIG):
    """The skills and actions of some steps, `[steps, rows, …]`; `restart` lists (step, row) where episodes begin."""
    models = fresh_models(config)
    memory = blank_memory(models, seen.shape[1])
    key = jnp.stack([jax.random.key(k) for k in keys])
    skills, actions = [], []
    for t, observation in enumerate(seen):
        is_first = jnp.array([t == 0 or (t, row) in restart for row in range(len(observation))])
        memory, action = act(
            models, memory, jnp.asarray(observation), is_first, jax.random.clone(key), jnp.float32(explore)
        )
        skills.append(memory.skill)
        actions.append(action)
    return np.stack(skills), np.stack(actions)


@pytest.mark.parametrize("explore", [0.0, 1.0])
def test_a_skill_is_chosen_every_k_steps_and_held(act, explore):
    skills, _ = play(act, observations(0), explore)
    for t in range(1, STEPS):
        same = (skills[t] == skills[t - 1]).all(-1)
        assert same.tolist() == [t % DURATION != 0] * 2, t


def test_an_episode_begins_without_a_past(act):
    seen = observations(0)
    skills, actions = play(act, seen, 1.0, restart=[(4, 1)])
    fresh_skills, fresh_actions = play(act, seen[4:], 1.0)
    # Its skill is chosen at once, out of step with its neighbour.
    np.testing.assert_allclose(skills[4:, 1], fresh_skills[:, 1], atol=1e-5)
    np.testing.assert_allclose(actions[4:, 1], fresh_actions[:, 1], atol=1e-5)
    through_skills, through_actions = play(act, seen, 1.0)
    np.testing.assert_allclose(actions[:, 0], through_actions[:, 0], atol=1e-5)
    assert (through_skills[4, 1] != skills[4, 1]).all()


def test_episodes_side_by_side_do_not_meet(act):
    one, other = observations(0), observations(1)
    other[:, 0] = one[:, 0]
    for explore in (0.0, 1.0):
        skills, actions = play(act, one, explore)
        other_skills, other_actions = play(act, other, explore, keys=(0, 5), restart=[(1, 1), (5, 1)])
        np.testing.assert_allclose(skills[:, 0], other_skills[:, 0], atol=1e-5)
        np.testing.assert_allclose(actions[:, 0], other_actions[:, 0], atol=1e-5)
        assert (actions[:, 1] != other_actions[:, 1]).any()


def test_the_same_key_acts_the_same_and_exploring_needs_it(act):
    seen = observations(0)
    for explore in (0.0, 1.0):
        np.testing.assert_array_equal(play(act, seen, explore)[1], play(act, seen, explore)[1])
    assert (play(act, seen, 1.0)[1] != play(act, seen, 1.0, keys=(2, 3))[1]).all()


def test_actions_lie_between_minus_one_and_one(act):
    # Untrained policies draw far out; noise comes on top.
    _, actions = play(act, observations(0), 1.0)
    assert np.abs(actions).max() == 1.0


def test_nothing_is_compiled_anew_from_step_to_step(act):
    play(act, observations(0), 0.0)
    play(act, observations(0), 1.0)
    assert act._cache_size() == 1


def test_without_exploring_no_key_matters_where_nothing_is_planned():
    config = small("dreamer")
    act = make_act(config)
    seen = observations(0)
    still, same = (play(act, seen, 0.0, keys=keys, config=config)[1] for keys in ((0, 1), (2, 3)))
    np.testing.assert_array_equal(still, same)
    # Then it is the policy's mean at the posterior's mean.
    models = fresh_models(config)
    latent = models.world_model.observe_step(
        models.world_model.rssm.initial(),
        jnp.zeros(ACTION),
        jnp.asarray(seen[0, 0]),
        jnp.array(True),
        jnp.zeros(config.world_model.stoch),
    )
    np.testing.assert_array_equal(latent.stoch, latent.mean)
    mean = models.policy(jnp.concatenate([latent.mean, latent.deter]), jnp.zeros(0)).mean
    np.testing.assert_allclose(still[0, 0], np.tanh(mean), atol=1e-5)


def test_random_skills_are_held_for_k_steps_and_are_standard_normal_in_evaluation_too():
    config, rows = small("random-skills", skill={"duration": DURATION}), 300
    act = make_act(config)
    for explore in (0.0, 1.0):
        skills, _ = play(act, observations(0, rows), explore, keys=range(rows), config=config)
        for t in range(1, STEPS):
            assert (skills[t] == skills[t - 1]).all() == (t % DURATION != 0), t
        drawn = np.concatenate(skills[::DURATION], axis=-1)
        # Three draws of three numbers for each episode, none of which tells of another.
        np.testing.assert_allclose(drawn.mean(0), np.zeros(9), atol=0.2)
        np.testing.assert_allclose(np.cov(drawn.T), np.eye(9), atol=0.3)


def test_a_share_of_the_collected_skills_comes_from_the_prior_and_the_rest_is_as_planned():
    rows = 1000
    mixed = small(skill={"duration": DURATION, "explore_fraction": 0.25}, planner={"horizon": 4})
    seen = observations(0, rows, steps=1)

    def first_skills(config, explore):
        return play(make_act(config), seen, explore, keys=range(rows), config=config)[0][0]

    planned, skills = first_skills(CONFIG, 1.0), first_skills(mixed, 1.0)
    drawn = (skills != planned).any(-1)
    assert drawn.mean() == pytest.approx(0.25, abs=0.05)
    # Of deviation 1, where plans are narrower, and independent of the plan they replace.
    np.testing.assert_allclose(skills[drawn].mean(0), np.zeros(3), atol=0.25)
    np.testing.assert_allclose(skills[drawn].std(0), np.ones(3), atol=0.2)
    assert np.abs(np.corrcoef(skills[drawn].T, planned[drawn].T)[:3, 3:]).max() < 0.3
    np.testing.assert_array_equal(first_skills(CONFIG, 0.0), first_skills(mixed, 0.0))


def test_a_skill_that_is_given_is_kept():
    act = make_act(CONFIG, choose_skills=False)
    models = fresh_models(CONFIG)
    given = jnp.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 0.5]])
    memory = blank_memory(models, 2)._replace(skill=given)
    for t in range(DURATION + 2):
        key = jnp.stack([jax.random.key(0), jax.random.key(1)])
        seen = jnp.asarray(observations(t)[0])
        memory, action = act(models, memory, seen, jnp.full(2, t == 0), key, jnp.float32(0))
        np.testing.assert_array_equal(memory.skill, given)
    np.testing.assert_array_equal(memory.step, [DURATION + 2] * 2)
    assert (action[0] != action[1]).all()


@pytest.fixture(scope="module")
def agents():
    """Two agents that are alike, and one with another seed."""
    config = small("dreamer")
    return [Agent(fresh_models(config), config, SPEC, seed=seed) for seed in (0, 0, 1)]


def test_an_agent_takes_flat_observations_and_dictionaries(agents):
    flat, named, _ = agents
    for agent in agents:
        agent.reset()
    for seen in observations(3, rows=1)[:3, 0]:
        # Pieces go by their names, whatever their order or shape; others are passed over.
        pieces = {"other": np.zeros(9), "far": seen[2:].reshape(3, 1), "near": seen[:2].astype(np.float64)}
        action = flat.act(seen)
        np.testing.assert_array_equal(named.act(pieces), action)
        assert action.shape == (ACTION,)


def test_an_agent_explores_by_its_seed_and_episode(agents):
    seen = observations(3, rows=1)[0, 0]
    drawn = []
    for agent in agents:
        agent.reset()
        drawn.append(agent.act(seen, explore=True))
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    still = agents[0].act(seen)
    assert (agents[0].act(seen) != still).any()  # the second step remembers the first
    agents[0].reset()
    again = agents[0].act(seen)
    agents[0].reset()
    np.testing.assert_array_equal(agents[0].act(seen), again)
    assert agents[0].skill.shape == (0,)


@pytest.mark.parametrize(
    ("observation", "message"),
    [
        (np.zeros(4), r"shape \(4,\), but this agent was trained on \(5,\)"),
        (np.zeros((1, 5)), r"shape \(1, 5\), but this agent was trained on \(5,\)"),
        ({"near": np.zeros(2), "far": np.zeros(2)}, r"shape \(4,\)"),
        ({"near": np.zeros(2)}, "lacks far: give all of near, far"),
    ],
)
def test_observations_of_another_world_are_refused(agents, observation, message):
    with pytest.raises(UserError, match=message):
        agents[0].act(observation)


def test_an_agent_that_sees_takes_images():
    config = small("dreamer")
    agent = Agent(fresh_models(config, "pixels"), config, PIXEL_SPEC)
    picture = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    action = agent.act(picture)
    agent.reset()
    np.testing.assert_array_equal(agent.act({"image": picture}), action)
    with pytest.raises(UserError, match=r"shape \(32, 32, 3\)"):
        agent.act(picture[::2, ::2])
