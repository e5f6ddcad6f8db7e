"""Messages that change how a running join sheds, and the record of them."""
