"""Writers: the formats in which a disambiguated table is exported."""
