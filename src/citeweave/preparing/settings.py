"""Preparation settings: the switches and thresholds of every step."""

from __future__ import annotations

import difflib
import numbers
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from citeweave.errors import ParameterError
from citeweave.parameters import check_values
from citeweave.parameters.describing import with_parameters
from citeweave.parameters.preparation import SETTINGS, PreparationSettings, read_language

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Settings"]

_RULES = {name: setting.rule for name, setting in SETTINGS.items()}


@dataclass(frozen=True, kw_only=True)
class Settings(PreparationSettings):
    """How records are turned into a corpus; the defaults follow the paper except for author names.

    Examples
    --------
    >>> Settings(language="de", min_word_count=20).phrases
    True
    """

    def __post_init__(self) -> None:
        """Check the values, and convert lists and NumPy numbers to their JSON equivalents."""
        for name, value in vars(self).items():
            if isinstance(value, list | tuple):
                object.__setattr__(self, name, _as_tuple(value))
            elif isinstance(value, numbers.Number) and hasattr(value, "item"):
                object.__setattr__(self, name, value.item())
        check_values(_RULES, vars(self), lambda name: f"setting {name!r}")
        both = sorted({one for group in self.join for one in group}.intersection(self.keep_apart))
        if both:
            raise ParameterError(
                f"The record {both[0]!r} is in both 'join' and 'keep_apart'. Remove it from one of "
                "them."
            )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, where: str = "settings") -> Self:
        """Create settings from a mapping; missing entries keep their defaults.

        Examples
        --------
        >>> from citeweave.preparing import Settings
        >>> settings = Settings()
        >>> Settings.from_dict(settings.as_dict()) == settings
        True
        """
        known = [setting.name for setting in fields(cls)]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"Available: {', '.join(known)}."
                raise ParameterError(f"Unknown setting {name!r} in {where}. {hint}")
        return cls(**values)

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        r"""Read settings from a TOML file, from its table ``[prepare]`` or from the top level.

        TOML has no null value: write ``language = "none"`` to keep all languages. Paths in settings
        are relative to the TOML file.

        Examples
        --------
        >>> from pathlib import Path
        >>> from citeweave.preparing import Settings
        >>> _ = Path("settings.toml").write_text('[prepare]\nlanguage = "none"\nphrases = false\n')
        >>> settings = Settings.from_toml("settings.toml")
        >>> settings.language is None, settings.phrases
        (True, False)
        """
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ParameterError(f"The settings {str(path)!r} cannot be read: {error}.") from error
        values = content.get("prepare", content)
        if not isinstance(values, dict):
            raise ParameterError(
                f"'prepare' in {str(path)!r} must be a table of settings. Got {values!r} instead."
            )
        values = dict(values)
        if "language" in values:
            values["language"] = read_language(values["language"])
        for name in ("author_thesaurus", "people", "word_thesaurus", "stop_words"):
            named = values.get(name)
            if isinstance(named, str) and named not in {"auto", "none"}:
                values[name] = str(path.parent / named)
        return cls.from_dict(values, where=str(path))

    def as_dict(self) -> dict[str, Any]:
        """Return the settings in JSON-serialisable form, for `from_dict`.

        Examples
        --------
        >>> from citeweave.preparing import Settings
        >>> Settings().as_dict()["use_abstract"]
        True
        """
        return {name: _as_list(value) for name, value in asdict(self).items()}


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list | tuple) else value


def _as_list(value: Any) -> Any:
    return list(map(_as_list, value)) if isinstance(value, list | tuple) else value


Settings.__doc__ = with_parameters(Settings.__doc__, SETTINGS.values())
