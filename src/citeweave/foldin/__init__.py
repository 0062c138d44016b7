"""Fold-in: topics of new documents, with the estimates of the model held fixed."""

from citeweave.foldin.arrays import Base, Documents, Means, Sets
from citeweave.foldin.run import METHODS, fold_in_documents, group_posteriors

__all__ = ["METHODS", "Base", "Documents", "Means", "Sets", "fold_in_documents", "group_posteriors"]
