"""The quadruped's tasks: starts, observations, rewards, what can be reached."""

import numpy as np
import pytest
from dm_control.utils.rewards import tolerance

from envs.gait import Walker
from skillplan import envs
from skillplan.envs.quadruped import layouts, rewards
from skillplan.envs.quadruped.env import QuadrupedEnv
from skillplan.envs.quadruped.tasks import TASKS
from skillplan.errors import UserError

SHARED = ("egocentric_state", "torso_velocity", "torso_upright", "imu", "force_torque", "origin", "target_position")
WITH_RAYS = {"obstacles", "obstacles-reach", "cove", "pillar"}
FROM_ANY_ORIENTATION = {"getup-walk", "run", "getup-reach"}


def features(**values):
    plain = {name: 0.0 for name in rewards.Features._fields} | {"upright": 1.0, "initial_distance": 4.0}
    return rewards.Features(**plain | values)


def samples(sampler, count=200):
    return [sampler(np.random.RandomState(seed), np.random.default_rng(seed)) for seed in range(count)]


def test_the_tasks_are_the_nine_of_the_table():
    assert set(TASKS) == FROM_ANY_ORIENTATION | WITH_RAYS | {"walk", "reach"}


@pytest.mark.parametrize("task", TASKS)
def test_all_tasks_share_one_observation_to_which_obstacles_add_rays(task):
    spec = envs.make(f"quadruped-{task}").spec
    assert spec.observation_keys == SHARED + (("rays",) if task in WITH_RAYS else ())
    assert spec.observation_sizes == (44, 3, 1, 6, 24, 3, 3) + ((16,) if task in WITH_RAYS else ())
    assert (spec.action_size, spec.action_repeat, spec.episode_frames) == (12, 2, 1000)


@pytest.mark.parametrize("task", TASKS)
def test_starts_are_upright_with_any_yaw_or_lie_anyhow(task):
    env = QuadrupedEnv(task)
    upright, yaws = [], []
    for seed in range(12):
        env.reset(seed=seed)
        upright.append(env._world.upright())
        yaws.append(np.arctan2(env._world._frame[1, 0], env._world._frame[0, 0]))
    assert np.ptp(yaws) > 3
    if task in FROM_ANY_ORIENTATION:
        assert min(upright) < -0.5
    else:
        np.testing.assert_allclose(upright, 1.0)


def test_origin_and_target_are_seen_from_the_torso():
    env = QuadrupedEnv("reach")
    env.reset(seed=3)
    for _ in range(30):
        observation, *_, info = env.step(np.random.default_rng(1).uniform(-1, 1, 12))
    position = np.array(env._world.position())
    rotation = env._world.data.xmat[env._world._torso].reshape(3, 3)
    np.testing.assert_allclose(rotation @ observation["origin"], -position, atol=1e-12)
    target = np.array([*env.layout()["target"][:2], 0.0])
    np.testing.assert_allclose(rotation @ observation["target_position"], target - position, atol=1e-12)
    np.testing.assert_array_equal(info["record"]["position"], position[:2])
    np.testing.assert_array_equal(info["record"]["target"], target[:2])
    np.testing.assert_array_equal(info["record"]["initial_distance"], [np.hypot(*target[:2])])
    np.testing.assert_array_equal(info["record"]["upright"], observation["torso_upright"])
    np.testing.assert_array_equal(info["record"]["forward_velocity"], observation["torso_velocity"][:1])


@pytest.mark.parametrize(("task", "nearest", "farthest"), [("reach", 2, 5), ("getup-reach", 2, 5), ("walk", 2, 5)])
def test_targets_are_in_a_ring_in_every_direction_whether_used_or_not(task, nearest, farthest):
    targets = np.array([sample.target for sample in samples(TASKS[task].layout)])
    distances = np.hypot(*targets.T)
    assert nearest <= distances.min() < nearest + 0.2
    assert farthest - 0.2 < distances.max() <= farthest
    assert np.median(distances) == pytest.approx((nearest + farthest) / 2, abs=0.3)
    assert np.ptp(np.arctan2(*targets.T)) > 6


def test_the_field_leaves_room_around_start_and_target():
    for sample in samples(layouts.field, 50):
        assert sample.obstacles.shape == (20, 2)
        assert np.abs(sample.obstacles).max() <= 6
        assert np.hypot(*sample.obstacles.T).min() > 1.5
        assert np.hypot(*(sample.obstacles - sample.target).T).min() > 1.0
        assert 4 <= np.hypot(*sample.target) <= 6


def test_the_cove_is_a_closed_u_that_opens_towards_the_start():
    centres = layouts.cove_centres()
    wall, arms = centres[:7], centres[7:]
    np.testing.assert_allclose(wall, [(2.2, y) for y in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)])
    np.testing.assert_allclose(sorted({x for x, _ in arms}), [0.8, 0.8 + 1.4 / 3, 0.8 + 2.8 / 3])
    assert {y for _, y in arms} == {-1.5, 1.5}
    right, left = (arms[arms[:, 1] == side] for side in (-1.5, 1.5))
    outline = np.concatenate([right[::-1], wall, left])  # from the tip of one arm to that of the other
    assert np.hypot(*np.diff(outline, axis=0).T).max() < 2 * 0.3 + 1e-9
    for sample in samples(layouts.cove, 3):
        np.testing.assert_array_equal(sample.target, (4.0, 0.0))


def test_the_pillar_stands_between_start_and_target():
    (sample,) = samples(layouts.pillar, 1)
    np.testing.assert_allclose(sample.obstacles, [(2.2, y) for y in (-1, -0.5, 0, 0.5, 1)])
    np.testing.assert_array_equal(sample.target, (4.0, 0.0))


def test_the_open_start_has_no_obstacles_and_looks_along_x():
    env = QuadrupedEnv("cove")
    observation, _ = env.reset(seed=8, options={"open_start": True})
    assert (observation["rays"] == 1).all()
    assert env.layout()["obstacles"].shape == (0, 3)
    np.testing.assert_allclose(env._world._frame, np.eye(3), atol=1e-12)
    env.reset(seed=8)
    assert env.layout()["obstacles"].shape == (13, 3)


@pytest.mark.parametrize(
    ("velocity", "upright", "walk", "run"),
    [
        (0.0, 1.0, 0.5, 0.5),
        (0.25, 1.0, 0.75, 0.525),
        (0.5, 1.0, 1.0, 0.55),
        (2.5, 1.0, 1.0, 0.75),
        (9.0, 1.0, 1.0, 1.0),
        (-0.5, 1.0, 0.0, 0.45),
        (-9.0, 1.0, 0.0, 0.0),
        (0.5, 0.0, 0.5, 0.275),
        (0.5, -1.0, 0.0, 0.0),
    ],
)
def test_move_reward(velocity, upright, walk, run):
    now = features(forward_velocity=velocity, upright=upright)
    assert TASKS["walk"].reward(now) == TASKS["getup-walk"].reward(now) == pytest.approx(walk)
    assert TASKS["run"].reward(now) == pytest.approx(run)


def test_move_reward_is_dm_controls_to_the_bit():
    rng = np.random.default_rng(0)
    for velocity, upright in zip(rng.normal(0, 5, 500), rng.uniform(-1, 1, 500), strict=True):
        for speed in (0.5, 5.0):
            up = tolerance(upright, (1, np.inf), sigmoid="linear", margin=2.0, value_at_margin=0)
            move = tolerance(velocity, (speed, np.inf), margin=speed, value_at_margin=0.5, sigmoid="linear")
            assert rewards.move(features(forward_velocity=velocity, upright=upright), speed) == up * move


@pytest.mark.parametrize(
    ("distance", "upright", "reward"),
    [(0.0, 1, 1.0), (0.5, 1, 1.0), (2.25, 1, 0.5), (4.0, 1, 0.0), (6.0, 1, 0.0), (0.5, 0, 0.5), (2.25, 0, 0.25)],
)
def test_reach_reward_falls_to_zero_at_the_distance_of_the_start(distance, upright, reward):
    now = features(x=1.0, y=2.0, target_x=1.0, target_y=2.0 - distance, upright=float(upright))
    for task in ("reach", "getup-reach", "obstacles-reach", "pillar"):
        assert TASKS[task].reward(now) == pytest.approx(reward, abs=1e-7)


@pytest.mark.parametrize(("distance", "reward"), [(0.0, 1.0), (0.499, 1.0), (0.501, 0.0), (4.0, 0.0)])
def test_the_coves_reward_is_sparse(distance, reward):
    assert TASKS["cove"].reward(features(x=-3.0, target_x=distance - 3.0, upright=-1.0)) == reward


@pytest.mark.parametrize("seed", [0, 1])
def test_walking_straight_fails_in_the_cove(seed):
    env = QuadrupedEnv("cove")
    env.reset(seed=seed)
    walker = Walker(env, [(4.0, 0.0)])
    assert sum(env.step(walker.act())[1] for _ in range(1000)) == 0
    assert 0.8 < env._world.position()[0] < 2.2  # in the U, before its wall


@pytest.mark.parametrize("side", [1, -1])
def test_a_detour_reaches_the_target_behind_the_cove(side):
    env = QuadrupedEnv("cove")
    env.reset(seed=0)
    walker = Walker(env, [(0.0, 3.2 * side), (4.0, 3.2 * side), (4.0, 0.0)])
    assert sum(env.step(walker.act())[1] for _ in range(1000)) > 100


@pytest.mark.parametrize("task", ["getup-walk", "obstacles-reach"])
def test_the_same_seed_gives_a_bit_identical_episode(task):
    actions = np.random.default_rng(1).uniform(-1, 1, (40, 12))

    def episode(env, seed):
        rows = [np.concatenate(list(env.reset(seed=seed)[0].values()))]
        for action in actions:
            observation, reward, *_ = env.step(action)
            rows.append(np.append(np.concatenate(list(observation.values())), reward))
        return np.concatenate(rows)

    used = QuadrupedEnv(task)
    episode(used, 8)
    assert np.array_equal(episode(used, 7), episode(QuadrupedEnv(task), 7))
    assert not np.array_equal(episode(used, 7), episode(used, 8))


def test_stock_numbers_come_first_as_in_dm_control():
    ours, stock = envs.make("quadruped-getup-walk"), envs.make("dm:quadruped-walk")
    np.testing.assert_array_equal(ours.reset(4).observation[:78], stock.reset(4).observation)
    action = np.linspace(-1, 1, 12)
    mine, theirs = ours.step(action), stock.step(action)
    np.testing.assert_array_equal(mine.observation[:78], theirs.observation)
    assert mine.reward == theirs.reward


def test_an_unknown_quadruped_task_is_named():
    with pytest.raises(UserError, match="'cave': did you mean 'cove'"):
        QuadrupedEnv("cave")
