"""Tables and figures of iJoin."""
