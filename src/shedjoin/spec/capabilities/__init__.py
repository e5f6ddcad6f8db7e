"""Which joins can be combined with which features."""
