"""The page about runs: what it shows, what it says of what is missing, and that it needs nothing else."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from reporting.made import episode, fresh_run, make_run, store
from skillplan.cli.main import main
from skillplan.errors import UserError
from skillplan.replay.episode import save
from skillplan.reporting import parts
from skillplan.reporting.page import Markup, data_uri, join, table, tag
from skillplan.reporting.report import METRICS, build
from skillplan.reporting.runs import find_runs
from skillplan.reporting.style import AGENT_COLORS, agent_color
from skillplan.reporting.table import export


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text."""

    def __init__(self, content: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(content)

    def handle_starttag(self, name, attributes):
        self.found.append((name, dict(attributes)))
        if name not in ("img", "meta", "br"):
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, text):
        if self.open[-1:] != ["style"]:
            self.text += text + " "

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.found if found == name]


def report(*paths: Path, play: int = 0) -> Elements:
    return Elements(build(find_runs(paths, METRICS), play=play))


@pytest.fixture
def several(tmp_path):
    """Two agents with two seeds each, one of them with episodes."""
    for agent in ("lsp", "dreamer"):
        for seed in (0, 1):
            make_run(tmp_path / f"{agent}-{seed}", [10.0, 100.0 + seed, 200.0], agent=agent, seed=seed)
    for number in range(2):
        save(episode(np.linspace(0, 1, 20)[:, None] * np.ones(2)), tmp_path / "lsp-0" / "episodes", number)
    return tmp_path


def test_the_page_is_whole_and_needs_nothing_else(several):
    page = report(several)
    assert page.open == []  # every element is closed
    ids = [attributes["id"] for _, attributes in page.found if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert {link["href"] for link in page.all("a")} <= {f"#{one}" for one in ids}
    sources = [attributes["src"] or "" for _, attributes in page.found if "src" in attributes]
    assert len(sources) >= 2
    assert all(source.startswith("data:") for source in sources)
    assert not page.all("script")
    assert not page.all("link")
    assert all(image["alt"] for image in page.all("img"))
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == 1
    sections = ["summary", "curves", "skills", "trajectories", "plans", "foreseen", "films", "settings", "commands"]
    assert [attributes["aria-labelledby"] for attributes in page.all("section")] == sections


def test_the_page_says_what_the_runs_reached(several):
    text = report(several).text
    assert "4 runs on rover-field" in text
    assert "200.0" in text
    assert "frames of 3,000" not in text
    assert f"skillplan train rover-field --agent lsp --size debug --frames 12000 --seed 1 --run {several}" in text
    assert "2 episodes" in text
    assert "Returns on rover-field: 0 for doing nothing, 34 for random actions, at most 300." in text
    assert text.count("No agent played for this page.") == 4


@pytest.mark.parametrize("kind", ["evaluation", "log", "episodes"])
def test_what_is_missing_of_a_run_is_said_and_the_rest_is_shown(several, kind):
    other = make_run(several / "waiting-7", [1.0], seed=7)
    if kind == "evaluation":
        (other / "metrics.jsonl").write_text('{"frames": 300, "train/return": 1.0}\n')
    elif kind == "log":
        (other / "metrics.jsonl").unlink()
    page = report(several)
    said = {
        "evaluation": "waiting-7 (rover-field) has no evaluation yet: it is at 300 frames.",
        "log": "waiting-7 (rover-field) has no evaluation yet: its log is empty.",
        "episodes": f"{other} has no paths to draw",
    }
    assert said[kind] in page.text
    assert "5 runs on rover-field" in page.text
    assert any("ends at 200.0" in (image["alt"] or "") for image in page.all("img"))


def test_a_half_written_last_line_is_said(several):
    with (several / "lsp-1" / "metrics.jsonl").open("a") as file:
        file.write('{"frames": 4000, "evalu')
    text = report(several).text
    assert f"The last line of {several / 'lsp-1' / 'metrics.jsonl'} is half-written and is left out." in text


def test_runs_of_several_tasks_and_tables_share_a_page(several):
    make_run(several / "walker-lsp-0", [500.0], task="walker-walk")
    table_of = several / "tables" / "old.csv"
    export(table_of, [make_run(several / "gone-5", [50.0], seed=5)])
    (several / "gone-5" / "config.json").unlink()
    page = report(several)
    assert "6 runs on rover-field, walker-walk" in page.text
    curves = [image["alt"] or "" for image in page.all("img") if (image["alt"] or "").startswith("Learning curves")]
    assert [re.sub(r":.*", "", alt) for alt in curves] == [
        "Learning curves on rover-field",
        "Learning curves on walker-walk",
        "Learning curves on all tasks",
    ]
    assert "a table does not tell whether further settings were given" in page.text


def test_settings_that_differ_are_shown_side_by_side(tmp_path):
    make_run(tmp_path / "lsp-0", [1.0])
    make_run(tmp_path / "lsp-short-0", [1.0], overrides={"skill": {"duration": 5}})
    text = report(tmp_path).text
    assert "skill.duration" in text
    assert "learning_rate" not in text


def test_runs_where_nothing_was_evaluated_still_give_a_page(tmp_path):
    text = report(make_run(tmp_path / "lsp-0")).text
    assert "No run has been evaluated yet: there are no curves." in text
    assert "none yet" in text


def test_names_cannot_break_the_page(tmp_path):
    page = report(make_run(tmp_path / "<b>&lsp-0", [1.0]))
    assert "<b>&lsp-0" in page.text
    assert not page.all("b")


def test_one_agent_that_cannot_be_shown_costs_nothing_but_its_own_place(several, monkeypatch):
    def breaks(run, loaded):
        yield Markup("<p>before</p>")
        raise RuntimeError("no such thing")

    store(fresh_run(), several / "played-0")
    monkeypatch.setattr(parts, "PLAYED", (parts.Part("broken", "Broken", "Something.", breaks),))
    page = report(several, play=1)
    assert "before" in page.text
    assert "This could not be shown: RuntimeError: no such thing" in page.text
    assert "5 runs on rover-field" in page.text
    assert f"No checkpoint yet, and so nobody to play: {several / 'dreamer-0'}" in page.text


def test_a_film_that_is_too_large_is_left_to_its_command(tmp_path):
    def record(path):
        path.write_bytes(b"0" * (parts.LARGEST_FILM + 1))
        return path

    assert "4 MB are too many for this page; `skillplan video r` writes it" in parts._film(
        record, "A", "skillplan video r"
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Name at least one run"),
        (["empty"], "There is no run in empty"),
        (["nowhere"], "There is nothing at nowhere"),
        (["run", "--out", "page.pdf"], "--out is page.pdf: end it in .html"),
        (["run", "--play", "-1"], "--play is -1"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, monkeypatch, capsys, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "run", [1.0])
    (tmp_path / "empty").mkdir()
    assert main(["report", *arguments]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


def test_the_command_writes_the_page_and_says_so(tmp_path, capsys):
    out = tmp_path / "deep" / "page.html"
    assert main(["report", str(make_run(tmp_path / "run", [1.0])), "--play", "0", "--out", str(out)]) == 0
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert f"Open {out}" in capsys.readouterr().out


def test_markup_is_escaped_once():
    assert tag("p", "a < b & c", class_="x", hidden=True, id=None) == '<p class="x" hidden>a &lt; b &amp; c</p>'
    assert tag("p", [tag("b", "<"), ">"]) == "<p><b>&lt;</b>&gt;</p>"
    assert tag("img", alt='"') == '<img alt="&quot;">'
    assert join(["a", Markup("<br>")]) == "a<br>"
    assert data_uri("text/plain", b"hi") == "data:text/plain;base64,aGk="
    assert '<th scope="row">x</th><td class="number">1</td>' in table("t", ("a", "b"), [("x", "1")], numbers=(1,))


def test_every_agent_has_a_colour_of_its_own():
    from skillplan.presets import AGENTS

    assert len({agent_color(agent) for agent in AGENTS}) == len(AGENTS)
    assert set(AGENTS) <= set(AGENT_COLORS)


def test_nothing_to_report_on_is_refused(tmp_path):
    with pytest.raises(UserError, match="no run in"):
        report(tmp_path)
