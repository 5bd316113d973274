"""Media: images and recordings that come with a table. None of the files is trusted."""
