"""Parts that all kinds of joins share: protocol, step, commit and joined rows."""
