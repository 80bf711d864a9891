"""The quadruped's physics: dm_control's robot, obstacles that stop it, rays that see them."""

import numpy as np
import pytest

from envs.gait import Walker
from skillplan.envs.quadruped import layouts, world
from skillplan.envs.quadruped.env import QuadrupedEnv
from skillplan.envs.suite import suite

STOCK = {
    "egocentric_state": 44,
    "torso_velocity": 3,
    "torso_upright": 1,
    "imu": 6,
    "force_torque": 24,
}
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
FAR = np.array([4.0, 0.0])
NOTHING = np.zeros((0, 2))


@pytest.mark.parametrize(("ours", "theirs"), [("getup-walk", "walk"), ("run", "run")])
def test_robot_rewards_and_physics_equal_dm_control_to_the_bit(ours, theirs):
    stock = suite.load("quadruped", theirs, task_kwargs={"random": 5})
    env = QuadrupedEnv(ours)
    env.reset(seed=99)  # an earlier episode must leave no trace
    env.step(env.action_space.sample())
    observation, _ = env.reset(seed=5)
    moment = stock.reset()
    data, physics = env._world.data, stock.physics.data
    low, high = env.action_space.low, env.action_space.high
    rng = np.random.default_rng(0)
    assert {key: spec.shape or (1,) for key, spec in stock.observation_spec().items()} == {
        key: (size,) for key, size in STOCK.items()
    }
    for _ in range(1000):
        assert all(np.array_equal(observation[key], np.atleast_1d(moment.observation[key])) for key in STOCK)
        assert np.array_equal(data.qpos, physics.qpos)
        assert np.array_equal(data.qvel, physics.qvel)
        assert np.array_equal(data.act, physics.act)
        action = rng.uniform(low, high)
        observation, reward, terminated, truncated, _ = env.step(action)
        moment = stock.step(action)
        assert reward == moment.reward
        assert (terminated, truncated) == (False, False)


def test_action_bounds_are_dm_controls_asymmetric_ones():
    space, spec = QuadrupedEnv("walk").action_space, suite.load("quadruped", "walk").action_spec()
    np.testing.assert_array_equal(space.low, spec.minimum)
    np.testing.assert_array_equal(space.high, spec.maximum)
    assert not np.array_equal(space.low, -space.high)


def trot_ahead(obstacles, frames=300):
    """How far the robot gets along x, and the geoms it touched that are no floor."""
    env = QuadrupedEnv("obstacles")
    env.reset(seed=0)  # obstacles of this episode stand elsewhere: they are moved by the reset that follows
    robot = env._world
    robot.reset(LEVEL, FAR, np.asarray(obstacles, float).reshape(-1, 2))
    walker, touched = Walker(env, [(9.0, 0.0)]), set()
    for _ in range(frames):
        robot.advance(walker.act())
        touched |= {robot.model.geom(geom).name for geom in np.ravel(robot.data.contact.geom)}
    return robot.position()[0], {name for name in touched if name.startswith("obstacle")}


def test_an_obstacle_moved_at_reset_stops_the_robot():
    free, touched = trot_ahead([])
    assert free > 3.5
    assert touched == set()
    stopped, touched = trot_ahead([(2.5, -0.4), (2.5, 0.1), (2.5, 0.6)])
    assert stopped < 2.2
    assert touched
    beside, touched = trot_ahead([(2.5, 3.0)])
    assert beside == free
    assert touched == set()


def test_the_robot_starts_over_the_origin_as_low_as_it_touches_nothing():
    robot = world.QuadrupedWorld(0, 10.0)
    robot.reset(np.array([0.2, -0.7, 0.5, 0.4]) / np.sqrt(0.94), FAR, NOTHING)
    x, y, height = robot.position()
    assert (x, y) == (0.0, 0.0)
    assert robot.data.ncon == 0
    assert robot.position()[2] == height
    robot.data.qpos[2] -= world._RAISE
    robot._forward()
    assert robot.data.ncon > 0
    assert not robot.data.qvel.any()


def brute_force_rays(robot, obstacles):
    """Distances along level lines at multiples of 22.5 degrees from the heading to circles, at most the reach."""
    x, y, _ = robot.position()
    forward = robot.data.xmat[robot._torso].reshape(3, 3)[:, 0]
    heading = np.arctan2(forward[1], forward[0])
    distances = np.full(16, 5.0)
    for i in range(16):
        angle = heading + i * np.pi / 8
        way = np.array([np.cos(angle), np.sin(angle)])
        for centre in obstacles:
            to = centre - np.array([x, y])
            along, across = to @ way, way[0] * to[1] - way[1] * to[0]
            if abs(across) < 0.3 and along > 0:
                distances[i] = min(distances[i], along - np.sqrt(0.3**2 - across**2))
    return distances


def test_rays_are_the_distances_to_cylinders_and_see_nothing_else():
    env, rng, hits = QuadrupedEnv("obstacles"), np.random.default_rng(0), 0
    for seed in range(5):
        env.reset(seed=seed)
        for _ in range(20):
            observation, *_ = env.step(rng.uniform(-1, 1, 12))
        expected = brute_force_rays(env._world, env.layout()["obstacles"][:, :2])
        np.testing.assert_allclose(observation["rays"], expected / 5.0, atol=1e-9)
        hits += int((expected < 5).sum())
    assert 10 < hits < 70


def test_rays_turn_with_the_robot_and_reach_five_metres():
    robot = world.QuadrupedWorld(1, 10.0)
    robot.reset(LEVEL, FAR, np.array([[0.0, 2.0]]))
    np.testing.assert_allclose(robot.rays()[4], 1.7)  # a quarter turn to the left
    assert (np.delete(robot.rays(), [3, 4, 5]) == 5.0).all()
    robot.reset(layouts._yaw(np.pi / 2), FAR, np.array([[0.0, 2.0]]))
    np.testing.assert_allclose(robot.rays()[0], 1.7)
    robot.reset(LEVEL, FAR, np.array([[5.29, 0.0]]))
    np.testing.assert_allclose(robot.rays()[0], 4.99)
    robot.reset(LEVEL, FAR, np.array([[5.31, 0.0]]))
    assert (robot.rays() == 5.0).all()


def test_obstacles_that_an_episode_does_not_use_are_out_of_the_way():
    robot = world.QuadrupedWorld(3, 10.0)
    robot.reset(LEVEL, FAR, np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, 0.0]]))
    robot.reset(LEVEL, FAR, NOTHING)
    assert (robot.rays() == 5.0).all()


def test_a_simulation_that_blows_up_says_so():
    robot = world.QuadrupedWorld(0, 10.0)
    robot.reset(LEVEL, FAR, NOTHING)
    robot.data.qvel[0] = 1e12
    with pytest.raises(RuntimeError, match="unstable"):
        robot.advance(np.zeros(12))
