"""The list of rows on the Queue and Review pages, the drawer of the open row, and other parts that both
share."""
