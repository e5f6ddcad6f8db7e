"""What a user asks for, checked once for both engines."""
