"""Parameters as data: each is declared once, with its type, default, rule, help and option.

Models, baselines and the settings of preparation declare theirs in the same form. Checks,
signatures, docstrings, the options of commands, manifests and the tables of the documentation
are generated from it. Nothing here needs NumPy, because ``citeweave --help`` reads the tables too.
"""

from citeweave.parameters.declaring import Parameter, check_values, parameter, table_of
from citeweave.parameters.parametrised import Parametrised, declared
from citeweave.parameters.rules import (
    Rule,
    integer,
    number,
    one_of,
    pair,
    refusal,
    true_or_false,
)

__all__ = [
    "Parameter",
    "Parametrised",
    "Rule",
    "check_values",
    "declared",
    "integer",
    "number",
    "one_of",
    "pair",
    "parameter",
    "refusal",
    "table_of",
    "true_or_false",
]
