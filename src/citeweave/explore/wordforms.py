"""Forms of one word: enough English to see that "networks" is "network", not to show."""

__all__ = ["singular"]

_NO_PLURAL = ("ss", "us", "is", "ics")


def singular(phrase: str) -> str:
    """Return a word, or a phrase with its last word, in the singular.

    Examples
    --------
    >>> [singular(word) for word in ("neural networks", "theories", "classes", "analysis", "gas")]
    ['neural network', 'theory', 'class', 'analysis', 'gas']
    """
    plain = phrase.casefold()
    if len(plain) < 5 or plain.endswith(_NO_PLURAL) or not plain.endswith("s"):
        return plain
    if plain.endswith("ies"):
        return plain[:-3] + "y"
    if plain.endswith(("sses", "shes", "ches", "xes", "zes")):
        return plain[:-2]
    return plain[:-1]
