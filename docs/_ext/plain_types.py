"""Types in docstrings are words ("ndarray, shape (D, K)"), not names to be looked up.

The two hyphens between a parameter and its description become a dash. Attributes keep the
underscore at the end of their name, and several that are described together stay together.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import literal_strong, pending_xref
from sphinx.application import Sphinx

_HYPHENS = re.compile(r"\)? -- ")
_ATTRIBUTES = re.compile(r":(ivar|vartype) (\w+(?:, \w+)*):")


def leave_types_plain(_: Sphinx, document: nodes.document) -> None:
    """Replace the references that Sphinx makes of the words of a type by the words themselves."""
    for reference in list(document.findall(pending_xref)):
        about = reference.attributes
        if about.get("reftype") == "class" and about.get("refspecific"):
            reference.replace_self(reference.children)


def write_dashes(_: Sphinx, document: nodes.document) -> None:
    """Write a dash for the two hyphens after the names of parameters, attributes and results."""
    for field in document.findall(nodes.field_body):
        for text in list(field.findall(nodes.Text)):
            if _HYPHENS.match(text):
                text.parent.replace(text, nodes.Text(text.replace(" -- ", " – ", 1)))


def keep_names(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Write names of attributes so that Sphinx changes none.

    It would take an underscore at the end for a reference, and the first of several names for a
    type.
    """
    for number, line in enumerate(lines):
        if found := _ATTRIBUTES.match(line):
            names = re.sub(r"_(?=,|$)", r"\\_", found[2]).replace(" ", "")
            lines[number] = f":{found[1]} {names}:{line[found.end() :]}"


def part_names(_: Sphinx, document: nodes.document) -> None:
    """Put the spaces back between names that are described together."""
    for field in document.findall(nodes.field_body):
        for name in list(field.findall(literal_strong)):
            if "," in name.astext():
                name.children = [nodes.Text(name.astext().replace(",", ", "))]


def setup(app: Sphinx) -> dict[str, bool]:
    """Take part after a page is read and before references are resolved."""
    app.connect("doctree-read", leave_types_plain)
    app.connect("doctree-read", write_dashes)
    app.connect("doctree-read", part_names)
    app.connect("autodoc-process-docstring", keep_names, priority=600)  # after napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
