import numpy as np
import pytest

from reporting.made import make_run
from skillplan.errors import UserError
from skillplan.reporting import known
from skillplan.reporting.comparison import ALL_TASKS, gather
from skillplan.reporting.runs import find_runs


def test_curves_are_summed_up_over_runs_and_ratios_taken_against_dreamer(tmp_path):
    for seed, shift in enumerate((0.0, 10.0, 20.0)):
        make_run(tmp_path / f"lsp-{seed}", [40 + shift, 140 + shift, 240 + shift], seed=seed)
        make_run(tmp_path / f"dreamer-{seed}", [0 + shift, 40 + shift, 140 + shift], agent="dreamer", seed=seed)
    comparison = gather(find_runs([tmp_path]), levels=[100.0])
    (panel,) = comparison.panels
    assert comparison.baseline == "dreamer"
    curves = {curve.name: curve for curve in panel.curves}
    np.testing.assert_allclose(curves["lsp"].estimate("iqm").value, [50, 150, 250])
    rows = {row.curve: row for row in panel.reaches}
    assert rows["lsp"].reach.frames == pytest.approx(1500)
    assert rows["dreamer"].reach.frames == pytest.approx(2500)
    assert rows["dreamer"].ratio is None
    assert rows["lsp"].ratio.at_least == rows["lsp"].ratio.at_most == pytest.approx(2500 / 1500)
    assert rows["lsp"].ratio.low < 2500 / 1500 < rows["lsp"].ratio.high


def test_without_levels_it_is_halfway_from_the_floor_to_the_highest_curve(tmp_path):
    make_run(tmp_path / "lsp-0", [50.0, 200.0, 250.0])
    (panel,) = gather(find_runs([tmp_path])).panels
    floor = max(known.floors("rover-field").values())
    assert {row.level for row in panel.reaches} == {float(f"{(floor + 250) / 2:.2g}")}


def test_only_frames_that_all_runs_of_a_curve_have_are_summed_up(tmp_path):
    make_run(tmp_path / "lsp-0", [1.0, 2.0, 3.0])
    make_run(tmp_path / "lsp-1", [3.0], seed=1)
    comparison = gather(find_runs([tmp_path]))
    (curve,) = comparison.panels[0].curves
    np.testing.assert_array_equal(curve.frames, [1000])
    np.testing.assert_array_equal(curve.estimate("mean").value, [2.0])
    assert any("its run lsp-1 ends" in note for note in comparison.notes)


def test_over_tasks_returns_are_scaled_from_floor_to_best(tmp_path):
    for seed in (0, 1):
        make_run(tmp_path / "field" / f"lsp-{seed}", [0.0, 300.0], seed=seed)
        make_run(tmp_path / "walker" / f"lsp-{seed}", [0.0, 1000.0], seed=seed, task="walker-walk")
    make_run(tmp_path / "field" / "dreamer-0", [0.0, 150.0], agent="dreamer")
    comparison = gather(find_runs([tmp_path]))
    together = comparison.panels[-1]
    assert together.task == ALL_TASKS
    (curve,) = together.curves
    assert curve.name == "lsp"  # dreamer has no run on the walker
    assert (curve.runs, len(curve.strata)) == (4, 2)
    floors = [max(known.floors(task).values()) for task in ("rover-field", "walker-walk")]
    below = np.mean([-floors[0] / (300 - floors[0]), -floors[1] / (1000 - floors[1])])
    np.testing.assert_allclose(curve.estimate("mean").value, [below, 1.0])


def test_tasks_without_a_common_curve_are_not_summed_up(tmp_path):
    make_run(tmp_path / "lsp-0", [1.0])
    make_run(tmp_path / "dreamer-0", [1.0], agent="dreamer", task="walker-walk")
    comparison = gather(find_runs([tmp_path]))
    assert [panel.task for panel in comparison.panels] == ["rover-field", "walker-walk"] or len(comparison.panels) == 2
    assert any("No curve has runs on all tasks" in note for note in comparison.notes)


def test_a_run_without_evaluation_is_left_out_and_named(tmp_path):
    make_run(tmp_path / "lsp-0", [1.0])
    make_run(tmp_path / "lsp-1", seed=1)
    comparison = gather(find_runs([tmp_path]))
    assert comparison.panels[0].curves[0].runs == 1
    assert "lsp-1 (rover-field) has no evaluation yet: its log is empty." in comparison.notes


def test_two_runs_of_one_seed_are_no_independent_samples(tmp_path):
    make_run(tmp_path / "a" / "lsp-0", [1.0])
    make_run(tmp_path / "b" / "lsp-0", [2.0])
    notes = gather(find_runs([tmp_path])).notes
    assert any("several runs with seed 0" in note for note in notes)


def test_references_are_shown_when_asked(tmp_path):
    make_run(tmp_path / "lsp-0", [1.0], task="walker-walk")
    assert gather(find_runs([tmp_path])).panels[0].references == ()
    shown = gather(find_runs([tmp_path]), references=True).panels[0].references
    # The run is short: of what came later only the earliest is shown.
    assert {reference.frames for reference in shown} == {min(r.frames for r in known.references("walker-walk"))}


def test_an_unknown_baseline_is_refused(tmp_path):
    make_run(tmp_path / "lsp-0", [1.0])
    with pytest.raises(UserError, match="Unknown curve 'dreamer'"):
        gather(find_runs([tmp_path]), baseline="dreamer")


def test_where_nothing_was_evaluated_there_are_no_panels(tmp_path):
    make_run(tmp_path / "lsp-0")
    comparison = gather(find_runs([tmp_path]))
    assert comparison.panels == ()
    assert len(comparison.notes) == 1
