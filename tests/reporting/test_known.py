import pytest

from skillplan.envs.registry import TASKS
from skillplan.reporting import known
from skillplan.reporting.floors import IdlePlayer, measure


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_floors_below_its_best(task):
    floors = known.floors(task)
    assert set(floors) == {"doing nothing", "random actions"}
    best = known.best_return(task)
    assert best is not None
    assert all(0 <= floor < best for floor in floors.values())


def test_references_are_of_tasks_that_there_are_and_possible():
    rows = [(row["task"], float(row["return"])) for row in known._rows("references.csv")]
    assert len(rows) > 30
    for task, value in rows:
        assert task in TASKS
        assert 0 <= value <= known.best_return(task)


def test_scores_that_came_much_later_are_left_out_but_for_the_earliest():
    frames = sorted({reference.frames for reference in known.references("walker-run")})
    shown = lambda until: sorted({r.frames for r in known.references_within("walker-run", until)})  # noqa: E731
    assert shown(frames[0] - 1) == shown(frames[0]) == frames[:1]
    assert shown(frames[1]) == frames[:2]
    assert shown(1e9) == frames
    assert known.references_within("rover-field", 1e9) == ()


def test_the_best_return_is_known_of_worlds_that_pay_at_most_one_per_frame():
    assert known.best_return("rover-field") == 300
    assert known.best_return("dm:reacher-easy", 1000) == 1000
    assert known.best_return("gym:Pendulum-v1", 200) is None
    assert known.best_return("something-else", 200) is None


def test_floors_are_measured_on_the_seeds_of_evaluation():
    returns = measure("rover-field", 2)
    assert returns["doing nothing"].tolist() == [0.0, 0.0]
    assert (returns["random actions"] > 0).all()
    assert measure("rover-field", 2)["random actions"].tolist() == returns["random actions"].tolist()
    assert not IdlePlayer(3).act(returns["doing nothing"][:, None], returns["doing nothing"] > 0)[0].any()
