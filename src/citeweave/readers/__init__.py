"""Readers of bibliographic files: one small reader a format, chosen by content."""
