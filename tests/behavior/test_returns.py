"""λ-returns and their weights by hand and by the recursion they are defined by."""

import jax.numpy as jnp
import numpy as np
import pytest

from skillplan.behavior.returns import discount_weights, lambda_returns

REWARD, VALUE = np.array([1.0, 2.0, 3.0, 99.0]), np.array([50.0, 4.0, -2.0, 8.0])
GAMMA = np.full(4, 0.5)


def returns(reward, value, discount, lam):
    return lambda_returns(*(jnp.asarray(x, jnp.float32) for x in (reward, value, discount)), lam)


def brute_force(reward, value, discount, lam):
    def at(t):
        if t == len(reward) - 1:
            return value[-1]
        return reward[t] + discount[t] * ((1 - lam) * value[t + 1] + lam * at(t + 1))

    return [at(t) for t in range(len(reward) - 1)]


def test_lambda_zero_is_one_reward_and_the_next_value():
    np.testing.assert_allclose(returns(REWARD, VALUE, GAMMA, 0.0), [1 + 2, 2 - 1, 3 + 4])


def test_lambda_one_is_all_rewards_and_the_last_value():
    # The last reward, 99, and the first value, 50, are in no return.
    np.testing.assert_allclose(returns(REWARD, VALUE, GAMMA, 1.0), [1 + 1 + 0.75 + 1, 2 + 1.5 + 2, 3 + 4])


def test_three_states_by_hand():
    # R_2 = −1 + 0.9·3 = 1.7;  R_1 = −2 + 0.9·(0.5·(−4) + 0.5·1.7) = −3.035
    actual = returns([-2.0, -1.0, 7.0], [6.0, -4.0, 3.0], [0.9, 0.9, 0.9], 0.5)
    np.testing.assert_allclose(actual, [-3.035, 1.7], rtol=1e-6)


def test_nothing_follows_a_termination():
    # The second state ends the episode: its return is its reward, whatever the values after it.
    np.testing.assert_allclose(
        returns(REWARD, VALUE, [0.5, 0.0, 0.5, 0.5], 0.95), [1 + 0.5 * (0.05 * 4 + 0.95 * 2), 2, 3 + 4], rtol=1e-6
    )


@pytest.mark.parametrize("lam", [0.0, 0.3, 0.95, 1.0])
def test_the_recursion(lam):
    draws = np.random.default_rng(0)
    reward, value = draws.normal(-5, 3, 9), draws.normal(-20, 5, 9)
    discount = draws.uniform(0, 1, 9)
    np.testing.assert_allclose(
        returns(reward, value, discount, lam), brute_force(reward, value, discount, lam), rtol=1e-5
    )


def test_weights_are_powers_of_gamma():
    np.testing.assert_allclose(discount_weights(jnp.full(5, 0.9), jnp.ones(())), [1, 0.9, 0.81, 0.729], rtol=1e-6)


def test_two_states_have_one_weight():
    np.testing.assert_array_equal(discount_weights(jnp.full(2, 0.9), jnp.ones(())), [1])


def test_an_ended_start_has_no_weight():
    np.testing.assert_array_equal(discount_weights(jnp.full(5, 0.9), jnp.zeros(())), np.zeros(4))


def test_weights_count_how_likely_it_is_to_get_there():
    np.testing.assert_allclose(discount_weights(jnp.array([0.5, 0.0, 0.7, 0.7]), jnp.ones(())), [1, 0.5, 0], rtol=1e-6)
