"""State of a shard as stored: numbered blobs, segments, directory and workspace."""
