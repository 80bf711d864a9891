"""λ-returns and discount weights over one imagined trajectory (Dreamer equation 6)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def lambda_returns(
    reward: Float[Array, " n"], value: Float[Array, " n"], discount: Float[Array, " n"], return_lambda: float
) -> Float[Array, " n-1"]:
    """R_t = r_t + d_t·[(1 − λ)·v_{t+1} + λ·R_{t+1}] for the first N − 1 of N states, with R_N = v_N.

    `reward` and `value` belong to the imagined states 1…N (the start is not one of them);
    `discount` is γ, times the probability that the episode goes on from the state.
    The last reward enters no return: v_N stands for everything from there on.
    """

    def step(following: Array, inputs: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        r, d, next_value = inputs
        following = r + d * ((1 - return_lambda) * next_value + return_lambda * following)
        return following, following

    _, returns = jax.lax.scan(step, value[-1], (reward[:-1], discount[:-1], value[1:]), reverse=True)
    return returns


def discount_weights(discount: Float[Array, " n"], start: Float[Array, ""]) -> Float[Array, " n-1"]:
    """How much each of the N − 1 returns counts: `start`, start·d_1, start·d_1·d_2, … (γ⁰, γ¹, … without terminations).

    `start` is 0 for a start state at which the episode has ended, else 1.
    """
    ones = jnp.ones_like(discount[:1])
    return start * jnp.cumprod(jnp.concatenate([ones, discount[:-2]]))
