#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion recipe: what the recipes compute from several captures, against the reports. SCALE_PYTHON names a Python that
# has dask, distributed, pandas and pyarrow.
set -u
. "$(dirname "$0")/lib.sh"

cat >bare <<-'END'
	#!/bin/sh
	exec python3 -S -E "$@"
END
chmod +x bare
PILLION_PYTHON=./bare "$PILLION" recipe diff a.pillion b.pillion >out 2>err
is "$? $(cat out)" '2 ' 'without the packages: status 2'
like "$(cat err)" '^pillion recipe: .* has no dask, distributed, .*PILLION_PYTHON' 'without the packages: it names them'
PILLION_PYTHON=./bare "$PILLION" recipe --help >out 2>err
is "$? $(cat err)" '0 ' 'without the packages: --help'
like "$(cat out)" '^  cuda_gpu_kern_pace +[A-Z]' 'it lists the recipes'
is "$(PILLION_PYTHON=./bare "$PILLION" help recipe 2>&1)" "$(cat out)" 'help recipe is its --help'
is "$(PILLION_PYTHON=./bare "$PILLION" recipe --version 2>&1)" "$("$PILLION" stats --version)" '--version'
export PILLION_PYTHON=${SCALE_PYTHON:-python3}
"$PILLION_PYTHON" -c 'import dask, distributed, pandas, pyarrow' 2>/dev/null || {
	skip 'the recipes' 'no Python with dask, distributed, pandas and pyarrow (SCALE_PYTHON)'
	done_testing
	exit
}

writer=$PILLION_BUILD_DIR/tests/trace-writer
"$writer" job one.pillion
"$writer" job two.pillion
"$writer" launches launches.pillion 2000
"$writer" mpi mpi.pillion 3000

recipe() {
	"$PILLION" recipe "$@"
}

# column TITLE...: these columns of the CSV on stdin.
columns() {
	"$PILLION_PYTHON" -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print("|".join(str(float(row[t])) if row[t].replace(".", "", 1).isdigit() else row[t]
                   for t in sys.argv[1:]))' "$@"
}

recipe cuda_gpu_kern_pace launches.pillion one.pillion >pace
is "$(grep '^launches' pace | cat <(head -1 pace) - | columns 'Total Time (ns)' Instances 'Med (ns)' Name | sort)" \
	"$(report stats -q -r cuda_gpu_kern_sum -f csv launches.pillion |
		columns 'Total Time (ns)' Instances 'Med (ns)' Name | sort)" \
	'cuda_gpu_kern_pace: the sums of the report'
is "$(recipe cuda_gpu_kern_pace --name 'kernel07(float*)' launches.pillion | tail -1 | cut -d, -f5)" \
	"$(report stats -q -r cuda_gpu_kern_sum -f csv launches.pillion | awk -F, '/kernel07/ { print $3 }')" \
	'--name: each instance'
is "$(recipe nvtx_gpu_proj_pace one.pillion | columns 'Total Time (ns)' Instances Name)" \
	"$(report stats -q -r nvtx_gpu_proj_sum -f csv one.pillion |
		columns 'Total Proj Time (ns)' 'Range Instances' Range)" 'nvtx_gpu_proj_pace'
is "$(recipe nccl_sum one.pillion one.pillion | columns Name 'Total Time (ns)' 'Num Calls' Bytes)" \
	"$(report stats -q -r nccl_sum -f csv one.pillion | columns Name 'Total Time (ns)' 'Num Calls' Bytes |
		awk -F'|' '{ printf "%s|%.1f|%.1f|%.1f\n", $1, 2 * $2, 2 * $3, 2 * $4 }')" 'nccl_sum: twice one capture'
is "$(recipe mpi_gpu_time_util_map --bins 7 mpi.pillion | columns 'Start (ns)' 'End (ns)' 'MPI (%)' |
	awk -F'|' '{ sum += ($2 - $1) * $3 / 100 } END { printf "%.0f\n", sum }')" \
	"$(report stats -q -r mpi_sum -f csv mpi.pillion | columns 'Total Time (ns)' |
		awk '{ sum += $1 } END { printf "%.0f\n", sum }')" 'mpi_gpu_time_util_map: all time in MPI'
is "$(recipe gpu_gaps --gap 5 one.pillion | columns 'Duration (ns)' | sort | uniq -c | awk '{ print $1, $2 }')" \
	'1 13325000.0
11 17500000.0' 'gpu_gaps'
is "$(recipe diff one.pillion two.pillion | columns 'Total Change' 'Count Change' | sort -u)" '0.0|0.0' \
	'diff of equal captures'
is "$(recipe diff --report osrt_sum one.pillion mpi.pillion | columns 'Total 1' 'Total 2' Name)" \
	"$(report stats -q -r osrt_sum -f csv one.pillion | columns 'Total Time (ns)' Name | sed 's/|/|0.0|/')" 'diff'
"$writer" large large.pillion 30000 2 5
for options in '-f csv' '-f json -r osrt_sum,nvtx_sum,time_sum' '-f column --by=rank -r mpi_sum --top=3'; do
	# shellcheck disable=SC2086
	report stats $options mpi.pillion large.pillion >one 2>one.err
	# shellcheck disable=SC2086
	recipe stats --workers 2 $options mpi.pillion large.pillion >two 2>two.err
	is "$?" 0 "stats $options: status"
	ok "stats $options: the tables of one process" cmp one two
	ok "stats $options: its messages" cmp one.err <(grep -v '^[0-9-]* [0-9:,]* - distributed' two.err)
done
recipe stats -o sums.csv -r osrt_sum large.pillion
report stats -q -r osrt_sum -f csv large.pillion >one
ok 'stats -o' cmp one sums.csv
recipe stats -r osrt_sum missing.pillion >out 2>err
is "$? $(cat out)" '2 ' 'stats of a missing capture: status 2'
like "$(cat err)" '^pillion stats: .*missing.pillion: No such file or directory$' 'stats: the message'
recipe nccl_sum --by=rank one.pillion >out 2>err
is "$? $(tail -1 err)" '2 pillion recipe: error: unrecognized arguments: --by' 'other recipes have no --by'
recipe diff one.pillion missing.pillion >out 2>err
is "$? $(cat out)" '2 ' 'a missing capture: status 2'
like "$(cat err)" '^pillion recipe: .*missing.pillion: No such file or directory$' 'a missing capture: the message'
done_testing
