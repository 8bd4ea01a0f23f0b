"""`manage.py backup` and `restore`: the database and the stored files in one tar (docs/decisions/0062-backup.md).

Its members: `touchstone-backup` with the number of this format; `files/NAME` as they are stored; `tables/NAME` as
PostgreSQL's COPY writes them, ordered by primary key; `manifest.json` with the rows, size and SHA-256 of each, the
migrations that the tables are of and the state of their sequences; `manifest.sha256`. The manifest says nothing of when
and where it was made: two installations with the same content have the same one.
"""
