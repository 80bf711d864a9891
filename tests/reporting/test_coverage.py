"""Coverage counts what was played: cells entered, the wall passed, the target reached."""

import csv

import numpy as np
import pytest

from reporting.made import make_run
from skillplan.replay.episode import Episode, save
from skillplan.reporting.coverage import coverage, export


def episode(path: list[tuple[float, float]], reward: list[float]) -> Episode:
    length = len(path)
    is_first = np.zeros(length, bool)
    is_first[0] = True
    return Episode(
        observation=np.zeros((length, 1), np.float32),
        action=np.zeros((length, 1), np.float32),
        reward=np.array(reward, np.float32),
        is_first=is_first,
        is_terminal=np.zeros(length, bool),
        frames=length - 1,
        record={"position": np.array(path)[:, None]},
    )


def test_it_adds_up_what_the_episodes_did() -> None:
    stays = episode([(0.0, 0.0), (0.1, 0.1), (0.1, -0.1)], [0, 0, 0])  # two cells
    arrives = episode([(0.0, 0.0), (0.3, 0.0), (1.3, 0.0)], [0, 0, 1])  # three, one of them known
    result = coverage([stays, arrives, stays], wall=1.2)
    assert (result.episodes, result.hits, result.first_hit, result.past_wall, result.cells) == (3, 1, 2, 1, 4)
    assert result.cells_per_episode == pytest.approx(7 / 3)


def test_without_a_wall_none_is_passed() -> None:
    result = coverage([episode([(0.0, 0.0), (9.0, 0.0)], [0, 0])], wall=None)
    assert result.past_wall is None
    assert result.hits == 0
    assert result.first_hit is None


@pytest.mark.parametrize(("limit", "counted", "hits"), [(None, 3, 2), (2, 2, 1), (9, 3, 2)])
def test_runs_are_compared_over_as_many_episodes(tmp_path, limit, counted, hits):
    make_run(tmp_path / "lsp-0")
    for number, reward in enumerate([0.0, 1.0, 1.0]):
        save(episode([(0.0, 0.0), (0.3, 0.0)], [0, reward]), tmp_path / "lsp-0" / "episodes", number)
    export(tmp_path / "coverage.csv", [tmp_path / "lsp-0"], limit)
    with (tmp_path / "coverage.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["run"], int(row["episodes"]), int(row["hits"])) == ("lsp-0", counted, hits)
