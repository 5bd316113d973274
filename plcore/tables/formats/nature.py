"""The formats in which what people said of tables of detectors is given out; each tells of which tables (`fits`)."""

from __future__ import annotations

from collections.abc import Mapping

from plcore.tables.formats.disambiguated import Disambiguated
from plcore.tables.formats.occurrences import OCCURRENCE_FORMATS
from plcore.tables.formats.verified_tables import VERIFIED_FORMATS
from plcore.tables.formats.writing import FileFormat

NATURE_FORMATS: Mapping[str, FileFormat[Disambiguated]] = {
    each.name: each for each in (*VERIFIED_FORMATS, *OCCURRENCE_FORMATS)
}
"""The formats by name: the same table first."""
