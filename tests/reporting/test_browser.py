"""The page as people see it: in a browser, on a phone and on a large screen, light and dark."""

import io
import itertools

import imageio.v3 as imageio
import numpy as np
import pytest

from reporting.browser import axe, browser, program
from reporting.made import episode, fresh_run, make_run, store
from skillplan.replay.episode import save
from skillplan.reporting.report import METRICS, build
from skillplan.reporting.runs import find_runs

pytestmark = [pytest.mark.slow, pytest.mark.skipif(program() is None, reason="There is no Chromium.")]

LOOKS = list(itertools.product((400, 1400), (False, True)))
PICTURES = """Promise.all([...document.images].map(image => image.decode().then(() => image.naturalWidth)))"""
FILMS = """Promise.all([...document.querySelectorAll("video")].map(film => new Promise(done => {
  if (film.error || film.videoWidth) done(film.videoWidth);
  film.onloadedmetadata = () => done(film.videoWidth);
  film.onerror = () => done(0);
})))"""
# What is wider than the page and cannot be scrolled by itself.
TOO_WIDE = """[...document.querySelectorAll("body *")].filter(one => {
  const box = one.getBoundingClientRect();
  return box.right > innerWidth + 1 && box.width > 0 && !one.closest(".scroll");
}).map(one => one.outerHTML.slice(0, 120))"""
COVERED = """[...document.querySelectorAll("h1, h2, h3, p, td, th, figcaption")].filter(
  one => one.scrollWidth > one.clientWidth + 1
  && !one.closest(".scroll")).map(one => one.textContent.slice(0, 120))"""
FAULTS = """axe.run().then(found => found.violations
  .filter(one => ["serious", "critical"].includes(one.impact))
  .map(one => one.id + ": " + one.help + " " + one.nodes.map(node => node.html.slice(0, 120)).join(" ")))"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A page with everything on it: curves, skills, plans, films, tables, and notes of what is missing."""
    path = tmp_path_factory.mktemp("page")
    for seed in (0, 1):
        make_run(path / "runs" / f"dreamer-{seed}", [10.0, 100.0 + seed, 200.0], agent="dreamer", seed=seed)
        make_run(path / "runs" / f"walker-lsp-{seed}", [10.0, 300.0], task="walker-walk", seed=seed)
    make_run(path / "runs" / "waiting-lsp-9", seed=9)
    played = store(fresh_run(), path / "runs" / "lsp-0")
    for number in range(3):
        save(episode(np.linspace(0, 1, 20)[:, None] * np.ones(2)), played / "episodes", number)
    page = path / "report.html"
    page.write_text(build(find_runs([path / "runs"], METRICS), play=1))
    return page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_everything_is_there_and_fits(page, file, width, dark):
    page.open(file, width=width, dark=dark)
    assert page.ask("innerWidth") == width
    pictures, films = page.ask(PICTURES), page.ask(FILMS)
    assert len(pictures) >= 5
    assert min(pictures) > 0
    assert len(films) == 3
    assert min(films) > 0
    assert page.ask("document.documentElement.scrollWidth") <= width
    assert page.ask(TOO_WIDE) == []
    assert page.ask(COVERED) == []
    assert page.complaints == []


@pytest.mark.skipif(axe() is None, reason="axe-core is not installed: AXE_CORE names its directory.")
@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_no_serious_fault(page, file, width, dark):
    page.open(file, width=width, dark=dark)
    page.ask(axe())
    assert page.ask(FAULTS) == []


def test_the_page_follows_the_choice_of_light_or_dark(page, file):
    brightness = {}
    for dark in (False, True):
        page.open(file, width=1400, dark=dark)
        brightness[dark] = imageio.imread(io.BytesIO(page.picture()))[..., :3][5, :].mean()
    assert brightness[False] > 200
    assert brightness[True] < 60


def test_the_keyboard_reaches_every_section(page, file):
    page.open(file, width=1400)
    assert page.ask("document.querySelector('.skip').getAttribute('href')") == "#content"
    missing = page.ask("[...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.hash)).length")
    assert missing == 0
    assert page.ask("[...document.querySelectorAll('.scroll')].every(one => one.tabIndex === 0)")
