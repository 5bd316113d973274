"""What is kept: engine, tables and one module of queries per thing stored. Knows neither plcore nor web."""
