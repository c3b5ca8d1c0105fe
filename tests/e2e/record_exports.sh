#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The object exports the table's names and nothing else, needs libc alone, and no symbol newer than GLIBC_2.17.
set -u
. "$(dirname "$0")/lib.sh"

is "$(objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }')" libc.so.6 'needs libc alone'
newest=$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
is "$(printf '%s\nGLIBC_2.17\n' "$newest" | sort -V | tail -1)" GLIBC_2.17 "no symbol newer than GLIBC_2.17 ($newest)"
is "$(objdump -p "$library" | awk '/^ *STACK/ { getline; print $NF }')" rw- 'no executable stack'

# The table after preprocessing, the injection entries and the auditor's entries.
{
	"$PILLION_BUILD_DIR/tests/hook-names"
	printf '%s\n' InitializeInjectionNvtx2 InitializeInjectionNvtxExtension InitializeInjection pillion_bind
} | sort -u >table
nm -g -D --defined-only "$library" | awk '{ print $3 }' | sort -u >exported
is "$(comm -13 table exported)" '' 'exports nothing that is not in the table'
is "$(comm -23 table exported)" '' 'exports everything in the table'

# memray compares their addresses, which are the same in libc.
is "$(nm -D "$library" | awk '$3 == "mmap" || $3 == "mmap64" { print $1 }' | uniq | wc -l)" 1 \
	'mmap and mmap64 are one function'

# The loader loads the auditor into a separate namespace without libc.
auditor=${library%/*}/libpillion-audit.so
is "$(objdump -p "$auditor" | grep -c NEEDED)$(nm -D --undefined-only "$auditor")" 0 'the auditor needs nothing'
is "$(nm -g -D --defined-only "$auditor" | awk '{ print $3 }' | sort | tr '\n' ' ')" \
	'la_objopen la_preinit la_symbind64 la_version ' \
	'the auditor exports the entries that the loader needs'
done_testing
