import subprocess

import imageio.v3 as imageio
import imageio_ffmpeg
import numpy as np
import pytest

from skillplan.cli.main import main
from skillplan.envs import gl, make
from skillplan.errors import UserError


def run(capsys, *arguments):
    status = main(["view", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture(scope="module")
def _draws():
    try:
        gl.working_backend()
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "run"
    train = ["train", "rover-field", "--agent", "dreamer", "--size", "debug", "--frames", "20", "--run", str(path)]
    assert main([*train, "--environment.episode-length", "20", "--evaluation.episodes", "1"]) == 0
    return path


def test_a_picture_shows_the_start(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, _ = run(capsys, "rover-cove", "--seed", "3")
    assert status == 0
    assert out.splitlines()[-1] == "Open rover-cove.png. Next: skillplan train rover-cove"
    world = make("rover-cove")
    world.reset(3)
    np.testing.assert_array_equal(imageio.imread("rover-cove.png"), world.render())


def test_a_picture_after_some_steps_of_doing_nothing(capsys, tmp_path):
    out = tmp_path / "new" / "later.png"
    assert run(capsys, "rover-field", "--policy", "zero", "--steps", "4", "--out", str(out))[0] == 0
    world = make("rover-field")
    world.reset(0)
    for _ in range(4):
        world.step(np.zeros(2))
    np.testing.assert_array_equal(imageio.imread(out), world.render())
    assert [path.name for path in out.parent.iterdir()] == ["later.png"]


def decoded(film):
    """The pictures of an .mp4; imageio's own reader leaves its pipes open if ffmpeg is done before it is told to."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-i", str(film), "-f", "rawvideo"]
    pixels = subprocess.run([*command, "-pix_fmt", "rgb24", "-"], stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(pixels, np.uint8).reshape(-1, 320, 320, 3)


# A frame of the rover's world lasts 0.1 s.
@pytest.mark.parametrize(
    ("ending", "read", "seconds"),
    [
        ("mp4", decoded, lambda film: imageio_ffmpeg.count_frames_and_secs(str(film))[1]),
        ("gif", imageio.imread, lambda film: 13 * imageio.immeta(film)["duration"] / 1000),
    ],
)
def test_a_film_shows_every_step_in_the_worlds_own_time(capsys, tmp_path, ending, read, seconds):
    out = tmp_path / f"film.{ending}"
    status, told, _ = run(capsys, "rover-field", "--out", str(out), "--steps", "12")
    assert status == 0
    assert "after 12 agent steps" in told
    frames = read(out)
    assert frames.shape == (13, 320, 320, 3)
    assert not np.array_equal(frames[0], frames[-1])
    assert seconds(out) == pytest.approx(1.3)


def test_a_film_of_an_agent_lasts_its_whole_episode(capsys, tmp_path, trained):
    out = tmp_path / "agent.gif"
    status, told, _ = run(capsys, "rover-cove", "--policy", str(trained), "--out", str(out))
    assert status == 0
    assert "after 20 agent steps" in told
    assert len(imageio.imread(out)) == 21


@pytest.mark.usefixtures("_draws")
def test_another_camera_shows_another_picture(capsys, tmp_path):
    pictures = []
    for camera in ([], ["--camera", "2"], ["--camera", "0"], ["--span", "10"]):
        out = tmp_path / "picture.png"
        assert run(capsys, "quadruped-cove", "--out", str(out), *camera)[0] == 0
        pictures.append(imageio.imread(out))
    assert pictures[0].shape == (240, 320, 3)
    np.testing.assert_array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[0], pictures[2])
    world = make("quadruped-cove")
    world.reset(0)
    np.testing.assert_array_equal(pictures[3], world.env.unwrapped.render_still(np.zeros(3), 10.0))
    world.close()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["rover-feild"], "did you mean 'rover-field'"),
        (["rover-field", "--out", "film.avi"], "Cannot write film.avi: let its name end in .png, .mp4, .gif."),
        (["rover-field", "--policy", "greedy"], "--policy is 'greedy': give random, zero or the directory of a run."),
        (["rover-field", "--steps", "-1"], "--steps is -1"),
        (["rover-field", "--seed", "-1"], "--seed is -1"),
        (["rover-field", "--camera", "0"], "rover-field has no cameras to choose from"),
        (["rover-field", "--span", "8"], "rover-field has no cameras to choose from"),
        (["walker-walk", "--span", "-1"], "--span is -1: give a number of metres above zero."),
        (["walker-walk", "--span", "8", "--camera", "0"], "--camera and --span choose different cameras"),
        (["walker-walk", "--camera", "9"], "the model of walker-walk has cameras 0 to 1"),
        (["rover-field", "--environment.shadows"], "rover-field is drawn without shadows"),
        (["dm:lqr-lqr_2_1"], "has no time limit: pass --environment.episode-length"),
    ],
)
def test_mistakes_get_one_sentence_and_leave_nothing(capsys, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert complaint in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_not_shown_in_a_foreign_world(capsys, tmp_path, monkeypatch, trained):
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, "walker-walk", "--policy", str(trained))
    assert status == 2
    assert (
        "The world of walker-walk does not fit an agent trained on rover-field: it lacks the observations 'rays'" in err
    )
    status, _, err = run(capsys, "rover-field", "--policy", str(trained), "--environment.pixels")
    assert status == 2
    assert "A run brings the settings of its world along" in err
    assert list(tmp_path.iterdir()) == []
