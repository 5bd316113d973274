"""The files that a stored table names, read without pandas and SciPy, for backups and `winnow doctor`."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet


def read_kept_names(path: Path) -> frozenset[str]:
    """Read only the stored names of the files that the rows of a stored table name. Raises OSError."""
    with pa.OSFile(str(path)) as file, pa.parquet.ParquetFile(file) as stored:
        names = [name for name in stored.schema_arrow.names if name.startswith("media:")]
        data = stored.read(columns=names) if names else pa.table({})
    flat = (pc.list_flatten(one) if pa.types.is_list(one.type) else one for one in data.columns)
    return frozenset(name for column in flat for name in column.unique().to_pylist() if name)
