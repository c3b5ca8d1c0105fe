#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where Slurm is installed: some jobs of tests/nightly/slurm.sh, which takes seconds for them.
exec "$(dirname "$0")/../nightly/slurm.sh" single steps array multiprog heterogeneous examples
