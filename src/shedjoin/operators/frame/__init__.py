"""What all joins share."""
