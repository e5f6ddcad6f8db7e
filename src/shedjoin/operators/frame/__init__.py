"""What all joins share: the protocol, the step, the commit and joined rows."""
