import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skillplan.errors import UserError
from skillplan.replay.episode import Episode, load, save

MakeEpisode = Callable[..., Episode]


def _with(episode: Episode, name: str, index: int, value: float) -> dict[str, Any]:
    array = getattr(episode, name).copy()
    array[index] = value
    return {name: array}


def _assert_equal(ours: Episode, theirs: Episode) -> None:
    for name in ("observation", "action", "reward", "is_first", "is_terminal"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()
    assert ours.frames == theirs.frames
    assert ours.record.keys() == theirs.record.keys()
    for name, array in ours.record.items():
        assert array.dtype == theirs.record[name].dtype
        assert array.tobytes() == theirs.record[name].tobytes()


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("action", 0, 0.5, "nothing led to a reset"),
        ("reward", 0, 1.0, "a reset pays nothing"),
        ("is_first", 0, False, "must be True at index 0 alone"),
        ("is_first", 3, True, "must be True at index 0 alone"),
        ("is_terminal", 3, True, "only at the last index"),
        ("reward", 3, np.nan, "not finite at index 3"),
        ("reward", 2, -np.inf, "not finite at index 2"),
        ("action", 1, np.nan, "not finite at index 1"),
        ("observation", 4, np.inf, "not finite at index 4"),
    ],
)
def test_a_step_that_cannot_have_happened_is_refused_by_name(
    make_episode: MakeEpisode, name: str, index: int, value: float, message: str
) -> None:
    episode = make_episode(6)
    with pytest.raises(ValueError, match=f"'{name}'.*{message}"):
        dataclasses.replace(episode, **_with(episode, name, index, value))


@pytest.mark.parametrize("name", ["action", "reward", "is_first", "is_terminal"])
def test_arrays_of_different_length_are_refused_by_name(make_episode: MakeEpisode, name: str) -> None:
    episode = make_episode(6)
    with pytest.raises(ValueError, match=f"'{name}'.*beside 6 observations"):
        dataclasses.replace(episode, **{name: getattr(episode, name)[:-1]})


@pytest.mark.parametrize("name", ["observation", "action", "reward"])
def test_double_precision_is_refused_by_name(make_episode: MakeEpisode, name: str) -> None:
    episode = make_episode(6)
    with pytest.raises(ValueError, match=f"'{name}' is float64"):
        dataclasses.replace(episode, **{name: getattr(episode, name).astype(np.float64)})


def test_a_column_of_rewards_is_refused(make_episode: MakeEpisode) -> None:
    episode = make_episode(6)
    with pytest.raises(ValueError, match=r"'reward' has shape \(6, 1\)"):
        dataclasses.replace(episode, reward=episode.reward[:, None])


def test_records_are_checked_too(make_episode: MakeEpisode) -> None:
    episode = make_episode(6)
    with pytest.raises(ValueError, match="'record/position'"):
        dataclasses.replace(episode, record={"position": episode.record["position"][1:]})
    with pytest.raises(ValueError, match="'record/position'.*not numbers"):
        dataclasses.replace(episode, record={"position": np.array([None] * 6)})


def test_an_episode_has_at_least_one_step_of_at_least_one_frame(make_episode: MakeEpisode) -> None:
    with pytest.raises(ValueError, match="'observation' has length 1"):
        make_episode(1)
    with pytest.raises(ValueError, match="'frames' is 4, fewer than 5"):
        dataclasses.replace(make_episode(6), frames=4)


@pytest.mark.parametrize("pixels", [False, True])
def test_the_round_trip_is_bit_equal(make_episode: MakeEpisode, tmp_path: Path, pixels: bool) -> None:
    episode = make_episode(7, begin=40, pixels=pixels, terminal=True)
    unusual = np.array([np.nan, -0.0, np.inf, 1e-45, 0, 1, 2], np.float32)
    episode.record.update(skill=unusual, counts=np.arange(7), flags=np.ones((7, 2), bool))
    path = save(episode, tmp_path / "episodes", 12)
    assert path == tmp_path / "episodes" / "000012-7.npz"
    _assert_equal(load(path), episode)


def test_the_file_is_plain_numpy_without_compression(make_episode: MakeEpisode, tmp_path: Path) -> None:
    path = save(make_episode(50, pixels=True), tmp_path, 0)
    with np.load(path, allow_pickle=False) as archive:
        assert "record/position" in archive.files
    assert path.stat().st_size > 50 * 4 * 4 * 3


def test_an_interrupted_write_leaves_nothing_behind(
    make_episode: MakeEpisode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = np.lib.format.write_array

    def fail_at_reward(fp: Any, array: np.ndarray, *args: Any, **kwargs: Any) -> None:
        if array.ndim == 1:
            raise KeyboardInterrupt
        write(fp, array, *args, **kwargs)

    before = save(make_episode(5), tmp_path, 0)
    contents = before.read_bytes()
    monkeypatch.setattr(np.lib.format, "write_array", fail_at_reward)
    for index in (0, 1):
        with pytest.raises(KeyboardInterrupt):
            save(make_episode(5, begin=9), tmp_path, index)
    assert list(tmp_path.iterdir()) == [before]
    assert before.read_bytes() == contents


def test_the_name_appears_only_on_a_whole_file(
    make_episode: MakeEpisode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def killed(source: Path, target: Path) -> None:
        sizes.append(Path(source).stat().st_size)
        assert Path(source).parent == Path(target).parent
        assert not Path(target).exists()
        raise OSError("killed")

    monkeypatch.setattr("os.replace", killed)
    with pytest.raises(OSError, match="killed"):
        save(make_episode(5), tmp_path, 0)
    monkeypatch.undo()
    assert save(make_episode(5), tmp_path, 0).stat().st_size == sizes[0]


def test_a_damaged_file_is_named_with_the_remedy(make_episode: MakeEpisode, tmp_path: Path) -> None:
    path = save(make_episode(5), tmp_path, 3)
    whole = path.read_bytes()
    for contents in (b"", b"not an archive", whole[: len(whole) // 2], whole[: len(whole) - 10]):
        path.write_bytes(contents)
        with pytest.raises(UserError, match="000003-5.npz is damaged.*restore it from a copy"):
            load(path)
    path.unlink()
    with pytest.raises(UserError, match="000003-5.npz is missing"):
        load(path)


def test_altered_bytes_never_pass_for_another_episode(make_episode: MakeEpisode, tmp_path: Path) -> None:
    episode = make_episode(5)
    path = save(episode, tmp_path, 0)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.permutation(len(whole))[:600]:
        altered = bytearray(whole)
        altered[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(altered)
        try:
            _assert_equal(load(path), episode)
        except UserError:
            refused += 1
    assert refused > 300


def test_an_archive_of_other_arrays_is_damaged(make_episode: MakeEpisode, tmp_path: Path) -> None:
    path = tmp_path / "000000-2.npz"
    np.savez(path, frames=1, reward=np.zeros(2, np.float32))
    with pytest.raises(UserError, match="damaged.*observation"):
        load(path)
    arrays: dict[str, Any] = vars(make_episode(2)) | {"record": np.zeros(2)}
    np.savez(path, **arrays)
    with pytest.raises(UserError, match="damaged.*no episode has arrays named record"):
        load(path)


def test_pickled_objects_are_not_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "000000-2.npz", observation=np.array([{}, {}]))
    with pytest.raises(UserError, match="damaged"):
        load(tmp_path / "000000-2.npz")
