"""Storage: engine, tables and one module of queries for each thing. Imports neither plcore nor web."""

from db import models  # all tables are known, whichever queries are imported first
