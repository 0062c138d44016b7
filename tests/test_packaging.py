"""What is released agrees with itself: versions, addresses, requirements, the container."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import citeweave

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ENTRYPOINT = ROOT / "packaging" / "docker" / "entrypoint.sh"
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def only(pattern: str, text: str) -> str:
    """Give the one thing that a pattern finds."""
    (found,) = set(re.findall(pattern, text, re.MULTILINE))
    return str(found)


def requirements(text: str, part: str) -> set[str]:
    """List the requirements of a part of the recipe, without spaces."""
    _, _, rest = text.partition(f"  {part}:\n")
    lines = re.match(r"(?:    - .*\n)+", rest)
    assert lines is not None, part
    return {line.removeprefix("    - ").replace(" ", "") for line in lines[0].splitlines()}


def test_the_version_is_written_once_and_followed() -> None:
    assert "version" in PROJECT["dynamic"]
    dated = re.findall(
        r"^## \[(\d[^\]]*)\] - (\d{4}-\d\d-\d\d)$", read("CHANGELOG.md"), re.MULTILINE
    )
    version, date = dated[0]
    assert version == citeweave.__version__
    assert only(r"^version: (\S+)$", read("CITATION.cff")) == version
    assert only(r"^date-released: (\S+)$", read("CITATION.cff")) == date
    assert only(r'^  version: "(\S+)"$', RECIPE) == version


def test_the_changelog_is_open_for_what_comes() -> None:
    sections = re.findall(r"^## \[([^\]]+)\]", read("CHANGELOG.md"), re.MULTILINE)
    assert sections[0] == "Unreleased"
    assert sections.count("Unreleased") == 1


def test_there_is_one_home() -> None:
    home = PROJECT["urls"]["Homepage"]
    assert only(r'^repository-code: "(.*)"$', read("CITATION.cff")) == home
    assert only(r"^  (?:homepage|repository): (.*)$", RECIPE) == home
    assert all(url.startswith(home) for url in PROJECT["urls"].values())


def test_the_paper_that_is_cited_is_the_one_of_the_report() -> None:
    from citeweave.web.method import BIBTEX

    citation = read("CITATION.cff")
    assert only(r"^    doi: (\S+)$", citation) in BIBTEX
    pages = (only(r"^    start: (\d+)$", citation), only(r"^    end: (\d+)$", citation))
    assert f"{{{'--'.join(pages)}}}" in BIBTEX


def test_the_conda_recipe_asks_for_what_the_wheel_asks_for() -> None:
    python = f"python{PROJECT['requires-python']}"
    assert requirements(RECIPE, "run") == {python, *PROJECT["dependencies"]}
    build = tomllib.loads(read("pyproject.toml"))["build-system"]["requires"]
    assert requirements(RECIPE, "host") == {python, "pip", *build}
    extras = PROJECT["optional-dependencies"]
    wanted = {text.replace("matplotlib", "matplotlib-base") for text in extras["plot"]}
    wanted |= {*extras["graphviz"], *extras["excel"]}
    assert requirements(RECIPE, "run_constraints") == wanted
    (name, target), *others = PROJECT["scripts"].items()
    assert not others
    assert f"- {name} = {target}" in RECIPE


def test_rattler_build_reads_the_conda_recipe() -> None:
    rattler_build = pytest.importorskip(
        "rattler_build", reason="optional check of the recipe: pip install py-rattler-build"
    )
    recipe = rattler_build.Stage0Recipe.from_file(ROOT / "packaging" / "conda" / "recipe.yaml")
    (rendered,) = recipe.render()
    found = rendered.recipe.to_dict()
    assert found["package"] == {"name": "citeweave", "version": citeweave.__version__}
    python = f"python{PROJECT['requires-python']}"
    run = {each.replace(" ", "") for each in found["requirements"]["run"]}
    assert run == {python, *PROJECT["dependencies"]}


def test_hooks_run_the_ruff_of_the_project() -> None:
    (ruff,) = [each for each in PROJECT["optional-dependencies"]["dev"] if each.startswith("ruff")]
    assert only(r'"(ruff[^"]*)"', read(".pre-commit-config.yaml")) == ruff


def test_the_image_has_a_python_that_is_tried() -> None:
    tried = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert only(r"^FROM python:(3\.\d+)-slim", read("Dockerfile")) in tried
    assert set(tried) <= set(re.findall(r"3\.\d+", read(".ci/run")))


def test_what_the_image_is_made_of_is_there() -> None:
    copied = re.findall(r"^COPY (?:--\S+ )*(.+) \S+$", read("Dockerfile"), re.MULTILINE)
    kept = {line[1:] for line in read(".dockerignore").splitlines() if line.startswith("!")}
    for path in " ".join(copied).split():
        assert (ROOT / path).exists(), path
        assert any(path == each or path.startswith(f"{each}/") for each in kept), path


LISTENING = "--host 0.0.0.0 --port 8000 --no-open"


@pytest.mark.parametrize(
    ("given", "mounted", "run"),
    [
        ("--version", False, "--version"),
        ("fit my-corpus --topics 5", True, "fit my-corpus --topics 5"),
        ("serve", False, f"serve DEMO {LISTENING}"),
        ("serve", True, f"serve DATA {LISTENING}"),
        ("serve --title Mine", False, f"serve DEMO {LISTENING} --title Mine"),
        ("serve my-run --title Mine", True, f"serve my-run {LISTENING} --title Mine"),
    ],
)
def test_the_entrypoint_of_the_image(tmp_path: Path, given: str, mounted: bool, run: str) -> None:  # noqa: FBT001
    """`serve` listens where a container must; all else is passed on as it is."""
    command = tmp_path / "citeweave"
    command.write_text('#!/bin/sh\necho "$@"\n')
    command.chmod(0o755)
    data, demo = tmp_path / "data", tmp_path / "demo"
    data.mkdir()
    if mounted:
        (data / "manifest.json").write_text("{}")
    places = {"CITEWEAVE_DATA_FOLDER": str(data), "CITEWEAVE_DEMO": str(demo)}
    said = subprocess.run(
        ["sh", ENTRYPOINT, *given.split()],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"} | places,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert said == run.replace("DEMO", str(demo)).replace("DATA", str(data))
