"""Trajectories: paths, nodes, targets and what is said of what is missing."""

import numpy as np
import pytest

from reporting.made import episode, fresh_run, make_run, store
from skillplan.cli.main import main
from skillplan.envs.rover.env import TARGET
from skillplan.errors import UserError
from skillplan.replay.episode import save
from skillplan.reporting.trajectories import describe, draw, gather, skill_begins
from small import quick_compilation  # noqa: F401

STILL = np.zeros((41, 2))
STRAIGHT = np.linspace(0.0, 1.0, 41)[:, None] * np.array([1.0, 0.0])
ARRIVES = np.linspace(0.0, 1.0, 41)[:, None] * np.asarray(TARGET, float)[:2]


def cove_run(path, paths, agent="lsp"):
    run = make_run(path, task="rover-cove", agent=agent, overrides={"environment": {"episode_length": 40}})
    for number, along in enumerate(paths):
        save(episode(along), run / "episodes", number)
    return run


def test_a_skill_begins_where_the_record_changes():
    # Index t holds the skill that led to state t: after the reset the first one acts from state 0.
    record = np.array([[0.0], [1.0], [1.0], [2.0], [2.0], [3.0]])
    assert skill_begins(record).tolist() == [0, 2, 4]


def test_paths_nodes_and_target_of_hand_made_episodes(tmp_path):
    found = gather(cove_run(tmp_path / "run", [STILL, STRAIGHT, ARRIVES]))
    assert [path.reached for path in found.paths] == [False, False, True]
    assert [path.frames for path in found.paths] == [0, 40, 80]
    np.testing.assert_allclose(found.paths[1].points, STRAIGHT)
    np.testing.assert_allclose(found.paths[1].nodes, STRAIGHT[[0, 10, 20, 30]])
    assert found.axes == ("x (m)", "y (m)")
    assert "3 episodes, 1 reach the target" in describe(found)


def test_an_agent_without_skills_has_no_nodes(tmp_path):
    found = gather(cove_run(tmp_path / "run", [STRAIGHT], agent="dreamer"))
    assert found.paths[0].nodes.shape == (0, 2)


def test_episodes_are_thinned_evenly_and_cut_at_a_frame(tmp_path):
    run = cove_run(tmp_path / "run", [STRAIGHT] * 5)
    assert [path.frames for path in gather(run, episodes=3).paths] == [0, 80, 160]
    assert [path.frames for path in gather(run, frames=81).paths] == [0, 40, 80]


def test_squares_are_those_that_were_entered(tmp_path):
    # From 0 to 1 m along x: the squares that begin at 0, 0.25, 0.5, 0.75 and 1.
    assert gather(cove_run(tmp_path / "run", [STRAIGHT, STILL])).cells == 5


def test_a_damaged_episode_is_noted_and_the_rest_is_shown(tmp_path):
    run = cove_run(tmp_path / "run", [STRAIGHT, STRAIGHT])
    (run / "episodes" / "000000-41.npz").write_bytes(b"torn")
    found = gather(run)
    assert len(found.paths) == 1
    assert any("000000-41.npz is damaged" in note for note in found.notes)


def test_where_nothing_was_played_there_is_nothing_to_draw(tmp_path):
    with pytest.raises(UserError, match="no readable episode of training"):
        gather(cove_run(tmp_path / "run", []))
    with pytest.raises(UserError, match="records no position"):
        gather(make_run(tmp_path / "gym", task="gym:Pendulum-v1"))
    with pytest.raises(UserError, match="--episodes is 0"):
        gather(tmp_path / "run", episodes=0)


def test_runs_stand_side_by_side_on_the_same_axes(tmp_path):
    runs = [gather(cove_run(tmp_path / agent, [STRAIGHT, ARRIVES], agent)) for agent in ("lsp", "dreamer")]
    figure = draw(runs)
    left, right, bar = figure.axes
    assert (left.get_xlabel(), left.get_ylabel()) == ("x (m)", "y (m)")
    assert left.get_xlim() == right.get_xlim()
    assert bar.get_ylabel() == "training (frames)"
    assert "2 episodes, 1 reach the target" in right.get_title()
    figure.draw_without_rendering()
    titles = [axes.title.get_window_extent() for axes in (left, right)]
    assert titles[0].x1 < titles[1].x0
    # Nothing is cut off at the edges.
    assert titles[0].y1 <= figure.bbox.y1
    assert left.xaxis.label.get_window_extent().y0 >= 0
    # The arena, the target, and what stands in the way.
    assert len(left.patches) > 2


def test_noise_free_episodes_are_those_of_evaluation(tmp_path):
    run = store(fresh_run(), tmp_path / "run")
    found = gather(run, phase="evaluation", episodes=2)
    assert len(found.paths) == 2
    # Each with the obstacles that stood in it, which are not the same ones.
    one, other = (path.layout for path in found.paths)
    assert one is not None
    assert other is not None
    assert not np.array_equal(one["obstacles"], other["obstacles"])


def test_the_command_draws_and_says_what_to_type_next(tmp_path, capsys):
    run = cove_run(tmp_path / "run", [STRAIGHT])
    assert main(["trajectories", str(run)]) == 0
    assert (run / "figures" / "trajectories.png").is_file()
    assert f"Next: skillplan skills {run}" in capsys.readouterr().out
    assert main(["trajectories"]) == 2
    assert "Name the directory of at least one run" in capsys.readouterr().err
