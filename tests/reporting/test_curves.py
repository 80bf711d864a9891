"""Learning curves as a figure, as CSV and in words."""

import csv

import numpy as np
import pytest

from reporting.made import make_run
from skillplan.cli.main import main
from skillplan.presets import AGENTS
from skillplan.reporting.comparison import ReachRow, gather
from skillplan.reporting.curves import draw, short_frames, write_curves, write_reaches
from skillplan.reporting.reach import Ratio, Reach
from skillplan.reporting.runs import find_runs
from skillplan.reporting.style import agent_color
from skillplan.reporting.table import export
from skillplan.reporting.words import frames_words, ratio_words


@pytest.fixture
def compared(tmp_path):
    """Two seeds of lsp, one of dreamer, on two tasks."""
    for seed in (0, 1):
        make_run(tmp_path / f"lsp-{seed}", [0.0, 100.0 + 20 * seed, 200.0], seed=seed)
    make_run(tmp_path / "dreamer-0", [0.0, 50.0, 150.0], agent="dreamer")
    make_run(tmp_path / "walker-lsp-0", [100.0, 900.0], task="walker-walk")
    return gather(find_runs([tmp_path]), levels=[90.0])


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_panel_for_every_task_with_axes_and_the_agents_colours(compared):
    figure = draw(compared)
    panels = {axes.get_title(): axes for axes in figure.axes if axes.get_title()}
    assert set(panels) == {"rover-field", "walker-walk", "all tasks, normalised"}
    field = panels["rover-field"]
    assert (field.get_xlabel(), field.get_ylabel()) == ("environment frames", "return per episode, noise-free")
    assert panels["all tasks, normalised"].get_ylabel() == "share of the best return"
    lines = {line.get_label(): line for line in field.lines if not line.get_label().startswith("_")}
    assert lines["lsp"].get_color() == agent_color("lsp")
    np.testing.assert_allclose(lines["lsp"].get_ydata(), [0.0, 110.0, 200.0])
    assert {"floor: doing nothing", "floor: random actions"} <= set(lines)
    # A thin line for each of two runs, and a band; one run is a line alone.
    assert sum(line.get_color() == agent_color("lsp") for line in field.lines) == 3
    assert sum(line.get_color() == agent_color("dreamer") for line in field.lines) == 1
    assert len(field.collections) == 1
    whole = panels["all tasks, normalised"]
    assert [line.get_label() for line in whole.lines] == ["lsp"]
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "dreamer (1 run)" in entries
    assert "lsp (1 to 3 runs)" in entries


def test_a_long_legend_leaves_the_panel_its_room(tmp_path):
    for agent in AGENTS:
        make_run(tmp_path / f"{agent}-0", [0.0, 100.0, 200.0], agent=agent)
    figure = draw(gather(find_runs([tmp_path])))
    figure.draw_without_rendering()
    (axes,) = (axes for axes in figure.axes if axes.axison)
    assert len(figure.legends[0].get_texts()) >= len(AGENTS)
    assert axes.get_window_extent().height > 2.2 * figure.dpi
    label = axes.yaxis.label.get_window_extent()
    assert figure.bbox.y0 <= label.y0 < label.y1 <= figure.bbox.y1


def test_the_table_holds_what_is_drawn(compared, tmp_path):
    write_curves(compared, tmp_path / "curves.csv")
    found = [row for row in rows(tmp_path / "curves.csv") if (row["task"], row["curve"]) == ("rover-field", "lsp")]
    assert [(row["frames"], row["value"], row["runs"]) for row in found] == [
        ("1000", "0", "2"),
        ("2000", "110", "2"),
        ("3000", "200", "2"),
    ]
    # Of two runs every interval ends at one of them.
    assert (found[1]["low"], found[1]["high"]) == ("100", "120")
    single = [row for row in rows(tmp_path / "curves.csv") if row["curve"] == "dreamer"]
    assert {(row["low"], row["high"]) for row in single} == {("", "")}


def test_the_table_of_reaches_holds_frames_and_ratios(compared, tmp_path):
    write_reaches(compared, tmp_path / "reach.csv")
    found = {row["curve"]: row for row in rows(tmp_path / "reach.csv") if row["task"] == "rover-field"}
    # Straight lines: 90 of 110 after 1000 frames, and 40 of 100 on the way from 50 to 150.
    assert float(found["lsp"]["frames"]) == pytest.approx(1000 + 1000 * 90 / 110, rel=1e-5)
    assert float(found["dreamer"]["frames"]) == pytest.approx(2400)
    assert float(found["lsp"]["ratio_at_least"]) == pytest.approx(2400 / (1000 + 1000 * 90 / 110), rel=1e-5)
    assert found["dreamer"]["ratio_low"] == ""


def reach(frames: float, low: float = np.nan, high: float = np.nan) -> Reach:
    return Reach(frames, low, high, 1000.0, 3000.0, np.array([frames]))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (reach(1500.0), "1,500"),
        (reach(1500.0, 1400.0, 1600.0), "1,500 (1,400 to 1,600)"),
        (reach(1000.0), "at most 1,000"),
        (reach(np.inf, 2000.0, np.inf), "beyond 3,000 (2,000 to beyond 3,000)"),
    ],
)
def test_frames_are_said_as_far_as_they_are_known(found, words):
    assert frames_words(ReachRow(90.0, "lsp", found, None)) == words


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, ""),
        (Ratio(2.0, 2.0, np.nan, np.nan), "2.00"),
        (Ratio(2.0, 2.0, 1.5, 3.0), "2.00 (1.50 to 3.00)"),
        (Ratio(2.0, np.inf, 1.5, np.inf), "more than 2.00 (1.50 to ∞)"),
        (Ratio(0.0, 0.5, 0.0, 0.75), "less than 0.50 (0.00 to 0.75)"),
        (Ratio(0.0, np.inf, 0.0, np.inf), ""),
    ],
)
def test_ratios_are_said_as_far_as_they_are_known(found, words):
    assert ratio_words(ReachRow(90.0, "lsp", reach(1500.0), found)) == words


def test_frames_are_short_on_an_axis():
    assert [short_frames(frames) for frames in (0.0, 500.0, 20e3, 1.5e6)] == ["0", "500", "20k", "1.5M"]


def test_the_command_draws_and_writes(tmp_path, capsys):
    make_run(tmp_path / "runs" / "lsp-0", [0.0, 300.0])
    make_run(tmp_path / "runs" / "lsp-1", seed=1)
    out = tmp_path / "new" / "field.pdf"
    assert main(["curves", str(tmp_path / "runs"), "--out", str(out), "--reach", "150"]) == 0
    printed = capsys.readouterr()
    assert "rover-field: lsp reaches 150 after 1,500 frames." in printed.out
    assert "Note: lsp-1 (rover-field) has no evaluation yet: its log is empty." in printed.err
    assert sorted(path.name for path in out.parent.iterdir()) == ["field-reach.csv", "field.csv", "field.pdf"]


@pytest.mark.parametrize("table", ["field.csv", "field-reach.csv"])
def test_a_table_that_is_read_is_not_written_over(tmp_path, monkeypatch, capsys, table):
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "lsp-0", [0.0, 300.0])
    export(tmp_path / table, [tmp_path / "lsp-0"])
    before = (tmp_path / table).read_bytes()
    assert main(["curves", table, "--out", str(tmp_path / "field.png")]) == 2
    assert f"{table}: give another name" in capsys.readouterr().err
    assert (tmp_path / table).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Name at least one run"),
        (["runs", "--out", "curves.gif"], "--out is curves.gif"),
        (["runs/lsp-1"], "None of these runs has evaluation/return yet"),
        (["runs", "--metric", "no/such"], "None of these runs has no/such yet"),
        (["runs", "--baseline", "hiro"], "Unknown curve 'hiro'"),
        (["empty"], "There is no run in empty"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, monkeypatch, capsys, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "runs" / "lsp-0", [0.0, 300.0])
    make_run(tmp_path / "runs" / "lsp-1", seed=1)
    (tmp_path / "empty").mkdir()
    assert main(["curves", *arguments]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("Note: ")]
    assert len(lines) == 1
    assert complaint in lines[0]
