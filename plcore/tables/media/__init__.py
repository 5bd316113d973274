"""Media: the files that come with a table, images and recordings, opened with suspicion."""
