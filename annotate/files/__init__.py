"""Files in and out: formats, columns and cells, imports and their jobs, exports and their releases."""

import os

# Read when Arrow is loaded. Its own allocator keeps a gigabyte of addresses in reserve, which a process with a limit of
# its own does not have.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
