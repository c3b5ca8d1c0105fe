#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shell_job.sh STEPS EXTRA: seven programs in each step; factor has EXTRA numbers more.
LC_ALL=C
export LC_ALL
text=$(seq 20000 | sed 's/$/ the quick brown fox/')
step=0
while [ "$step" -lt "$1" ]; do
	echo "$text" | sort -r -k 3,3 -k 1,1 | tail -n 1
	echo "$text" | sed 's/quick/slow/; s/\([0-9]*\) the/the \1/' | tail -n 1
	echo "$text" | awk '{ count[substr($1, 1, 2)]++ } END { print length(count) }'
	echo "$text" | grep -c '[13579]*5 .*[a-z]*x$'
	seq $((25000 + $2)) | factor | tail -n 1 # PLANT
	echo "$text" | gzip -9 | wc -c
	echo "$text" | sha256sum
	step=$((step + 1))
done
