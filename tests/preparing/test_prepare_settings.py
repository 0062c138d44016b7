"""Settings: defaults of the paper, files, and errors that help."""

import json

import pytest

from citeweave.errors import ParameterError
from citeweave.preparing import Settings


def test_defaults_are_the_papers():
    settings = Settings()
    assert settings.max_document_share == 0.18
    assert settings.author_names == "evidence"
    assert settings.language == "en"
    assert "universität" in settings.exclusion_words


def test_settings_survive_json():
    settings = Settings(language=None, keep_words=("the",), min_word_count=7)
    assert Settings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


def test_settings_from_toml(tmp_path):
    path = tmp_path / "prepare.toml"
    path.write_text('[prepare]\nlanguage = "none"\nkeep_words = ["case"]\nstop_words = "my.txt"\n')
    settings = Settings.from_toml(path)
    assert settings.language is None
    assert settings.keep_words == ("case",)
    assert settings.stop_words == str(tmp_path / "my.txt")
    path.write_text("phrases = false\n")
    assert not Settings.from_toml(path).phrases


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("langage = 'en'", r"Unknown setting 'langage' .* Did you mean 'language'"),
        ("phrases = 1", "'phrases' must be True or False. Got 1"),
        ("max_document_share = 1.5", "must be a number from 0 to 1. Got 1.5"),
        ("min_word_count = 0", "must be an integer of at least 1, or None for .* Got 0"),
        (
            "author_names = 'short'",
            "must be 'evidence' or 'initials' or 'compatible' or 'full'. Got 'short'",
        ),
        ("keep_words = 'the'", "must be a list of words"),
        ("language = 'English'", "'language' must be a code"),
        ("prepare = 3", "must be a table"),
        ("a = [", "cannot be read"),
    ],
)
def test_wrong_settings_say_what_to_do(tmp_path, content, message):
    path = tmp_path / "prepare.toml"
    path.write_text(content)
    with pytest.raises(ParameterError, match=message):
        Settings.from_toml(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"gone\.toml"):
        Settings.from_toml(tmp_path / "gone.toml")
