"""The file format. Only the limited process that reads a file imports this module."""


def read_markdown(data: bytes, name: str) -> dict[str, list[str]]:
    """Return the cells of each column of a table in Markdown: names, a rule, and a line for each row."""
    lines = [line.split("|")[1:-1] for line in data.decode().splitlines() if line.strip()]
    names, _rule, *rows = lines
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise ValueError(f"row {number} of {name!r} has {len(row)} cells, and its first line {len(names)}")
    return {column.strip(): [row[place].strip() for row in rows] for place, column in enumerate(names)}
