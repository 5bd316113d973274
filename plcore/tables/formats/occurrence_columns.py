"""The columns of databases of nature, and those of a table that they are filled from."""

from __future__ import annotations

from plcore.tables.formats.detections import NO_SPECIES, NOTHING
from plcore.tables.formats.speciesnet import BLANK

CAMTRAP_DP = (
    "observationID", "deploymentID", "mediaID", "eventID", "eventStart", "eventEnd", "observationLevel",
    "observationType", "cameraSetupType", "scientificName", "count", "lifeStage", "sex", "behavior", "individualID",
    "individualPositionRadius", "individualPositionAngle", "individualSpeed", "bboxX", "bboxY", "bboxWidth",
    "bboxHeight", "classificationMethod", "classifiedBy", "classificationTimestamp", "classificationProbability",
    "observationTags", "observationComments",
)  # fmt: skip
"""The fields of `observations.csv`, in the order of its table schema (Camtrap DP 1.0, tdwg/camtrap-dp)."""

DARWIN_CORE = (
    "occurrenceID", "basisOfRecord", "eventDate", "decimalLatitude", "decimalLongitude", "scientificName",
    "vernacularName", "taxonRank", "identifiedBy", "dateIdentified", "identificationVerificationStatus",
    "identificationQualifier", "identificationRemarks", "associatedMedia",
)  # fmt: skip

EBIRD = (
    "Common Name", "Genus", "Species", "Number", "Species Comments", "Location Name", "Latitude", "Longitude", "Date",
    "Start Time", "State/Province", "Country Code", "Protocol", "Number of Observers", "Duration",
    "All observations reported?", "Effort Distance Miles", "Effort area acres", "Submission Comments",
)  # fmt: skip
"""The columns of eBird's record format (extended), which has no header."""

TYPES = {NOTHING: "blank", BLANK: "blank", "human": "human", "vehicle": "vehicle", **NO_SPECIES}
"""The type of observation, in the words of Camtrap DP, of the classes of detectors that are no species."""

COLUMNS = {
    "deployment": ("deploymentid", "deployment_id", "deployment", "station", "recorder", "camera"),
    "place": ("location name", "location_name", "locality", "location", "site", "locationname"),
    "latitude": ("latitude", "lat", "decimallatitude"),
    "longitude": ("longitude", "lon", "lng", "long", "decimallongitude"),
    "when": ("eventstart", "datetime", "date_time", "timestamp", "eventdate", "recorded_at", "date"),
    "end": ("eventend",),
    "time": ("start time", "start_time", "time"),
    "state": ("state", "stateprovince", "admin1_region"),
    "country": ("country code", "countrycode", "country"),
}
"""Columns, in lower case, in which a table may say what Winnow cannot know."""
