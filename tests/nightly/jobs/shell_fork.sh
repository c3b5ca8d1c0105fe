#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# shell_fork.sh planted|clean: sums the bytes of each user in an access log and sorts the result.
# Planted: two programs are started for each line, to cut out the fields. Clean: awk reads the whole log.

make_log() {
	awk 'BEGIN {
		for (i = 0; i < 2000000; i++)
			printf "10.0.%d.%d user%d GET /item/%d %d\n", i % 7, i % 251, i * 31 % 97, i, i * 37 % 5000
	}'
}

report_each() {
	declare -A bytes
	while read -r line; do
		user=$(echo "$line" | cut -d ' ' -f 2) # PLANT
		size=$(echo "$line" | cut -d ' ' -f 5) # PLANT
		bytes[$user]=$((${bytes[$user]:-0} + size))
	done < <(head -n 1000 access.log)
	for user in "${!bytes[@]}"; do
		echo "$user ${bytes[$user]}"
	done
}

report() {
	head -n 1000 access.log | awk '{ bytes[$2] += $5 } END { for (user in bytes) print user, bytes[user] }'
}

make_log >access.log
if [ "$1" = planted ]; then report_each; else report; fi | sort >report
sort -k 5 -n access.log | cksum
cksum <report
