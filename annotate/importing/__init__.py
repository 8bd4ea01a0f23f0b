"""Files in: readers turn bytes into rows, a mapping names the fields, an importer checks the rows and writes them.

`engine.run` is the one way through, for the browser, the API and the command line.
"""
