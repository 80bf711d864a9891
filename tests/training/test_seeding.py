import itertools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest

from skillplan.errors import UserError
from skillplan.training.seeding import LIMIT, MEASURING, Stream, environment_seed, generator, key

TRIPLES = list(itertools.product((0, 1, 5, 6, LIMIT - 1), Stream, (0, 1, 5, 6, LIMIT - 1)))
TRAINING = [stream for stream in Stream if stream not in MEASURING]


def _key_numbers(seed: int, stream: Stream, counter: int) -> tuple[int, ...]:
    return tuple(jax.random.key_data(key(seed, stream, counter)).tolist())


def test_keys_are_typed_scalars() -> None:
    made = key(0, Stream.COLLECT)
    assert jnp.issubdtype(made.dtype, jax.dtypes.prng_key)
    assert made.shape == ()


def test_no_two_draws_share_a_key() -> None:
    assert len({_key_numbers(*triple) for triple in TRIPLES}) == len(TRIPLES)


def test_no_two_draws_share_a_generator() -> None:
    drawn = {generator(*triple).bytes(16) for triple in TRIPLES}
    assert len(drawn) == len(TRIPLES)


def test_the_same_draw_comes_again() -> None:
    assert _key_numbers(3, Stream.UPDATE, 4) == _key_numbers(3, Stream.UPDATE, 4)
    assert generator(3, Stream.REPLAY, 4).bytes(16) == generator(3, Stream.REPLAY, 4).bytes(16)
    assert environment_seed(3, Stream.ENVIRONMENT_TRAIN, 4) == environment_seed(3, Stream.ENVIRONMENT_TRAIN, 4)


def test_a_new_release_draws_what_the_last_one_drew() -> None:
    # Written down once: should these change, no earlier run can be resumed or repeated.
    assert _key_numbers(3, Stream.UPDATE, 4) == (1764340271, 3429389848)
    assert generator(3, Stream.REPLAY, 4).integers(2**31, size=3).tolist() == [612726458, 446992856, 479071695]
    assert environment_seed(3, Stream.ENVIRONMENT_TRAIN, 4) == 1000040014
    assert environment_seed(3, Stream.ENVIRONMENT_EVALUATE, 4) == 1611203365


def test_keys_do_not_depend_on_the_precision() -> None:
    narrow = _key_numbers(LIMIT - 1, Stream.UPDATE, LIMIT - 1)
    with jax.enable_x64(True):
        assert _key_numbers(LIMIT - 1, Stream.UPDATE, LIMIT - 1) == narrow


def test_streams_have_fixed_numbers() -> None:
    assert {stream.name: int(stream) for stream in Stream} == {
        "INITIAL_PARAMETERS": 0,
        "SEED_EPISODES": 1,
        "COLLECT": 2,
        "REPLAY": 3,
        "UPDATE": 4,
        "EVALUATE": 5,
        "SKILL_DISPLACEMENT": 6,
        "ENVIRONMENT_TRAIN": 7,
        "ENVIRONMENT_EVALUATE": 8,
    }


@pytest.mark.parametrize("stream", TRAINING)
def test_training_seeds_depend_on_the_run_and_stay_in_the_lower_half(stream: Stream) -> None:
    seeds = [environment_seed(seed, stream, counter) for seed in range(20) for counter in range(50)]
    assert all(0 <= seed < 2**30 for seed in seeds)
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("stream", sorted(MEASURING))
def test_measuring_seeds_ignore_the_run_and_stay_in_the_upper_half(stream: Stream) -> None:
    seeds = [environment_seed(0, stream, counter) for counter in range(500)]
    assert all(2**30 <= seed < 2**31 for seed in seeds)
    assert len(set(seeds)) == len(seeds)
    assert seeds[:20] == [environment_seed(123, stream, counter) for counter in range(20)]


@pytest.mark.parametrize("draw", [key, generator, environment_seed])
@pytest.mark.parametrize("seed", [-1, LIMIT])
def test_a_seed_out_of_range_is_told_to_the_person(draw: Callable[..., object], seed: int) -> None:
    with pytest.raises(UserError, match=f"from 0 to 4294967295, not {seed}"):
        draw(seed, Stream.COLLECT, 0)


@pytest.mark.parametrize("draw", [key, generator, environment_seed])
@pytest.mark.parametrize("counter", [-1, LIMIT])
def test_a_counter_out_of_range_is_an_error(draw: Callable[..., object], counter: int) -> None:
    with pytest.raises(ValueError, match="counter"):
        draw(0, Stream.COLLECT, counter)
