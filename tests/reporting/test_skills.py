"""Held skills: what is gathered from an agent, drawn, filmed and said of it."""

import imageio.v3 as imageio
import numpy as np
import pytest

from reporting.made import fresh_run
from skillplan.errors import UserError
from skillplan.presets import make_config
from skillplan.reporting import skills
from skillplan.reporting.composite import composite, evenly, side_by_side
from skillplan.reporting.diversity import overlaps
from skillplan.reporting.skills import HeldSkills
from skillplan.training.evaluate import spread_of_ends
from small import quick_compilation  # noqa: F401


def held(**changes: object) -> HeldSkills:
    """Four skills that go in four directions, twice each, for 20 steps."""
    directions = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    ways = directions[:, None] * np.array([[1.0], [1.1]])
    paths = ways[:, :, None] * np.linspace(0.0, 2.0, 21)[:, None]
    made = HeldSkills(
        config=make_config("rover-field", "lsp", "debug"),
        frames=12_000,
        grid=(2, 2),
        skills=np.linspace(-1.0, 1.0, 12).reshape(4, 3),
        seconds=1.0,
        paths=paths.astype(np.float32),
        axes=("x", "y"),
        pictures=np.random.default_rng(0).integers(0, 255, (4, 11, 30, 40, 3), np.uint8),
        still=True,
        spread=spread_of_ends(paths[:, :, -1]),
        overlap=overlaps(paths[:, :, -1]),
        information=np.array([1.0, 2.0, -1.0, 2.0]),
        notes=("a note",),
    )
    return made._replace(**changes)


def test_the_figures_of_merit_are_those_of_the_ends():
    made = held()
    # Ends at 2 and 2.2: variance 0.02 within; means 2.1 from the middle: variance 4/3 · 2.1², less 0.02 / 2.
    across, within = np.sqrt(4 / 3 * 2.1**2 - 0.01), np.sqrt(0.02)
    said = skills.figures_of_merit(made)
    assert said == (
        f"ends {across:.2f} m apart, {across / within:.1f} times the {within:.2f} m within one skill · "
        "as different as 4.0 of 4 distinct behaviours · log q over marginal +1.00 nats"
    )
    assert skills.figures_of_merit(held(spread=None, overlap=None, information=None)) == ""


def labels(figure):
    return {axes.get_title(): (axes.get_xlabel(), axes.get_ylabel()) for axes in figure.findobj(match=_is_axes)}


def _is_axes(artist):
    return hasattr(artist, "get_xlabel") and hasattr(artist, "get_title")


def test_every_panel_names_its_axes_and_units():
    found = labels(skills.draw(held()))
    assert found["Paths"] == ("x (m)", "y (m)")
    assert found["Ends"] == ("x (m)", "y (m)")
    assert found["Alike: 4.0 of 4 distinct"] == ("skill", "skill")
    assert found["Told apart: mean +1.00"] == ("skill", "log q over marginal (nats)")
    assert sum(title[:1] in "1234" and "z = (" in title for title in found) == 4


def test_what_is_not_known_has_no_panel():
    found = labels(skills.draw(held(paths=None, spread=None, overlap=None)))
    assert not {"Paths", "Ends"} & set(found)
    assert "Told apart: mean +1.00" in found
    with pytest.raises(UserError, match="nothing to show of these skills: a note"):
        skills.draw(held(paths=None, overlap=None, information=None, pictures=None))


def test_the_film_shows_all_skills_in_their_grid(tmp_path):
    made = held()
    film = imageio.imread(skills.record(made, tmp_path / "film.gif"))
    assert film.shape == (11, 2 * (30 + 4), 2 * (40 + 4), 3)
    for number, (top, left) in enumerate([(0, 0), (0, 44), (34, 0), (34, 44)]):
        # A palette of 256 colours cannot be exact.
        apart = film[5, top : top + 30, left : left + 40].astype(float) - made.pictures[number, 5]
        assert np.abs(apart).mean() < 25
    with pytest.raises(UserError, match="no film of these skills"):
        skills.record(held(pictures=None), tmp_path / "none.gif")


def test_a_composite_keeps_the_ground_and_every_moment_of_what_moved():
    film = np.full((3, 1, 3, 3), 100, np.uint8)
    film[range(3), 0, range(3)] = 200
    # Opacities 0.35, 0.675 and 1 over ground that most pictures agree on.
    np.testing.assert_array_equal(composite(film, 3)[0, :, 0], [135, 168, 200])
    np.testing.assert_array_equal(side_by_side(film, 2)[0, :, 0], [200, 100, 100, 100, 100, 200])


def test_moments_are_spread_from_first_to_last():
    assert evenly(11, 3).tolist() == [0, 5, 10]
    assert evenly(2, 5).tolist() == [0, 1]
    assert evenly(0, 5).tolist() == []


@pytest.fixture(scope="module")
def loaded():
    return fresh_run("lsp")


def test_skills_are_held_from_one_start_and_measured(loaded):
    found = skills.gather(loaded, grid=(1, 3), hold=10, repeats=2, film=False)
    assert found.paths is not None
    assert found.paths.shape == (3, 2, 11, 2)
    assert (found.paths[:, :, 0] == found.paths[0, 0, 0]).all()
    assert found.spread == spread_of_ends(found.paths[:, :, -1])
    assert found.pictures is None
    assert found.information is not None
    assert found.information.shape == (3,)
    assert np.isfinite(found.information).all()
    assert found.effective == pytest.approx(skills.effective_number(overlaps(found.paths[:, :, -1])))
    assert f"{loaded.counters.frames:,} frames" in skills.describe(found)


def test_a_film_begins_at_one_start_and_shows_every_step(loaded):
    found = skills.gather(loaded, grid=(1, 2), hold=4, repeats=1)
    assert found.still
    assert found.pictures is not None
    assert found.pictures.shape[:2] == (2, 5)
    assert found.information is None
    assert any("--hold is below its L" in note for note in found.notes)
    np.testing.assert_array_equal(found.pictures[0, 0], found.pictures[1, 0])


def test_an_agent_without_skills_is_told_so():
    without = fresh_run("dreamer")
    with pytest.raises(UserError, match="dreamer, has no skills to hold"):
        skills.gather(without)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [({"grid": (1, 1)}, "--grid is 1x1"), ({"hold": 0}, "--hold is 0"), ({"repeats": 0}, "--repeats is 0")],
)
def test_settings_that_show_nothing_are_refused(loaded, settings, complaint):
    with pytest.raises(UserError, match=complaint):
        skills.gather(loaded, **settings)
