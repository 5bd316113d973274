"""Language models of the owner's own make shortlists: candidates with weights for each row of a table."""
