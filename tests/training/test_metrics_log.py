import json

import pytest

from skillplan.errors import UserError
from skillplan.training.counters import Counters
from skillplan.training.metrics_log import MetricsLog, cut_back, read_metrics


def test_lines_carry_the_counts(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl", tmp_path / "events")
    log.write(Counters(frames=4, agent_steps=2, updates=1, episodes=1, seconds=0.5), {"train/return": 3.0})
    log.close()
    (line,) = read_metrics(tmp_path / "metrics.jsonl")
    assert line == {
        "frames": 4,
        "agent_steps": 2,
        "updates": 1,
        "episodes": 1,
        "seconds": 0.5,
        "train/return": 3.0,
    }
    assert list((tmp_path / "events").iterdir())


def test_what_is_not_finite_is_null_and_the_file_stays_json(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl", tmp_path / "events")
    log.write(Counters(), {"a": float("nan"), "b": float("inf")})
    log.close()
    (line,) = read_metrics(tmp_path / "metrics.jsonl")
    assert line["a"] is None
    assert line["b"] is None


def test_cutting_back_drops_later_lines_and_a_torn_one(tmp_path):
    path = tmp_path / "metrics.jsonl"
    lines = [json.dumps({"episodes": episodes, "x": episodes}) for episodes in (1, 2, 2, 3)]
    path.write_text("\n".join(lines) + '\n{"episodes": 1, "x"')
    cut_back(path, 2)
    assert [line["episodes"] for line in read_metrics(path)] == [1, 2, 2]
    assert path.read_text().endswith("\n")


@pytest.mark.parametrize("line", [b"\xff\xfe", b'{"frames": 3}', b'{"episodes": null}'])
def test_a_damaged_file_is_explained_and_kept(tmp_path, line):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(line + b"\n")
    with pytest.raises(UserError, match="metrics.jsonl is damaged"):
        cut_back(path, 2)
    assert path.read_bytes() == line + b"\n"


def test_lines_that_are_no_objects_are_passed_over(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('3\nnull\n{"episodes": "x"}\n{"episodes": 1}\n')
    assert list(read_metrics(path)) == [{"episodes": 1}]


def test_a_missing_file_has_no_lines(tmp_path):
    assert list(read_metrics(tmp_path / "nothing.jsonl")) == []
