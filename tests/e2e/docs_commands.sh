#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every command that README.md, docs/user, docs/tutorials and examples/README.md print runs, on the simulated GPU where
# it says so.
# Without DOCS_PYTHON, those that need PyTorch or JAX are skipped unless python3 has them. Their text has no unknown
# file names: links are checked by the site (docs_site.sh).
. "$(dirname -- "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

root=${tests_dir%/tests/*}
# They use LD_PRELOAD, too.
PILLION_BUILD_DIR=$(dirname "$(preloadable "$PILLION_BUILD_DIR/meson-info")")
patience=$((patience * 2)) adopt python3 -B "$tests_dir/docs_commands.py" "$root" "$root"/docs/user/*.md \
	"$root"/docs/tutorials/*.md "$root/README.md" "$root/examples/README.md"
ok 'there are commands' test "$count" -gt 10
done_testing
