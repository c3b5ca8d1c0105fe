# SPDX-License-Identifier: Apache-2.0
"""What the batch scripts run: writes a file, reads it, and says which rank it is."""
import os
import tempfile

with tempfile.TemporaryFile() as file:
    for _ in range(100):
        file.write(os.urandom(100_000))
    file.seek(0)
    size = len(file.read())
print(f"rank {os.environ.get('SLURM_PROCID', '0')}: {size} bytes")
