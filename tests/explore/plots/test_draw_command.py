"""The commands `graph` and `plot` on a small run."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from citeweave.cli.main import app
from citeweave.cli.plot import PlotKind
from citeweave.explore.graphs import FORMATS
from citeweave.explore.plots import KINDS, plot_convergence
from citeweave.model import SCNTM
from citeweave.simulate import simulate


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    drawn = simulate(
        documents=40,
        vocabulary=50,
        topics=3,
        authors=8,
        words_per_document=12,
        citations=60,
        seed=3,
    )
    folder = tmp_path_factory.mktemp("draw") / "run"
    SCNTM(topics=4, iterations=20, seed=1, chains=1).fit(drawn.corpus, out=folder)
    return folder


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"})


def test_the_command_knows_every_plot() -> None:
    assert {kind.value for kind in PlotKind} == {"all", *KINDS}


def test_graphs_are_written(runner: CliRunner, run: Path, tmp_path: Path) -> None:
    for kind in ("authors", "flow", "map"):
        svg, dot = tmp_path / f"{kind}.svg", tmp_path / f"{kind}.dot"
        command = ["graph", str(run), "--kind", kind, "--out", str(svg), "--out", str(dot)]
        result = runner.invoke(app, [*command, "--layout", "own"])
        assert result.exit_code == 0, result.output
        assert svg.read_text(encoding="utf-8").startswith("<?xml")
        assert "graph" in dot.read_text(encoding="utf-8")
        assert "nodes" in result.output


def test_json_goes_to_standard_output_alone(runner: CliRunner, run: Path) -> None:
    result = runner.invoke(app, ["graph", str(run), "--json", "--layout", "own"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["name"] == "author-topics"
    assert all("x" in node for node in found["nodes"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--out", "a.bmp"], ".svg"),
        (["--kind", "map", "--words", "3"], "--papers"),
        (["--min-weight", "2"], "--min-weight must"),
        (["--layout", "dot"], "--layout must"),
    ],
)
def test_wrong_options_are_told(
    runner: CliRunner, run: Path, options: list[str], says: str
) -> None:
    result = runner.invoke(app, ["graph", str(run), *options])
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_folder_that_is_no_run_is_told(runner: CliRunner, tmp_path: Path) -> None:
    for command in ("graph", "plot"):
        result = runner.invoke(app, [command, str(tmp_path / "absent")])
        assert result.exit_code == 2
        assert result.stderr.startswith("citeweave: error:")


def test_plots_are_written(runner: CliRunner, run: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    one = tmp_path / "one.svg"
    result = runner.invoke(app, ["plot", str(run), "--kind", "convergence", "--out", str(one)])
    assert result.exit_code == 0, result.output
    assert "<svg" in one.read_text(encoding="utf-8")
    folder = tmp_path / "all"
    result = runner.invoke(app, ["plot", str(run), "--out", str(folder), "--dpi", "40"])
    assert result.exit_code == 0, result.output
    written = {path.stem for path in folder.glob("*.png")}
    assert written
    assert f"{len(written)} plots" in result.output
    missing = set(KINDS) - written
    assert "time" in missing  # made-up papers have no years
    assert all(f"plot '{kind}' skipped" in result.output for kind in missing)


def test_kept_samples_are_those_of_the_run(run: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    (ax,) = plot_convergence(run).axes
    shaded = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (round(shaded.x0), round(shaded.x1)) == (16, 20)  # iterations 16 to 20 of 20
    start = [line for line in ax.lines if len(line.get_xdata()) == 2]
    assert [list(line.get_xdata()) for line in start] == [[3, 3]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--width", "1e308"], "width"),
        (["--width", "nan"], "width"),
        (["--dpi", "1"], "dpi"),
        (["--dpi", "1e9"], "dpi"),
    ],
)
def test_pictures_that_cannot_be_are_refused(
    runner: CliRunner, run: Path, tmp_path: Path, options: list[str], says: str
) -> None:
    out = str(tmp_path / "one.png")
    result = runner.invoke(app, ["plot", str(run), "--kind", "map", "--out", out, *options])
    assert result.exit_code == 2
    assert says in result.stderr


def test_more_rows_than_can_be_counted_are_all_rows(runner: CliRunner, run: Path) -> None:
    result = runner.invoke(app, ["topics", str(run), "--top", "9" * 31])
    assert result.exit_code == 0, result.output
    few = runner.invoke(app, ["papers", str(run), "--top", "9" * 31, "--csv", "-"])
    assert len(few.stdout.splitlines()) == 41


def test_several_plots_need_a_folder(runner: CliRunner, run: Path) -> None:
    result = runner.invoke(app, ["plot", str(run), "--out", "all.png"])
    assert result.exit_code == 2
    assert "folder" in result.stderr


def test_the_page_names_all_that_can_be_drawn() -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "pictures.md"
    if not page.is_file():
        pytest.skip("the pages are not beside the tests")
    text = page.read_text(encoding="utf-8")
    for kind, function in KINDS.items():
        assert f"| `{kind}` | `{function.__name__}` |" in text
    for suffix in FORMATS:
        assert f"`{suffix}`" in text
    for image in re.findall(r"\]\((\.\./images/[^)]+)\)", text):
        assert (page.parent / image).is_file()
