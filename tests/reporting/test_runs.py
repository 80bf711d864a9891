import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from reporting.made import line, make_run
from skillplan.errors import UserError
from skillplan.reporting.report import METRICS
from skillplan.reporting.runs import find_runs, unfinished_line
from skillplan.reporting.table import export


def test_a_run_tells_what_it_is_and_what_was_asked_for(tmp_path):
    (run,) = find_runs([make_run(tmp_path / "lsp-3", [1.0, 4.0], seed=3)]).runs
    assert (run.name, run.task, run.agent, run.size, run.seed) == ("lsp-3", "rover-field", "lsp", "debug", 3)
    np.testing.assert_array_equal(run.series["evaluation/return"].frames, [1000, 2000])
    np.testing.assert_array_equal(run.series["evaluation/return"].values, [1.0, 4.0])
    assert run.counts["frames"] == 2000
    assert set(run.series) == {"evaluation/return"}


def test_directories_are_searched_to_any_depth_and_no_run_is_read_twice(tmp_path):
    one = make_run(tmp_path / "deep" / "er" / "lsp-0", [1.0])
    make_run(tmp_path / "dreamer-0", [1.0])
    (tmp_path / "notes").mkdir()
    found = find_runs([tmp_path, one])
    assert sorted(run.name for run in found.runs) == ["dreamer-0", "lsp-0"]
    assert found.notes == []


def test_a_table_gives_the_runs_that_it_was_made_of(tmp_path):
    paths = [make_run(tmp_path / f"lsp-{seed}", [10.0 + seed, 20.0], seed=seed) for seed in (0, 1)]
    export(tmp_path / "results" / "rover.csv", paths)
    (tmp_path / "results" / "speed.csv").write_text("part,milliseconds\nupdate,3\n")
    found = find_runs([tmp_path / "results"])
    direct = find_runs(paths)
    for run, same in zip(found.runs, direct.runs, strict=True):
        assert (run.name, run.task, run.agent, run.seed) == (same.name, same.task, same.agent, same.seed)
        assert run.table == tmp_path / "results" / "rover.csv"
        assert run.config is None
        np.testing.assert_array_equal(run.series["evaluation/return"].values, same.series["evaluation/return"].values)


def test_of_two_lines_at_the_same_frames_the_later_one_counts(tmp_path):
    path = make_run(tmp_path / "lsp-0", [1.0, 2.0, 9.0], frames=(1000, 2000, 2000))
    (run,) = find_runs([path]).runs
    np.testing.assert_array_equal(run.series["evaluation/return"].values, [1.0, 9.0])


def test_a_half_written_last_line_is_left_out_and_said(tmp_path):
    path = make_run(tmp_path / "lsp-0", [1.0, 2.0])
    assert not unfinished_line(path / "metrics.jsonl")
    with (path / "metrics.jsonl").open("a") as file:
        file.write('{"frames": 3000, "evalu')
    assert unfinished_line(path / "metrics.jsonl")
    found = find_runs([path])
    assert len(found.runs[0].series["evaluation/return"]) == 2
    assert found.notes == [f"The last line of {path / 'metrics.jsonl'} is half-written and is left out."]


def test_what_cannot_be_read_is_noted_and_the_rest_is_shown(tmp_path):
    good = make_run(tmp_path / "good", [1.0])
    damaged = make_run(tmp_path / "damaged", [1.0])
    (damaged / "config.json").write_text('{"config": {"task"')
    binary = make_run(tmp_path / "binary", [1.0])
    (binary / "metrics.jsonl").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "text.txt").write_text("hello")
    names = ["good", "damaged", "binary", "empty", "nowhere", "other.csv", "text.txt"]
    found = find_runs([tmp_path / name for name in names])
    assert [run.path for run in found.runs] == [good, binary]
    for words in (
        "damaged/config.json",
        "binary",
        "no run in",
        "nothing at",
        "lacks the column 'run'",
        "neither a run nor a table",
    ):
        assert sum(words in note for note in found.notes) == 1, words


@pytest.mark.parametrize(
    ("line", "complaint"),
    [("0,0,x,abc", "'abc' as evaluation/return"), ("one,0,x,1", "the seed of run 'r' is 'one'")],
)
def test_a_damaged_table_says_what_is_wrong(tmp_path, line, complaint):
    table = tmp_path / "t.csv"
    seed, frames, commit, value = line.split(",")
    table.write_text(
        "run,task,agent,size,seed,commit,frames,evaluation/return\n"
        f"r,rover-field,lsp,tiny,{seed},{commit},{frames},{value}\n"
    )
    with pytest.raises(UserError, match=complaint):
        find_runs([table])


def test_where_there_is_nothing_at_all_the_first_reason_is_raised(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no run in"):
        find_runs([tmp_path / "empty"])


def test_a_run_without_a_log_has_no_counts(tmp_path):
    path = make_run(tmp_path / "lsp-0")
    (path / "metrics.jsonl").unlink()
    (run,) = find_runs([path]).runs
    assert run.series == {}
    assert run.counts == {}


def write_large_log(path: Path, lines: int) -> None:
    """Short episodes, 20 frames each, with all that training logs; every hundredth line is an evaluation."""
    learned = {f"part_{number}/loss": 0.123456789 * number for number in range(25)}
    with path.open("w") as file:
        for number in range(1, lines + 1):
            kind = {"evaluation_return": number / 10} if number % 100 == 0 else {"train_return": 1.0, **learned}
            file.write(json.dumps(line(20 * number, **kind)) + "\n")


def test_a_large_log_is_read_line_by_line(tmp_path):
    path = make_run(tmp_path / "lsp-0")
    write_large_log(path / "metrics.jsonl", 10_000)
    size = (path / "metrics.jsonl").stat().st_size
    assert size > 5e6
    tracemalloc.start()
    (run,) = find_runs([path], METRICS).runs
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 5
    assert len(run.series["evaluation/return"]) == 100
    assert run.series["evaluation/return"].values[-1] == 1000.0
    assert len(run.series["train/return"]) == 9900
