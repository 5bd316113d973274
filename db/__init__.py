"""What is stored: engine, tables and one module of queries for each thing. Knows neither plcore nor web."""
