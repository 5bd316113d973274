"""The use cases as plain functions: the only code that joins plcore and db."""
