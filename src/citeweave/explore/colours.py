"""Colours: one for each topic, the same in every page, plot, graph and file.

Topics get the colours of `PALETTE` in the order of their shares, in every kind of picture. Any two
topics may be neighbours in a bar, so the first thirty colours are all well separated in OKLab
(Ottosson 2020), and consecutive colours, as in a legend, even more. All contrast with both the
white and the dark background of the pages, so the themes share them. The first ten can be
distinguished by people with red-green colour blindness. Beyond forty topics, colours repeat. No
information is shown by colour alone: names accompany it.
"""

from collections.abc import Sequence

__all__ = ["OKABE_ITO", "OTHER", "PALETTE", "TopicColours", "mix", "readable_on"]

# Okabe and Ito (2008), without black and yellow, which vanish on dark and on white backgrounds.
OKABE_ITO = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9")

# Each of the others is the colour farthest, in OKLab, from its predecessors, also as seen with
# deuteranopia and protanopia (Machado and others 2009), among those of chroma up to 0.185.
PALETTE = (
    *OKABE_ITO,
    *("#782010", "#084078", "#70e0b8", "#5888f8", "#f880d8", "#c0d838", "#885870", "#80c058"),
    *("#b040a0", "#e8c088", "#888848", "#005040", "#9878d0", "#780868", "#5860d8", "#705800"),
    *("#5838b0", "#807888", "#980850", "#a8b090", "#b84848", "#505080", "#f06068", "#c8c8f8"),
    *("#007848", "#50c0a8", "#e8a0b0", "#389000", "#a8a0c8", "#287078", "#b09800", "#38a0b0"),
    *("#804098", "#90c8d0"),
)
OTHER = "#8f8a80"
"""Colour of anything without a topic in use."""


class TopicColours:
    """The colours of the topics of one run.

    Parameters
    ----------
    order : sequence of int
        Topics in use, the largest first.

    Examples
    --------
    >>> colours = TopicColours([4, 0, 2])
    >>> colours[4], colours[2], colours.slot(2)
    ('#0072b2', '#009e73', 2)
    >>> colours[7] == OTHER
    True
    """

    def __init__(self, order: Sequence[int]) -> None:
        self._slots = {k: place % len(PALETTE) for place, k in enumerate(order)}

    def __getitem__(self, topic: int) -> str:
        """Colour of a topic, as ``#rrggbb``."""
        slot = self._slots.get(topic)
        return OTHER if slot is None else PALETTE[slot]

    def slot(self, topic: int) -> int:
        """Return the index of a topic's colour in `PALETTE`; one past its end if not in use."""
        return self._slots.get(topic, len(PALETTE))


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


def readable_on(fill: str) -> str:
    """Return black or white, whichever contrasts more with a fill (WCAG relative luminance)."""
    luminance = 0.0
    for part, weight in zip(_channels(fill), (0.2126, 0.7152, 0.0722), strict=True):
        level = part / 255
        luminance += weight * (
            level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4
        )
    return "#000000" if luminance > 0.179 else "#ffffff"


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
