from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from skillplan.envs.interface import EnvSpec
from skillplan.errors import UserError
from skillplan.replay.episode import Episode, load, save
from skillplan.replay.restore import episode_files, refill, truncate
from skillplan.replay.store import ReplayStore

MakeEpisode = Callable[..., Episode]


def _run(make_episode: MakeEpisode, directory: Path, lengths: list[int]) -> list[Path]:
    return [save(make_episode(n, sum(lengths[:index])), directory, index) for index, n in enumerate(lengths)]


def test_files_come_in_the_order_of_play(make_episode: MakeEpisode, tmp_path: Path) -> None:
    paths = [save(make_episode(5), tmp_path, index) for index in (2, 1_000_000, 0, 999_999, 10)]
    (tmp_path / "notes.txt").write_text("not an episode")
    (tmp_path / "000003-5.npz.partial").write_text("not to the end")
    assert episode_files(tmp_path) == [paths[n] for n in (2, 0, 4, 3, 1)]


def test_a_run_without_a_directory_has_no_episodes(tmp_path: Path) -> None:
    assert episode_files(tmp_path / "none") == []
    assert truncate(tmp_path / "none", 0) == []


def test_two_episodes_of_one_index_are_refused(make_episode: MakeEpisode, tmp_path: Path) -> None:
    save(make_episode(5), tmp_path, 0)
    save(make_episode(6), tmp_path, 0)
    with pytest.raises(UserError, match=r"two episodes 0, 000000-5.npz and 000000-6.npz"):
        episode_files(tmp_path)


@pytest.mark.parametrize("episodes", [0, 2, 4])
def test_truncate_keeps_the_first_ones_and_nothing_else(
    make_episode: MakeEpisode, tmp_path: Path, episodes: int
) -> None:
    paths = _run(make_episode, tmp_path, [5, 6, 7, 8])
    notes = tmp_path / "notes.txt"
    notes.write_text("somebody's")
    (tmp_path / "000004-9.npz.partial").write_bytes(b"half")
    assert truncate(tmp_path, episodes) == paths[:episodes]
    assert set(tmp_path.iterdir()) == {notes, *paths[:episodes]}


def test_truncate_names_the_first_missing_one_and_deletes_nothing(make_episode: MakeEpisode, tmp_path: Path) -> None:
    paths = _run(make_episode, tmp_path, [5, 6, 7, 8, 5])
    paths.pop(1).unlink()
    paths.pop(1).unlink()
    with pytest.raises(UserError, match="Episode 1 is missing from .* the first 4"):
        truncate(tmp_path, 4)
    assert set(tmp_path.iterdir()) == set(paths)


def test_a_run_shorter_than_its_checkpoint_is_refused(make_episode: MakeEpisode, tmp_path: Path) -> None:
    _run(make_episode, tmp_path, [5, 6])
    with pytest.raises(UserError, match="Episode 2 is missing"):
        truncate(tmp_path, 3)


@pytest.mark.parametrize(
    "lengths", [[5], [9, 4, 12, 3, 8], [9, 4, 12, 3, 8, 30, 2], [9, 4, 12, 3, 8] * 4, [10, 10, 10]]
)
def test_a_refilled_store_draws_what_the_first_one_drew(
    spec: EnvSpec, make_episode: MakeEpisode, tmp_path: Path, lengths: list[int]
) -> None:
    files = _run(make_episode, tmp_path, lengths)
    played, refilled = ReplayStore(spec, 30), ReplayStore(spec, 30)
    for path in files:
        played.add(load(path))
    refill(refilled, files)
    assert (refilled.steps, refilled.episodes) == (played.steps, played.episodes)
    for one, other in zip(
        played.sample(np.random.default_rng(0), 64, 2), refilled.sample(np.random.default_rng(0), 64, 2), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_refilling_reads_only_what_fits(spec: EnvSpec, make_episode: MakeEpisode, tmp_path: Path) -> None:
    files = _run(make_episode, tmp_path, [10, 10, 10, 10])
    files[0].write_bytes(b"damaged, but long gone from the ring")
    store = ReplayStore(spec, 30)
    refill(store, files)
    assert store.episodes == 3
    with pytest.raises(ValueError, match="holds 3 episodes"):
        refill(store, files)


def test_refilling_nothing_is_fine(spec: EnvSpec) -> None:
    store = ReplayStore(spec, 30)
    refill(store, [])
    assert store.episodes == 0


def test_a_last_episode_that_does_not_fit_is_refused(spec: EnvSpec, make_episode: MakeEpisode, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="raise `--replay.max-frames`"):
        refill(ReplayStore(spec, 10), _run(make_episode, tmp_path, [5, 12]))
