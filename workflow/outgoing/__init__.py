"""What goes out besides the table: what is said of a data set, proofs that a log is whole, a copy of everything."""
