#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# files_rank_sum, files_size_sum, files_meta_sum: three ranks that use files in known numbers.
set -u
. "$(dirname "$0")/lib.sh"
unset RANK PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK SLURM_JOB_ID SLURM_STEP_ID SLURM_PROCID
mkdir data
head -c 40960 /dev/zero >data/input

run() { # NAME OPTION...
	local name=$1
	shift
	for rank in 0 1 2; do # one after the other, so that rank 0 opens first
		PMIX_NAMESPACE=$name PMIX_RANK=$rank OMPI_COMM_WORLD_RANK=$rank \
			pillion -o "$name" "$@" "$targets/shared_files" "$work/data" "$rank" 2>"err.$rank" || return 1
	done
}
row() { # REPORT PATTERN COLUMNS...: of the table in ./table, by their titles
	python3 - "$@" <<-'END'
		import csv, re, sys
		pattern, titles = sys.argv[2], sys.argv[3:]
		with open("table", newline="") as f:
		    for row in csv.DictReader(f):
		        if re.search(pattern, ",".join(row.values())):
		            print(*(row[t] for t in titles), sep=",")
	END
}

ok 'three ranks run' run all --osrt-threshold 0
report stats -r files_rank_sum -f csv all.pillion >table 2>err
is "$(row - 'data/shared$' Ranks Writes 'Written (bytes)' 'Least of a Rank (bytes)' 'Most of a Rank (bytes)')" \
	3,36,50652,8692,25076 'a file that three ranks write, and the spread of its bytes'
is "$(row - 'data/input$' Ranks Reads 'Read (bytes)')" 3,33,122880 'a file that three ranks read'
is "$(row - 'data/own.1$' Ranks Writes 'Written (bytes)' 'Slowest Rank')" 1,1,2097152,1 'a file of one rank'
is "$(row - 'data/shared$' Opens 'First Opened By')" 3,0 'who opened it first'
report stats -r files_size_sum -f csv all.pillion >table 2>err
is "$(row - '^write,1M - 4M,' 'Num Calls' 'By Mean' Bytes)" 3,0,6291456 'large writes'
is "$(row - '^write,1K - 10K,' 'Num Calls' Bytes)" 6,49152 'writes of 8 KiB'
is "$(row - '^write,0 - 100,' 'Num Calls' Bytes)" 30,1500 'small writes'
is "$(row - '^read,1K - 10K,' 'Num Calls' Bytes)" 30,122880 'reads of a page'
report stats -r files_size_sum --by rank -f csv all.pillion >table 2>err
is "$(row - '^2,write,1K - 10K' Bytes)" 24576 '--by rank: writes by size'
report stats -r files_meta_sum -f csv all.pillion >table 2>err
is "$(row - 'data$' Opens Ranks Files)" 9,3,5 'opens by directory'
is "$(row - '/nonexistent$' Stats 'Failed Stats' Ranks)" 15,15,3 'attributes that were asked for by path'

# All calls are below the threshold: they are counted, and 16 calls make a file known.
ok 'short calls: three ranks run' run short --osrt-threshold 1000000000
report stats -r files_rank_sum -f csv short.pillion >table 2>err
is "$(row - 'not known' Ranks 'Read (bytes)' 'Written (bytes)')" 3,122880,6342108 'short calls: all bytes are counted'
report stats -r files_size_sum -f csv short.pillion >table 2>err
is "$(row - '^write' Bytes | awk '{ n += $1 } END { print n }')" 6342108 'short calls: by size, all bytes'
is "$(row - '^read,1K - 10K,' 'Num Calls' 'By Mean')" 33,33 'short calls: by the mean size of those of one file'
report stats -r files_meta_sum -f csv short.pillion >table 2>err
is "$(row - 'not known' Stats Opens Ranks)" 15,9,3 'short calls: opens and attributes'
done_testing
