"""The list of rows on the Queue and Review pages, the drawer in which one is open, and what else both show of a row."""
