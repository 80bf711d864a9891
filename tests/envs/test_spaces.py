"""Reading observations and scaling actions, and what cannot be read or scaled."""

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from skillplan.envs.spaces import ActionScaler, ObservationReader
from skillplan.errors import UserError


def box(*shape, dtype=np.float64):
    return Box(-np.inf, np.inf, shape, dtype)


PAIR = Dict({"a": box(2), "b": box(2, 2)})
IMAGE = Box(0, 255, (64, 64, 3), np.uint8)


def test_explicit_keys_fix_the_order():
    observation = {"a": np.array([1.0, 2.0]), "b": np.array([[3.0, 4.0], [5.0, 6.0]])}
    reader = ObservationReader(PAIR, ("b", "a"), "t")
    assert (reader.keys, reader.sizes, reader.shape) == (("b", "a"), (4, 2), (6,))
    flat = reader.read(observation, 0)
    np.testing.assert_array_equal(flat, [3, 4, 5, 6, 1, 2])
    assert flat.dtype == np.float32


def test_a_box_is_one_piece_and_numbers_become_float32():
    reader = ObservationReader(Box(0, 9, (3,), np.int64), None, "t")
    assert reader.keys == ("observation",)
    flat = reader.read(np.array([1, 2, 3]), 0)
    assert flat.dtype == np.float32
    np.testing.assert_array_equal(flat, [1, 2, 3])


def test_an_image_passes_through():
    reader = ObservationReader(IMAGE, None, "t")
    picture = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    assert reader.pixels
    assert reader.keys == ("image",)
    assert reader.shape == (64, 64, 3)
    np.testing.assert_array_equal(reader.read(picture, 0), picture)


def test_what_is_read_is_a_copy():
    for reader, raw in (
        (ObservationReader(box(2, dtype=np.float32), None, "t"), np.zeros(2, np.float32)),
        (ObservationReader(IMAGE, None, "t"), np.zeros((64, 64, 3), np.uint8)),
    ):
        seen = reader.read(raw, 0)
        raw += 1
        assert not seen.any()


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (Discrete(3), "'observation' is a Discrete space"),
        (Dict({"a": Dict({"b": box(1)})}), "'a' is a Dict space"),
        (Box(0, 255, (84, 84, 3), np.uint8), "image of 84×84×3"),
        (Dict({"a": box(2), "eye": IMAGE}), "'eye' is an image"),
    ],
)
def test_observation_spaces_that_cannot_be_used(space, message):
    with pytest.raises(UserError, match=f"^t: .*{message}"):
        ObservationReader(space, None, "t")


@pytest.mark.parametrize(
    ("observation", "message"),
    [
        ({"a": np.zeros(3), "b": np.zeros((2, 2))}, r"'a' has shape \(3,\) at frame 4 .* says \(2,\)"),
        ({"a": np.zeros(2)}, "'b' is missing at frame 4"),
        ({"a": np.zeros(2), "b": np.array([[0, 0], [0, np.nan]])}, "'b' is not finite at frame 4"),
        ({"a": np.array([0, np.inf]), "b": np.zeros((2, 2))}, "'a' is not finite at frame 4"),
        ({"a": np.array([0, 1e300]), "b": np.zeros((2, 2))}, "'a' is not finite at frame 4"),
    ],
)
def test_observations_that_break_their_promise(observation, message):
    with pytest.raises(UserError, match=message):
        ObservationReader(PAIR, None, "t").read(observation, 4)


def test_actions_are_scaled_to_asymmetric_bounds_and_clipped():
    scaler = ActionScaler(Box(np.array([-1.0, 0.0]), np.array([3.0, 10.0]), dtype=np.float64), "t")
    assert scaler.size == 2
    np.testing.assert_allclose(scaler.to_world(np.array([-1.0, 1.0])), [-1, 10])
    np.testing.assert_allclose(scaler.to_world(np.array([0.0, 0.0])), [1, 5])
    np.testing.assert_allclose(scaler.to_world(np.array([9.0, -9.0])), [3, 0])


def test_symmetric_bounds_change_no_bit():
    action = np.random.default_rng(0).uniform(-1, 1, 50)
    scaler = ActionScaler(Box(-1, 1, (50,), np.float64), "t")
    np.testing.assert_array_equal(scaler.to_world(action), action)


def test_scaled_actions_lie_in_the_space():
    space = Box(np.float32(-0.1), np.float32(0.7), (2, 3), np.float32)
    scaler = ActionScaler(space, "t")
    assert scaler.size == 6
    for action in (np.ones(6), -np.ones(6), np.linspace(-1, 1, 6)):
        assert space.contains(scaler.to_world(action))


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (Discrete(3), "is a Discrete"),
        (Dict({"a": box(1)}), "is a Dict"),
        (Box(0, 3, (1,), np.int64), "is a Box of int64"),
        (box(2), "not bounded"),
    ],
)
def test_action_spaces_that_cannot_be_used(space, message):
    with pytest.raises(UserError, match=f"^t: .*{message}"):
        ActionScaler(space, "t")


@pytest.mark.parametrize("action", [np.zeros(3), np.zeros((1, 2)), np.array([0.0, np.nan])])
def test_wrong_actions_show_their_value(action):
    with pytest.raises(ValueError, match="An action"):
        ActionScaler(Box(-1, 1, (2,)), "t").to_world(action)
