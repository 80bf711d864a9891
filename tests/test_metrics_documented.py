import json
import re
from collections import Counter
from pathlib import Path

import pytest

from skillplan.presets import make_config
from skillplan.skill_discovery import METRICS
from skillplan.training.loop import train

PAGE = Path(__file__).parents[1] / "docs" / "metrics.md"
# Together they write every metric: a selection that learns in a world with positions, a planner in one that terminates,
# a robot that can fall, and two levels without a world model.
RUNS = (
    ("rover-field", "amortized-skills"),
    ("gym:MountainCarContinuous-v0", "lsp"),
    ("walker-walk", "dreamer"),
    ("rover-field", "hiro"),
)


def documented() -> list[str]:
    return re.findall(r"^\| `([\w/]+)` \|", PAGE.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], set[str]]:
    names = {}
    for number, (task, agent) in enumerate(RUNS):
        # Short episodes: the first is random, and learned from; then comes the evaluation.
        settings = {"frames": 24, "environment": {"episode_length": 24}, "evaluation": {"episodes": 1}}
        run = train(make_config(task, agent, "debug", settings), tmp_path_factory.mktemp("runs") / str(number))
        lines = [json.loads(line) for line in run.metrics_file.read_text().splitlines()]
        names[task, agent] = set().union(*lines)
    return names


def test_no_metric_has_two_rows() -> None:
    assert [name for name, count in Counter(documented()).items() if count > 1] == []


def test_the_documented_metrics_are_those_that_are_written(written: dict[tuple[str, str], set[str]]) -> None:
    # The forward estimate stands in the predictor's place.
    assert set(documented()) == set().union(*written.values()) | {METRICS["forward"]}


def test_metrics_are_absent_where_they_mean_nothing(written: dict[tuple[str, str], set[str]]) -> None:
    rover, terminating, walker, hiro = (written[run] for run in RUNS)
    learned = {"selection/loss", "selection/gradient_norm"}
    assert rover - terminating == learned | {"skill/displacement_across", "skill/displacement_within"}
    assert terminating - rover == {"world_model/continuation_loss"}
    assert walker - rover == {"evaluation/upright"}
    assert {name.partition("/")[0] for name in hiro - rover} == {"low_level", "high_level"}
    assert not any(name.startswith(("world_model/", "imagined/", "policy/", "value/")) for name in hiro)
