"""What a user says about a join."""
