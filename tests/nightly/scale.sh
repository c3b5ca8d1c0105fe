#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples/scale: osrt_sum by DuckDB, Dask and Spark from Parquet equals that of the report. SCALE_PYTHON names a Python
# that has duckdb, dask, distributed, pandas, pyarrow and pyspark.
set -u
. "$(dirname "$0")/../e2e/lib.sh"
python=${SCALE_PYTHON:-python3}
sums=${tests_dir%/tests/*}/examples/scale/osrt_sum.py

has() { # PACKAGE...
	"$python" -c 'import importlib.util, sys
sys.exit(not all(importlib.util.find_spec(name) for name in sys.argv[1:]))' "$@"
}

# columns FILE: what the example computes, of a report's CSV. Medians of the report are rounded to 0.1.
columns() {
	"$python" -c 'import csv, sys
for r in csv.DictReader(open(sys.argv[1])):
    print(r["Total Time (ns)"], r["Num Calls"], "%.1f" % float(r["Med (ns)"]), r["Min (ns)"], r["Max (ns)"], r["Name"])
' "$1"
}

"$PILLION_BUILD_DIR/tests/trace-writer" large large.pillion 200000 2 3
"$PILLION_BUILD_DIR/tests/trace-writer" job job.pillion
for capture in large job; do
	ok "$capture: export" report export -q -t parquetdir -o $capture.parquet $capture.pillion
done
report stats -q -r osrt_sum -f csv large.pillion job.pillion >wanted
columns wanted | sort >wanted.rows
engines=
if has duckdb; then
	engines='duckdb'
else
	skip 'DuckDB' 'no duckdb (SCALE_PYTHON)'
fi
if has dask distributed pandas pyarrow; then
	engines+=' dask'
else
	skip 'Dask' 'no dask (SCALE_PYTHON)'
fi
if has pyspark && command -v java >/dev/null; then
	engines+=' spark'
else
	skip 'Spark' 'no pyspark (SCALE_PYTHON) or no java (default-jre-headless)'
fi
for engine in $engines; do
	"$python" "$sums" "$engine" large.parquet job.parquet >"$engine" 2>err
	is "$?" 0 "$engine: status"
	is "$(columns "$engine" | sort)" "$(cat wanted.rows)" "$engine: the table of the report"
done
done_testing
