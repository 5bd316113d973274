"""Parts of the Import page: boxes for files, and the roles of columns."""
