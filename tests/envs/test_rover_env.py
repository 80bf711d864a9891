"""The rover's tasks: layouts, observation, rewards, pictures."""

import gymnasium
import numpy as np
import pytest

from skillplan.envs.rover import layouts, rewards
from skillplan.envs.rover.env import RoverEnv
from skillplan.errors import UserError

ORDER = ("rays", "velocity", "yaw_rate", "heading", "position", "target")


def flat(observation):
    return np.concatenate([observation[key] for key in ORDER])


def steer(record, goal):
    """Turn towards `goal`, drive when it is ahead."""
    to_goal = np.asarray(goal) - record["position"]
    error = np.arctan2(to_goal[1], to_goal[0]) - record["yaw"][0]
    error = np.arctan2(np.sin(error), np.cos(error))
    return np.array([np.cos(error) if abs(error) < 1 else 0.0, np.clip(2 * error, -1, 1)])


@pytest.mark.parametrize("name", ["rover-field", "rover-cove"])
def test_the_registered_task_ends_by_truncation(name):
    env = gymnasium.make(f"skillplan/{name}-v0", disable_env_checker=True)
    env.reset(seed=0)
    ends = [env.step(np.zeros(2))[2:4] for _ in range(300)]
    assert ends[-1] == (False, True)
    assert not any(terminated or truncated for terminated, truncated in ends[:-1])


def test_observation_layout_at_the_start():
    env = RoverEnv("cove")
    observation, _ = env.reset(seed=0, options={"open_start": True})
    assert tuple(observation) == ORDER == env.observation_keys
    expected = [*[1.0] * 12, 0, 0, 0, 1, 0, 0, 0, 2.4 / 1.5, 0]
    np.testing.assert_allclose(flat(observation), expected, atol=1e-7)
    assert flat(observation).dtype == np.float32


def test_observation_is_scaled_and_in_the_body_frame():
    env = RoverEnv("field")
    env.reset(seed=0, options={"open_start": True})
    for _ in range(25):
        observation, *_, info = env.step(np.array([1.0, 1.0]))
    record = info["record"]
    (x, y), yaw = record["position"], record["yaw"][0]
    np.testing.assert_allclose(observation["yaw_rate"], [2.0 / 2], atol=1e-3)
    np.testing.assert_allclose(observation["heading"], [np.cos(yaw), np.sin(yaw)], atol=1e-6)
    np.testing.assert_allclose(observation["position"], [x / 1.5, y / 1.5], atol=1e-6)
    np.testing.assert_allclose(observation["velocity"][0], record["forward_speed"][0], atol=1e-6)
    rotation = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    np.testing.assert_allclose(observation["target"], rotation @ [2.4 - x, -y] / 1.5, atol=1e-6)
    np.testing.assert_array_equal(record["target"], [2.4, 0.0])


def test_the_field_has_eight_cylinders_in_its_ring_and_any_yaw():
    starts = [layouts.field(np.random.default_rng(seed)) for seed in range(200)]
    radii = np.concatenate([np.hypot(*start.obstacles.T) for start in starts])
    assert {start.obstacles.shape for start in starts} == {(8, 2)}
    assert radii.min() >= 0.9
    assert radii.max() <= 3.3
    # Uniform in area: half of the area of the ring lies within sqrt((0.9² + 3.3²) / 2).
    assert np.mean(radii < np.sqrt((0.9**2 + 3.3**2) / 2)) == pytest.approx(0.5, abs=0.04)
    yaws = [start.yaw for start in starts]
    assert min(yaws) < -2.5
    assert max(yaws) > 2.5


def test_the_cove_is_a_u_open_towards_the_start():
    centres = {(round(x, 6), round(y, 6)) for x, y in layouts.cove_centres()}
    wall = {(1.2, y) for y in (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6, 0.9)}
    arms = {(x, y) for x in (0.6, 0.9) for y in (-0.9, 0.9)}
    assert centres == wall | arms
    yaws = [layouts.cove(np.random.default_rng(seed)).yaw for seed in range(50)]
    assert -0.1 <= min(yaws) < -0.05
    assert 0.05 < max(yaws) <= 0.1


@pytest.mark.parametrize(("speed", "reward"), [(-1.0, 0.0), (0.0, 0.0), (0.4, 0.5), (0.8, 1.0), (1.0, 1.0)])
def test_cruise_reward(speed, reward):
    assert rewards.cruise(rewards.Features(0.0, 0.0, speed, 9.0, 0.0)) == pytest.approx(reward)


@pytest.mark.parametrize(("distance", "reward"), [(0.0, 1.0), (0.59, 1.0), (0.61, 0.0)])
def test_arrive_reward(distance, reward):
    assert rewards.arrive(rewards.Features(1.0, 2.0, 0.0, 1.0, 2.0 - distance)) == reward


def test_driving_straight_fails_in_the_cove():
    env = RoverEnv("cove")
    for seed in range(3):
        env.reset(seed=seed)
        assert sum(env.step(np.array([1.0, 0.0]))[1] for _ in range(300)) == 0


@pytest.mark.parametrize("side", [1, -1])
def test_a_detour_reaches_the_target_behind_the_cove(side):
    env = RoverEnv("cove")
    _, info = env.reset(seed=0)
    goals = [(0.0, 1.6 * side), (2.4, 1.6 * side), (2.4, 0.0)]
    total = 0.0
    for _ in range(300):
        if len(goals) > 1 and np.hypot(*(goals[0] - info["record"]["position"])) < 0.3:
            goals.pop(0)
        _, reward, *_, info = env.step(steer(info["record"], goals[0]))
        total += reward
    assert total > 100


@pytest.mark.parametrize("task", ["field", "cove"])
def test_the_same_seed_gives_a_bit_identical_episode(task):
    actions = np.random.default_rng(1).uniform(-1, 1, (60, 2))

    def episode(env, seed):
        rows = [flat(env.reset(seed=seed)[0])]
        for action in actions:
            observation, reward, *_ = env.step(action)
            rows.append(np.append(flat(observation), np.float32(reward)))
        return np.concatenate(rows)

    used = RoverEnv(task)
    episode(used, 8)
    assert np.array_equal(episode(used, 7), episode(RoverEnv(task), 7))
    assert not np.array_equal(episode(used, 7), episode(used, 8))


def test_layout_names_what_stands_where():
    env = RoverEnv("cove")
    env.reset(seed=0)
    layout = env.layout()
    assert layout["obstacles"].shape == (11, 3)
    assert set(layout["obstacles"][:, 2]) == {0.16}
    np.testing.assert_array_equal(layout["target"], [2.4, 0.0, 0.6])
    assert layout["arena"] == 3.5
    env.reset(seed=0, options={"open_start": True})
    assert env.layout()["obstacles"].shape == (0, 3)


def test_the_picture_shows_rover_target_and_obstacles_in_their_places():
    env = RoverEnv("cove", render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render().astype(int)
    assert image.shape == (320, 320, 3)

    def colour(x, y):
        column, row = (np.array([x, -y]) / (3.5 * 1.04) + 1) / 2 * 320
        return image[int(row), int(column)]

    floor, rover, target, obstacle = colour(-2, 2), colour(-0.07, 0), colour(2.4, 0), colour(1.2, 0.6)
    assert floor.min() > 230
    assert rover[2] > rover[0] + 80  # blue
    assert target[1] > target[0] + 30  # green
    assert np.ptp(obstacle) < 20  # grey
    assert obstacle.max() < 150
    np.testing.assert_array_equal(colour(0.6, 0.9), obstacle)
    np.testing.assert_array_equal(colour(0.6, 0.2), floor)


def test_pixels_follow_the_rover():
    env = RoverEnv("field", pixels=True)
    first, _ = env.reset(seed=0)
    assert first.shape == (64, 64, 3)
    assert first.dtype == np.uint8
    assert env.observation_space.contains(first)
    for _ in range(15):
        later, *_ = env.step(np.array([1.0, 0.0]))
    assert not np.array_equal(first, later)


def test_an_unknown_rover_task_is_named():
    with pytest.raises(UserError, match="'cave': did you mean 'cove'"):
        RoverEnv("cave")
