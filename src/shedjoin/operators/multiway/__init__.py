"""The join by predicates: residents in sorted basic windows."""
