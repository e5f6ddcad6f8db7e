"""The join under a budget: slots that are reused, and a policy that frees them."""
