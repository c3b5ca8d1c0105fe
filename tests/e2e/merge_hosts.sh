#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two ranks of a real MPI job, one of which is changed to come from another host whose clock is 5 s ahead: both clocks
# are aligned by their common collectives.
set -u
. "$(dirname "$0")/lib.sh"

[ -x "$targets/mpi_calls" ] || skip_all 'built without MPI'
needs_mpirun

ranks 2 "$targets/mpi_calls" 40 >wanted
PILLION_STATS=false ranks 2 "$PILLION" -o job -t mpi "$targets/mpi_calls" 40 >out 2>err
is "$? $(cat out)" "0 $(cat wanted)" 'status and output'

# Time between the starts of both ranks and duration of the job, ns.
apart() {
	report stats -q -r processes -f csv "$1" |
		awk -F, '$4 == 0 { a = $5 } $4 == 1 { b = $5 } NR > 1 && $6 > n { n = $6 }
			END { printf "%.0f %.0f\n", b - a, n }'
}
near() { # A B ERROR: they differ by at most ERROR + 10 us, since each process reads its clocks one after another
	awk -v a="$1" -v b="$2" -v error="$3" 'BEGIN { d = a - b; error += 10000; exit !(d <= error && d >= -error) }'
}
read -r before duration < <(apart job.pillion)

ok 'an offset is planted' account_says plant_host.py job.pillion OMPI_COMM_WORLD_RANK=1 5000000000
# The error depends on the load of the machine; the stated bound must hold.
error=$(report stats -q -r ledger -f csv job.pillion |
	awk -F, '$2 == "elsewhere" && $3 == "clock placed to" { print $4 }')
read -r after _ < <(apart job.pillion)
ok "the hosts are aligned as before, within ${error:-no} ns" near "$before" "$after" "$error"
said=$(report info -f csv job.pillion |
	sed -n 's/.*elsewhere: .* by [0-9][0-9]* MPI collectives: \([0-9]*\) ns ahead.*/\1/p')
ok "info states the source and the offset: ${said:-nothing} ns" near "${said:-0}" 5000000000 "$error"
ok 'the error is less than the duration of the job' test "${error:-$duration}" -lt "$duration"
if report pack -q -o job.pillpack job.pillion 2>err; then
	is "$(report stats -q -r processes,mpi_sum,ledger -f csv job.pillpack)" \
		"$(report stats -q -r processes,mpi_sum,ledger -f csv job.pillion)" \
		'the packed capture gives the same reports'
fi

# Without common calls only the time of day is available.
PILLION_STATS=false ranks 2 "$PILLION" -o other -t osrt --osrt-threshold=0 "$targets/mpi_calls" 3 >out 2>err
report info job.pillion other.pillion >out 2>err
is "$?" 0 'a report with another job: status'
like "$(report stats -q -r ledger -f csv job.pillion other.pillion)" 'elsewhere,clock placed to,[0-9]+,"?ns at most' \
	'a report with another job: the ledger states the error'
done_testing
