"""Record batches: their schema, sizes, keys, times and packing."""
