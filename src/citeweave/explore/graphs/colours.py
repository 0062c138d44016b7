"""Colours of pictures: the pink of topics, and hues that colour-blind people can tell apart."""

from collections.abc import Sequence

__all__ = ["OKABE_ITO", "mix", "pink", "readable_on", "topic_colours"]

YELLOW = "#F0E442"

# Okabe and Ito (2008), black left out; the order keeps neighbours apart in lightness too.
OKABE_ITO = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    YELLOW,
)
PINK = "#f2679b"
PALE = "#fdf0f5"


def mix(first: str, second: str, share: float) -> str:
    """Mix two colours; `share` 0 gives the first, 1 the second.

    Examples
    --------
    >>> mix("#000000", "#ffffff", 0.5)
    '#808080'
    """
    share = min(max(share, 0.0), 1.0)
    parts = (
        round(a + (b - a) * share) for a, b in zip(_channels(first), _channels(second), strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


def pink(strength: float) -> str:
    """Give the pink of a topic, the stronger the larger its share (0 to 1)."""
    return mix(PALE, PINK, strength)


def readable_on(fill: str) -> str:
    """Black or white, whichever has more contrast with a fill (WCAG relative luminance)."""
    luminance = 0.0
    for part, weight in zip(_channels(fill), (0.2126, 0.7152, 0.0722), strict=True):
        level = part / 255
        luminance += weight * (
            level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4
        )
    return "#000000" if luminance > 0.179 else "#ffffff"


def topic_colours(order: Sequence[int]) -> dict[int, str]:
    """Give topics, in the order given, the seven hues; then the hues lighter, then darker.

    More than seven cannot be told apart by colour alone: pictures write the topic's name beside
    its colour, and the colours help to see what belongs together.
    """
    lighter = [mix(hue, "#ffffff", 0.5) for hue in OKABE_ITO if hue != YELLOW]  # pale as it is
    darker = [mix(hue, "#000000", 0.4) for hue in OKABE_ITO]
    cycle = [*OKABE_ITO, *lighter, *darker]
    return {k: cycle[i % len(cycle)] for i, k in enumerate(order)}


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
