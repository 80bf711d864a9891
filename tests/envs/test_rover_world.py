"""The rover's physics against hand-computed truths."""

import numpy as np
import pytest

from skillplan.envs.rover import world
from skillplan.envs.rover.layouts import cove_centres

FORWARD, TURN, REST = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2)


def started(obstacles=(), yaw=0.0):
    centres = np.array(obstacles, float).reshape(-1, 2)
    rover = world.RoverWorld(max(len(centres), 1))
    rover.reset(centres, yaw)
    return rover


def place(rover, x, y, yaw):
    rover._data.qpos[:] = x, y, yaw


def expected_rays(x, y, yaw, centres):
    """Distances by the quadratic formula, one ray and one obstacle at a time."""
    distances = []
    for i in range(12):
        angle = yaw + i * np.pi / 6
        direction = np.array([np.cos(angle), np.sin(angle)])
        hits = [3.0]
        for along, start in zip(direction, (x, y), strict=True):
            if abs(along) > 1e-9:
                hits.append((np.sign(along) * 3.5 - start) / along)
        for centre in centres:
            offset = centre - np.array([x, y])
            middle = offset @ direction
            inside = middle**2 - offset @ offset + 0.16**2
            if inside > 0 and middle > 0:
                hits.append(middle - np.sqrt(inside))
        distances.append(min(hits))
    return np.array(distances)


def test_terminal_velocity_is_thrust_over_damping():
    rover = started(yaw=0.7)
    for _ in range(25):
        rover.advance(FORWARD)
    motion = rover.motion()
    assert motion.forward_speed == pytest.approx(1.0, abs=1e-3)
    assert motion.sideways_speed == pytest.approx(0.0, abs=1e-9)
    assert np.arctan2(motion.y, motion.x) == pytest.approx(0.7, abs=1e-6)


def test_speed_after_one_frame_follows_the_time_constant():
    rover = started()
    rover.advance(FORWARD)
    # Implicit damping in five substeps: 1 - (1 + dt d / m)^-5 with dt d / m = 0.02 / 0.3.
    assert rover.motion().forward_speed == pytest.approx(1 - (1 + 0.02 / 0.3) ** -5, abs=1e-6)


def test_terminal_yaw_rate_is_torque_over_damping():
    rover = started()
    for _ in range(25):
        rover.advance(TURN)
    assert rover.motion().yaw_rate == pytest.approx(2.0, abs=1e-3)
    assert rover.motion().forward_speed == pytest.approx(0.0, abs=1e-9)


def test_thrust_turns_with_the_body():
    rover = started(yaw=np.pi / 2)
    rover.advance(FORWARD)
    motion = rover.motion()
    assert motion.y > 0.01
    assert motion.x == pytest.approx(0.0, abs=1e-9)


def test_actions_are_clipped():
    calm, wild = started(), started()
    calm.advance(np.array([1.0, -1.0]))
    wild.advance(np.array([50.0, -9.0]))
    assert calm.motion() == wild.motion()


def test_an_obstacle_stops_the_rover_where_the_two_circles_touch():
    rover = started([(1.0, 0.0)])
    for _ in range(60):
        rover.advance(FORWARD)
    motion = rover.motion()
    assert motion.x == pytest.approx(1.0 - 0.15 - 0.16, abs=0.005)
    assert motion.yaw == pytest.approx(0.0, abs=1e-9)


def test_an_obstacle_deflects_without_turning_the_rover():
    rover = started([(1.0, 0.1)])
    for _ in range(40):
        rover.advance(FORWARD)
    motion = rover.motion()
    assert motion.y < -0.15
    assert motion.x > 1.0
    assert motion.yaw == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("yaw", [0.0, np.pi / 2, np.pi, -np.pi / 2])
def test_every_wall_stops_the_rover(yaw):
    rover = started(yaw=yaw)
    for _ in range(60):
        rover.advance(FORWARD)
    motion = rover.motion()
    assert max(abs(motion.x), abs(motion.y)) == pytest.approx(3.5 - 0.15, abs=0.005)


def test_no_gap_of_the_cove_lets_the_rover_through():
    for yaw in np.linspace(-0.6, 0.6, 9):
        rover = started(cove_centres(), yaw)
        for _ in range(80):
            rover.advance(FORWARD)
        assert rover.motion().x < 1.2


def test_rays_measure_a_wall_and_a_cylinder():
    rover = started([(0.0, 2.0)])
    place(rover, 1.5, 0.0, 0.0)
    rays = rover.rays()
    assert rays[0] == pytest.approx(2.0)  # the wall at 3.5
    assert rays[6] == pytest.approx(3.0)  # nothing behind within reach
    place(rover, 0.0, 0.0, np.pi / 2)
    assert rover.rays()[0] == pytest.approx(2.0 - 0.16)
    assert rover.rays()[3] == pytest.approx(3.0)


def test_rays_equal_the_quadratic_formula():
    rng = np.random.default_rng(0)
    centres = rng.uniform(-3, 3, (11, 2))
    rover = started(centres)
    checked = 0
    while checked < 100:
        x, y, yaw = rng.uniform(-3.3, 3.3), rng.uniform(-3.3, 3.3), rng.uniform(-9, 9)
        if np.hypot(*(centres - (x, y)).T).min() < 0.31:
            continue  # inside an obstacle
        place(rover, x, y, yaw)
        np.testing.assert_allclose(rover.rays(), expected_rays(x, y, yaw, centres), atol=1e-9)
        checked += 1


def test_reset_forgets_everything():
    fresh, used = started([(1.0, 0.0)]), started([(0.5, 0.0)])
    for _ in range(30):
        used.advance(FORWARD)
    used.reset(np.array([[1.0, 0.0]]), 0.0)
    for _ in range(30):
        fresh.advance(FORWARD)
        used.advance(FORWARD)
    assert fresh.motion() == used.motion()
    np.testing.assert_array_equal(fresh.rays(), used.rays())
