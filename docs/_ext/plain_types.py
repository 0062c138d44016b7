"""Types in docstrings are words ("ndarray, shape (D, K)"), not names to be looked up.

The two hyphens that Sphinx writes between a parameter and its description become a dash.
"""

import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

_HYPHENS = re.compile(r"\)? -- ")


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


def setup(app: Sphinx) -> dict[str, bool]:
    """Take part after a page is read and before references are resolved."""
    app.connect("doctree-read", leave_types_plain)
    app.connect("doctree-read", write_dashes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
