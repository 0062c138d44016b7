"""Compiled loops over the bytes of texts: inverted indices become text, texts become tokens."""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import kernel

__all__ = ["LONGEST", "PieceArrays", "enter_again", "find_pieces", "place_words"]
__all__ += ["read_ids", "write_words"]

LONGEST = 100_000
"""Maximum number of words of an abstract that is reconstructed here."""

_QUOTE, _BACKSLASH, _COMMA, _COLON = 34, 92, 44, 58
_OPEN, _CLOSE, _BEGIN, _END = 91, 93, 123, 125
_SPACE, _LINE, _HYPHEN, _APOSTROPHE = 32, 10, 45, 39
_PRIME, _SEED = np.uint64(1099511628211), np.uint64(14695981039346656037)


@kernel
def _past_space(source: np.ndarray, at: int, stop: int) -> int:
    while at < stop and (source[at] == _SPACE or 9 <= source[at] <= 13):
        at += 1
    return at


@kernel
def _places_of(
    source: np.ndarray, start: int, stop: int, begins: np.ndarray, ends: np.ndarray
) -> int:
    """Read one index: where the word at each position begins and ends; -1 if it is not plain.

    Returns the number of positions, whether or not each has a word.
    """
    at = _past_space(source, start, stop)
    if at >= stop or source[at] != _BEGIN:
        return -1
    at = _past_space(source, at + 1, stop)
    places = 0
    if at < stop and source[at] == _END:
        return 0 if _past_space(source, at + 1, stop) == stop else -1
    while at < stop:
        if source[at] != _QUOTE:
            return -1
        begin = at + 1
        at = begin
        while at < stop and source[at] != _QUOTE:
            if source[at] == _BACKSLASH or source[at] < _SPACE:
                return -1
            at += 1
        end = at
        at = _past_space(source, at + 1, stop)
        if at >= stop or source[at] != _COLON:
            return -1
        at = _past_space(source, at + 1, stop)
        if at >= stop or source[at] != _OPEN:
            return -1
        at = _past_space(source, at + 1, stop)
        if at < stop and source[at] == _CLOSE:
            return -1
        while True:
            place, digits = 0, 0
            while at < stop and 48 <= source[at] <= 57 and digits < 7:
                place = 10 * place + int(np.int64(source[at])) - 48
                digits += 1
                at += 1
            if digits == 0 or place >= LONGEST:
                return -1
            while places <= place:
                begins[places] = -1
                places += 1
            if begins[place] >= 0:
                return -1  # two words at one position
            begins[place] = begin
            ends[place] = end
            at = _past_space(source, at, stop)
            if at < stop and source[at] == _COMMA:
                at = _past_space(source, at + 1, stop)
            elif at < stop and source[at] == _CLOSE:
                at = _past_space(source, at + 1, stop)
                break
            else:
                return -1
        if at < stop and source[at] == _COMMA:
            at = _past_space(source, at + 1, stop)
        elif at < stop and source[at] == _END:
            return places if _past_space(source, at + 1, stop) == stop else -1
        else:
            return -1
    return -1


@kernel
def place_words(
    source: np.ndarray,
    bounds: np.ndarray,
    first: int,
    begins: np.ndarray,
    ends: np.ndarray,
    text: np.ndarray,
    stops: np.ndarray,
) -> int:
    """Write the texts of inverted indices, concatenated.

    Parameters
    ----------
    source : ndarray of uint8
        The indices as JSON, concatenated.
    bounds : ndarray of int64
        Where each index begins, and where the last one ends.
    first : int
        Number of the first index to read.
    begins, ends : ndarray of int64, length `LONGEST`
        Scratch.
    text : ndarray of uint8
        Filled with the texts.
    stops : ndarray of int64
        Filled with the end of each text. An index that is not plain (escapes, two words at one
        position) gets an empty text.

    Returns
    -------
    int
        The first index whose text did not fit, or the number of indices if all did.
    """
    at = stops[first - 1] if first > 0 else 0
    for number in range(first, len(bounds) - 1):
        places = _places_of(source, bounds[number], bounds[number + 1], begins, ends)
        size = 0
        for place in range(places):
            if begins[place] >= 0:
                size += ends[place] - begins[place] + 1
        if at + size > len(text):
            return number
        for place in range(places):
            if begins[place] >= 0:
                for byte in range(begins[place], ends[place]):
                    text[at] = source[byte]
                    at += 1
                text[at] = _SPACE
                at += 1
        if size:
            at -= 1  # no space after the last word
        stops[number] = at
    return len(bounds) - 1


@kernel
def read_ids(
    source: np.ndarray,
    bounds: np.ndarray,
    prefix: np.ndarray,
    numbers: np.ndarray,
    stops: np.ndarray,
) -> None:
    """Read the numbers in lists of ids such as ``["https://openalex.org/W2741809807"]``.

    Parameters
    ----------
    source, bounds : ndarray
        Lists as JSON, concatenated; where each begins, and where the last one ends.
    prefix : ndarray of uint8
        The text before a number, including the quotation mark.
    numbers : ndarray of int64
        Filled with the numbers.
    stops : ndarray of int64
        Filled with the end of the numbers of each list; -1 for a list of anything else.
    """
    filled = 0
    for number in range(len(bounds) - 1):
        before = filled
        at, stop = bounds[number] + 1, bounds[number + 1]
        good = stop > at and source[at - 1] == _OPEN
        while good:
            for byte in prefix:
                if at >= stop or source[at] != byte:
                    good = False
                    break
                at += 1
            value, digits = 0, 0
            while good and at < stop and 48 <= source[at] <= 57:
                value = 10 * value + int(np.int64(source[at])) - 48
                digits += 1
                at += 1
            good = good and 0 < digits <= 18 and at + 1 < stop and source[at] == _QUOTE
            if not good:
                break
            numbers[filled] = value
            filled += 1
            at += 2
            if source[at - 1] == _CLOSE and at == stop:
                break
            good = source[at - 1] == _COMMA
        if good:
            stops[number] = filled
        else:
            stops[number] = -1
            filled = before


class PieceArrays(NamedTuple):
    """A hash table of pieces of text: open addressing, at most half full.

    Attributes
    ----------
    slots : ndarray of int32
        Numbers of pieces by hash, -1 if empty; the length is a power of two.
    starts : ndarray of int64
        Where the bytes of each piece begin, and where those of the next piece would.
    store : ndarray of uint8
        The bytes.
    """

    slots: np.ndarray
    starts: np.ndarray
    store: np.ndarray


@kernel
def _is_alphanumeric(byte: int) -> bool:
    return 97 <= byte <= 122 or 48 <= byte <= 57 or 65 <= byte <= 90


@kernel
def _piece_end(text: np.ndarray, at: int, stop: int) -> int:
    """Return the end of the piece at `at` in a part of ASCII characters, by the word pattern."""
    if not _is_alphanumeric(text[at]):
        return at + 1
    at += 1
    while at < stop:
        if _is_alphanumeric(text[at]):
            at += 1
        elif (
            (text[at] == _HYPHEN or text[at] == _APOSTROPHE)
            and at + 1 < stop
            and _is_alphanumeric(text[at + 1])
        ):
            at += 2
        else:
            break
    return at


@kernel
def _slot_of(text: np.ndarray, start: int, stop: int, mask: int) -> int:
    """Return the slot to begin with: FNV-1a of the bytes."""
    key = _SEED
    for at in range(start, stop):
        key = (key ^ np.uint64(text[at])) * _PRIME
    return int(np.int64((key ^ (key >> np.uint64(32))) & np.uint64(mask)))


@kernel
def enter_again(table: PieceArrays, known: int) -> None:
    """Fill the slots of a table whose pieces are all different."""
    mask = len(table.slots) - 1
    for number in range(known):
        slot = _slot_of(table.store, table.starts[number], table.starts[number + 1], mask)
        while table.slots[slot] >= 0:
            slot = (slot + 1) & mask
        table.slots[slot] = number


@kernel
def _number_of(text: np.ndarray, start: int, stop: int, table: PieceArrays, known: int) -> int:
    """Return the number of a piece; `known` if it is new and was added, -1 if the table is full."""
    mask = len(table.slots) - 1
    slot = _slot_of(text, start, stop, mask)
    while table.slots[slot] >= 0:
        number = table.slots[slot]
        begin = table.starts[number]
        if table.starts[number + 1] - begin == stop - start:
            same = True
            for i in range(stop - start):
                if table.store[begin + i] != text[start + i]:
                    same = False
                    break
            if same:
                return int(np.int64(number))
        slot = (slot + 1) & mask
    begin = table.starts[known]
    if (
        2 * (known + 1) > len(table.slots)
        or known + 2 > len(table.starts)
        or begin + stop - start > len(table.store)
    ):
        return -1
    for i in range(stop - start):
        table.store[begin + i] = text[start + i]
    table.starts[known + 1] = begin + stop - start
    table.slots[slot] = known
    return known


@kernel
def find_pieces(
    text: np.ndarray, start: int, table: PieceArrays, known: int, found: np.ndarray, filled: int
) -> tuple[int, int, int]:
    """Split texts and number their pieces; equals `text.pieces` on parts between spaces.

    Parameters
    ----------
    text : ndarray of uint8
        Texts in UTF-8 and lower case, one per line.
    start : int
        Where to begin; the start of a part.
    table : PieceArrays
        Table to which new pieces are added. A part with a non-ASCII character is one piece.
    known : int
        Number of pieces in the table.
    found : ndarray of int32
        Filled with the numbers of pieces, -1 at the end of a text.
    filled : int
        Length of its filled part.

    Returns
    -------
    at, known, filled : int
        Where it stopped: at the end of the text, or where the table had no room for a piece.
    """
    stop = len(text)
    at = start
    while at < stop:
        if text[at] == _LINE:
            found[filled] = -1
            filled += 1
            at += 1
            continue
        if text[at] == _SPACE:
            at += 1
            continue
        end = at
        ascii_only = True
        while end < stop and text[end] != _SPACE and text[end] != _LINE:
            if text[end] >= 128:
                ascii_only = False
            end += 1
        before = filled
        begin = at
        while begin < end:
            piece_end = _piece_end(text, begin, end) if ascii_only else end
            number = _number_of(text, begin, piece_end, table, known)
            if number < 0:
                return at, known, before
            if number == known:
                known += 1
            found[filled] = number
            filled += 1
            begin = piece_end
        at = end
    return at, known, filled


@kernel
def write_words(
    found: np.ndarray, first: np.ndarray, numbers: np.ndarray, stream: np.ndarray, stops: np.ndarray
) -> int:
    """Write the words of texts, with -1 for breaks; equals `TextColumns.add_all`.

    Parameters
    ----------
    found : ndarray of int32
        From `find_pieces`.
    first, numbers : ndarray
        The words of piece i are ``numbers[first[i]:first[i + 1]]``, -1 for no word.
    stream : ndarray of int32
        Filled with words.
    stops : ndarray of int64
        Filled with the end of the words of each text.

    Returns
    -------
    int
        Length of the filled part of `stream`.
    """
    at, texts = 0, 0
    after_word = False
    for i in range(len(found)):
        piece = found[i]
        if piece < 0:
            stops[texts] = at
            texts += 1
            after_word = False
            continue
        for place in range(first[piece], first[piece + 1]):
            word = numbers[place]
            if word >= 0 or after_word:  # a single break is kept after a word of the same text
                stream[at] = word
                at += 1
            after_word = word >= 0
    return at
