"""The slow plain-Python truth that fast code is compared with."""
