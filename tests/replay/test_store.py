from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError
from skillplan.replay.episode import Episode
from skillplan.replay.store import ReplayStore
from skillplan.types import Batch

MakeEpisode = Callable[..., Episode]


def _allowed_starts(lengths: list[int], window: int) -> list[int]:
    """The rule in plain words, on a stream of episodes: where in the stream a window may start."""
    allowed, begin, total = [], 0, sum(lengths)
    for length in lengths:
        if length >= window:
            allowed += range(begin, begin + length - window + 1)
        elif begin + window <= total:
            allowed.append(begin)
        begin += length
    return allowed


def _filled(
    store: ReplayStore, make_episode: MakeEpisode, lengths: list[int], *, pixels: bool = False
) -> list[Episode]:
    """Add episodes whose steps are numbered through, and return those that the rule of eviction keeps."""
    kept: list[Episode] = []
    begin = 0
    for length in lengths:
        kept.append(make_episode(length, begin, pixels=pixels, terminal=length % 2 == 0))
        begin += length
        store.add(kept[-1])
        while sum(episode.length for episode in kept) > store.capacity:
            kept.pop(0)
        assert store.steps == sum(episode.length for episode in kept)
        assert store.episodes == len(kept)
    return kept


def _starts_in(batch: Batch, kept: list[Episode]) -> list[int]:
    """Where in the stream of kept episodes each window starts, after comparing every step of every array with it."""
    stream = {name: np.concatenate([getattr(episode, name) for episode in kept]) for name in Batch._fields}
    flat = stream["observation"].reshape(len(stream["reward"]), -1)
    starts = []
    for row in range(len(batch.reward)):
        first = np.asarray(batch.observation[row, 0]).reshape(-1)
        (start,) = np.flatnonzero((flat == first).all(axis=1))
        for name in Batch._fields:
            window = np.asarray(getattr(batch, name)[row])
            expected = stream[name][start : start + len(window)]
            assert window.dtype == expected.dtype
            np.testing.assert_array_equal(window, expected)
        starts.append(int(start))
    return starts


STREAMS = {
    "one episode": (100, [12], 5),
    "exactly one window": (100, [5], 5),
    "several": (100, [12, 7, 9], 5),
    "short ones between": (100, [12, 3, 9, 2, 2, 8], 5),
    "a short one last": (100, [12, 8, 3], 5),
    "short ones last, the first long enough together": (100, [9, 3, 2], 5),
    "only short ones": (100, [2, 3, 2, 4, 3], 6),
    "full to the last step": (20, [12, 8], 5),
    "wrapped": (30, [12, 8, 11, 7, 12], 5),
    "wrapped many times": (31, [9, 4, 12, 3, 8] * 9, 6),
    "as long as the ring": (12, [7, 12], 12),
    "windows of one step": (20, [4, 6], 1),
}


@pytest.mark.parametrize("name", STREAMS)
def test_windows_are_exactly_the_allowed_ones_equally_often(
    spec: EnvSpec, make_episode: MakeEpisode, name: str
) -> None:
    capacity, lengths, window = STREAMS[name]
    store = ReplayStore(spec, capacity)
    kept = _filled(store, make_episode, lengths)
    allowed = _allowed_starts([episode.length for episode in kept], window)
    draws = 200 * len(allowed)
    counts = Counter(_starts_in(store.sample(np.random.default_rng(0), draws, window), kept))
    assert set(counts) == set(allowed)
    # Five standard deviations above the mean of a chi-square with as many degrees of freedom.
    chi_square = sum((counts[start] - 200) ** 2 / 200 for start in allowed)
    freedom = len(allowed) - 1
    assert chi_square <= freedom + 5 * np.sqrt(2 * freedom)


def test_random_streams_are_sampled_by_the_rule(spec: EnvSpec, make_episode: MakeEpisode) -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        capacity = int(rng.integers(10, 40))
        lengths = rng.integers(2, 11, rng.integers(1, 14)).tolist()
        window = int(rng.integers(1, 13))
        store = ReplayStore(spec, capacity)
        kept = _filled(store, make_episode, lengths)
        allowed = _allowed_starts([episode.length for episode in kept], window)
        if allowed:
            assert set(_starts_in(store.sample(rng, 500, window), kept)) == set(allowed)
        else:
            with pytest.raises(UserError, match="Replay holds"):
                store.sample(rng, 1, window)


def test_a_new_episode_is_drawn_at_once(spec: EnvSpec, make_episode: MakeEpisode) -> None:
    store = ReplayStore(spec, 40)
    kept = []
    for count in range(9):
        kept = [*kept, make_episode(8, 8 * count)][-5:]
        store.add(kept[-1])
        starts = _starts_in(store.sample(np.random.default_rng(count), 400, 6), kept)
        assert set(starts) == set(_allowed_starts([8] * len(kept), 6))


def test_draws_depend_on_the_stream_and_not_on_where_the_ring_wrapped(spec: EnvSpec, make_episode: MakeEpisode) -> None:
    wrapped, fresh = ReplayStore(spec, 30), ReplayStore(spec, 30)
    for episode in _filled(wrapped, make_episode, [12, 8, 11, 7, 4, 12]):
        fresh.add(episode)
    for one, other in zip(
        wrapped.sample(np.random.default_rng(3), 50, 5), fresh.sample(np.random.default_rng(3), 50, 5), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_many_is_one_after_another(spec: EnvSpec, make_episode: MakeEpisode) -> None:
    store = ReplayStore(spec, 30)
    _filled(store, make_episode, [12, 8, 11, 7])
    many = store.sample_many([np.random.default_rng([7, n]) for n in range(4)], 5, 6)
    assert many.observation.shape == (4, 5, 6, 2)
    assert many.action.shape == (4, 5, 6, 3)
    assert many.reward.shape == many.is_first.shape == many.is_terminal.shape == (4, 5, 6)
    for n in range(4):
        for row, alone in zip(many, store.sample(np.random.default_rng([7, n]), 5, 6), strict=True):
            np.testing.assert_array_equal(row[n], alone)


def test_a_batch_is_not_a_view_of_the_ring(spec: EnvSpec, make_episode: MakeEpisode) -> None:
    store = ReplayStore(spec, 12)
    store.add(make_episode(12))
    batch = store.sample(np.random.default_rng(0), 3, 12)
    before = np.array(batch.reward)
    store.add(make_episode(12, 100))
    np.testing.assert_array_equal(batch.reward, before)


@pytest.mark.parametrize("pixels", [False, True])
def test_files_hold_what_memory_holds(
    spec: EnvSpec, pixel_spec: EnvSpec, make_episode: MakeEpisode, tmp_path: Path, pixels: bool
) -> None:
    chosen = pixel_spec if pixels else spec
    memory, files = ReplayStore(chosen, 30), ReplayStore(chosen, 30, tmp_path / "scratch")
    kept = _filled(memory, make_episode, [12, 8, 11, 7, 12], pixels=pixels)
    _filled(files, make_episode, [12, 8, 11, 7, 12], pixels=pixels)
    one, other = (store.sample(np.random.default_rng(0), 80, 5) for store in (memory, files))
    assert set(_starts_in(one, kept)) == set(_allowed_starts([episode.length for episode in kept], 5))
    for a, b in zip(one, other, strict=True):
        assert type(b) is np.ndarray
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert one.observation.dtype == (np.uint8 if pixels else np.float32)
    assert memory.nbytes == files.nbytes


def test_files_are_scratch(spec: EnvSpec, make_episode: MakeEpisode, tmp_path: Path) -> None:
    first = ReplayStore(spec, 30, tmp_path)
    first.add(make_episode(12))
    second = ReplayStore(spec, 20, tmp_path)
    assert (second.steps, second.episodes) == (0, 0)
    # The earlier store keeps its own files until it goes.
    first.add(make_episode(12, 12))
    assert first.sample(np.random.default_rng(0), 3, 5).reward.shape == (3, 5)


def test_a_disk_without_room_is_refused_beforehand(pixel_spec: EnvSpec, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"Replay needs .* TB in .* are free; lower `--replay.max-frames`"):
        ReplayStore(pixel_spec, 10**14, tmp_path)


def test_an_episode_longer_than_the_ring_is_refused_and_changes_nothing(
    spec: EnvSpec, make_episode: MakeEpisode
) -> None:
    store = ReplayStore(spec, 10)
    kept = _filled(store, make_episode, [9])
    with pytest.raises(UserError, match=r"episode of 11 steps .* replay of 10; raise `--replay.max-frames`"):
        store.add(make_episode(11, 9))
    assert (store.steps, store.episodes) == (9, 1)
    assert set(_starts_in(store.sample(np.random.default_rng(0), 50, 8), kept)) == {0, 1}


def test_too_few_steps_are_told_in_numbers(spec: EnvSpec, make_episode: MakeEpisode) -> None:
    store = ReplayStore(spec, 100)
    with pytest.raises(UserError, match="holds 0 steps in 0 episodes, but a training sequence needs 5"):
        store.sample(np.random.default_rng(0), 1, 5)
    store.add(make_episode(3))
    with pytest.raises(UserError, match="holds 3 steps in 1 episodes, but a training sequence needs 5"):
        store.sample_many([np.random.default_rng(0)], 1, 5)


def test_an_episode_of_another_world_is_refused(spec: EnvSpec, pixel_spec: EnvSpec, make_episode: MakeEpisode) -> None:
    with pytest.raises(ValueError, match="'observation' is uint8"):
        ReplayStore(spec, 10).add(make_episode(5, pixels=True))
    with pytest.raises(ValueError, match="'observation' is float32"):
        ReplayStore(pixel_spec, 10).add(make_episode(5))


def test_impossible_requests_are_errors(spec: EnvSpec, make_episode: MakeEpisode) -> None:
    store = ReplayStore(spec, 10)
    store.add(make_episode(5))
    for batch, length in ((0, 5), (1, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            store.sample(np.random.default_rng(0), batch, length)
    with pytest.raises(ValueError, match="at least one generator"):
        store.sample_many([], 1, 5)
    with pytest.raises(UserError, match="cannot hold 0 steps"):
        ReplayStore(spec, 0)


@pytest.mark.parametrize(("lengths", "starts"), [([13, 9], [0, 4, 8, 13, 17]), ([12, 6], [0, 4, 8, 12])])
def test_with_a_stride_windows_begin_at_its_multiples(
    spec: EnvSpec, make_episode: MakeEpisode, lengths: list[int], starts: list[int]
) -> None:
    # Wherever an action follows: step 12 of 13 is the episode's last. The second episode's last windows would run
    # over the end of what is stored, or fit exactly.
    store = ReplayStore(spec, 40)
    kept = _filled(store, make_episode, lengths)
    drawn = store.sample(np.random.default_rng(0), 400, 5, 4)
    assert set(_starts_in(drawn, kept)) == set(starts)
    assert drawn.reward.shape == (400, 5)
