"""Files in and out: formats, columns and cells, imports and their jobs, exports and their releases."""
