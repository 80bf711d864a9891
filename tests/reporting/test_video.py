"""A film of one episode: what is drawn in, where the cursor is, how many pictures there are."""

import imageio.v3 as imageio
import numpy as np
import pytest
from imageio_ffmpeg import count_frames_and_secs

from reporting.made import fresh_run, store
from skillplan.cli.main import main
from skillplan.errors import UserError
from skillplan.presets import make_config
from skillplan.reporting import video
from skillplan.reporting.dials import Dials
from skillplan.reporting.film import tiled, write_film
from small import quick_compilation  # noqa: F401


def watched(**changes: object) -> video.Watched:
    made = video.Watched(
        config=make_config("rover-field", "lsp", "debug"),
        frames=12_000,
        episode=3,
        reward=np.array([0.0, 1.0, 2.5]),
        skill=np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0]]),
        value=np.array([np.nan, 4.0, 4.0]),
        seconds=0.1,
    )
    return made._replace(**changes)


def test_skill_value_and_reward_are_drawn_in():
    rows = dict(video.dial_rows(watched()))
    assert list(rows) == ["skill z", "value of the plan", "reward per agent step"]
    # The entry of the reset belongs to no step: it shows the first skill.
    np.testing.assert_array_equal(rows["skill z"], [[1.0, 2.0]] * 3)
    np.testing.assert_array_equal(rows["reward per agent step"][:, 0], [0.0, 1.0, 2.5])
    assert list(dict(video.dial_rows(watched(skill=None, value=None)))) == ["reward per agent step"]
    assert video.title_of(watched()) == "lsp on rover-field, 12,000 frames\nnoise-free episode 3, return 3.5"


def test_what_is_still_to_come_is_veiled():
    dials = Dials([("up", np.arange(11.0)[:, None])], "title", 0.1, 200)
    first, middle, last = (dials.at(step).astype(int) for step in (0, 5, 10))
    # Darkness of the curve to come, as the sum of what is not white: all of it, half of it, none of it veiled.
    dark = [(255 - picture).sum() for picture in (first, middle, last)]
    assert dark[0] < dark[1] < dark[2]
    assert (first[:, :40] == last[:, :40]).all()  # labels stay as they are


def test_a_film_lasts_as_long_as_its_world(tmp_path):
    pictures = np.random.default_rng(0).integers(0, 255, (7, 20, 31, 3), np.uint8)
    path = write_film(tmp_path / "new" / "film.mp4", pictures, 10.0)
    assert count_frames_and_secs(path) == (7, pytest.approx(0.7))
    assert [entry.name for entry in path.parent.iterdir()] == ["film.mp4"]
    # Encoders want an even number of pixels.
    assert imageio.imread(write_film(tmp_path / "film.gif", pictures, 10.0)).shape == (7, 20, 32, 3)
    with pytest.raises(UserError, match="is no film"):
        write_film(tmp_path / "film.avi", pictures, 10.0)


def test_tiles_fill_rows_and_leave_the_rest_white():
    film = tiled([np.full((2, 3, 3), number, np.uint8) for number in (1, 2, 3)], 2, gap=1)
    assert film.shape == (6, 8, 3)
    assert [film[0, 0, 0], film[0, 4, 0], film[3, 0, 0], film[3, 4, 0]] == [1, 2, 3, 255]
    assert (film[2] == 255).all()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return store(fresh_run(), tmp_path_factory.mktemp("video") / "run")


def test_an_episode_is_filmed_step_by_step(run, tmp_path, capsys):
    out = tmp_path / "film.gif"
    assert main(["video", str(run), "--steps", "12", "--out", str(out)]) == 0
    assert "lsp on rover-field: 12 agent steps of noise-free episode 0" in capsys.readouterr().out
    assert len(imageio.imread(out)) == 13


def test_the_value_belongs_to_the_plan_that_is_held():
    loaded = fresh_run()
    played, found = video.gather(loaded, episode=1)
    assert found.value is not None
    assert found.skill is not None
    assert np.isnan(found.value[0])
    assert np.isfinite(found.value[1:]).all()
    # Value and skill change at the same steps, every K.
    assert found.steps == played.length - 1 == 40
    held = loaded.config.skill.duration
    for course in (found.value[1:, None], found.skill[1:]):
        changes = 1 + np.flatnonzero(np.diff(course, axis=0).any(axis=1))
        assert changes.tolist() == [held, 2 * held, 3 * held]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--out", "film.avi"], "film.avi is no film"),
        (["--steps", "0"], "--steps is 0"),
        (["--speed", "0"], "--speed is 0"),
        (["--task", "rover-cove-x"], "Unknown task"),
    ],
)
def test_what_cannot_be_filmed_is_refused(run, capsys, options, complaint):
    assert main(["video", str(run), *options]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
