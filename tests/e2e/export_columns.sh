#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exports to Parquet and Arrow: what other programs read in them, and how a directory is written. pyarrow is fetched
# once per build directory, unless COLUMNS_PYTHON names a Python that has it; one that has pandas, Polars and DuckDB
# compares what these read, too.
set -u
. "$(dirname "$0")/lib.sh"

pillion -o run --osrt-threshold=0 --osrt-backtrace-threshold=0 "$targets/osrt" 20 >out 2>err
is $? 0 'a program with many calls'

# ---- the directory ----

ok 'parquetdir' report export -q -t parquetdir run.pillion
ok 'its default name is that of nsys' test -s run_pqtdir/OSRT_API.parquet
ok 'arrow' report export -q -t arrow run.pillion
ok 'its default name is that of nsys' test -s run_arwdir/OSRT_API.arrow
is "$(head -c 4 run_pqtdir/OSRT_API.parquet)$(tail -c 4 run_pqtdir/OSRT_API.parquet)" PAR1PAR1 \
	'a Parquet file is closed'
is "$(tail -c 6 run_arwdir/OSRT_API.arrow)" ARROW1 'an Arrow file is closed'
report export -q -t parquetdir run.pillion 2>err
is "$? $(grep -c 'file exists' err)" '2 1' 'an existing directory is refused'
ok 'and replaced with -f' report export -q -f true -t parquetdir run.pillion
echo mine >run_pqtdir/notes
report export -q -f true -t parquetdir run.pillion 2>err
is "$? $(grep -c 'notes in it was not exported' err) $(cat run_pqtdir/notes)" '2 1 mine' \
	'but not if it has a file that is not an export'
rm run_pqtdir/notes
report export -q -t arrow -o - run.pillion >out 2>err
is "$? $(wc -c <out) $(grep -c 'is a directory' err)" '2 0 1' 'standard output is refused'
report export -q -t arrow -o none/there run.pillion 2>err
is "$? $(ls -d none* 2>/dev/null)" '2 ' 'a path that cannot be written is an error'
is "$(echo run_*)" 'run_arwdir run_pqtdir' 'nothing temporary remains'

# ---- readers ----

# agree NAME: NAME.pillion by all three exports
agree() {
	local name=$1
	for type in sqlite parquetdir arrow; do
		report export -q -f true -t "$type" "$name.pillion" || return 1
	done
	"$python" "$tests_dir/export_columns.py" "$name.sqlite" "${name}_pqtdir" "${name}_arwdir" 2>&1
}

if ! report export -t sqlite -o - run.pillion >/dev/null 2>&1; then
	skip 'readers' 'this build has no sqlite'
elif from_pypi COLUMNS_PYTHON columns pyarrow; then
	like "$(agree run | tail -n 1)" '^[0-9]+ tables [0-9]{4,} rows pyarrow' \
		'calls and stacks are those of the database'
	"$targets/nvtx_extended" >/dev/null 2>&1
	if [ $? -ne 77 ]; then
		pillion -o ranges "$targets/nvtx_extended" >out 2>err
		like "$(agree ranges | tail -n 1)" '^[0-9]+ tables [0-9]{2,} rows pyarrow' \
			'texts, reals and NULLs are those of the database'
	else
		skip 'texts, reals and NULLs' "built without the headers of NVTX's extensions"
	fi
	doubles=$PILLION_BUILD_DIR/tests/doubles
	if [ -x "$doubles/cuda_launches" ]; then
		LD_LIBRARY_PATH=$doubles pillion -o cuda "$doubles/cuda_launches" 50 >out 2>err
		like "$(agree cuda | tail -n 1)" '^[0-9]+ tables [0-9]{2,} rows pyarrow' \
			'kernels and copies are those of the database'
	else
		skip 'kernels and copies' 'built without CUDA headers'
	fi
else
	skip 'readers' "$why"
fi
done_testing
