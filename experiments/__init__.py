"""The papers' tables and figures, measured again: ``python -m experiments PAPER``."""
