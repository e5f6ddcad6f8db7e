"""``python -m shedjoin`` is the ``shedjoin`` command."""

from shedjoin.cli.main import app

app()
