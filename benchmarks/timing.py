"""Timing several functions in turn, so that a noisy machine disturbs all of them alike."""

import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np


def interleaved(
    functions: dict[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of each function over `rounds` rounds, after one warm-up each.

    In a round each function runs twice and the second run counts: the first brings its data back from wherever the
    function before, which may be a hundred times as large, has driven them.
    """
    for function in functions.values():
        jax.block_until_ready(function())
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            jax.block_until_ready(function())
            began = clock()
            jax.block_until_ready(function())
            seconds[name].append(clock() - began)
    return {name: float(np.median(values)) for name, values in seconds.items()}
