#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two ranks of a real MPI job, one of which is made to come from another host whose clock is 5 s ahead: both are placed
# by what they did together.
set -u
. "$(dirname "$0")/lib.sh"

[ -x "$targets/mpi_calls" ] || skip_all 'built without MPI'
needs_mpirun

ranks 2 "$targets/mpi_calls" 40 >wanted
PILLION_STATS=false ranks 2 "$PILLION" -o job -t mpi "$targets/mpi_calls" 40 >out 2>err
is "$? $(cat out)" "0 $(cat wanted)" 'status and output'

# Between the starts of both ranks, ns; and how long the job took.
apart() {
	report stats -q -r processes -f csv "$1" |
		awk -F, '$4 == 0 { a = $5 } $4 == 1 { b = $5 } NR > 1 && $6 > n { n = $6 }
			END { printf "%.0f %.0f\n", b - a, n }'
}
near() { # A B ERROR: no further from each other than that and 10 us, for the clocks of each process are read one by one
	awk -v a="$1" -v b="$2" -v error="$3" 'BEGIN { d = a - b; error += 10000; exit !(d <= error && d >= -error) }'
}
read -r before duration < <(apart job.pillion)

ok 'an offset is planted' account_says plant_host.py job.pillion OMPI_COMM_WORLD_RANK=1 5000000000
# How well that can be known depends on how busy the machine was; what is said of it must hold.
error=$(report stats -q -r ledger -f csv job.pillion |
	awk -F, '$2 == "elsewhere" && $3 == "clock placed to" { print $4 }')
read -r after _ < <(apart job.pillion)
ok "the hosts stand as before, within ${error:-no} ns" near "$before" "$after" "$error"
said=$(report info -f csv job.pillion |
	sed -n 's/.*elsewhere: .* by [0-9][0-9]* MPI collectives: \([0-9]*\) ns ahead.*/\1/p')
ok "info says by what, and how far it was off: ${said:-nothing} ns" near "${said:-0}" 5000000000 "$error"
ok 'the error is less than the whole job took' test "${error:-$duration}" -lt "$duration"
if report pack -q -o job.pillpack job.pillion 2>err; then
	is "$(report stats -q -r processes,mpi_sum,ledger -f csv job.pillpack)" \
		"$(report stats -q -r processes,mpi_sum,ledger -f csv job.pillion)" 'packed, too'
fi

# Without the calls in common there is only the time of day.
PILLION_STATS=false ranks 2 "$PILLION" -o other -t osrt --osrt-threshold=0 "$targets/mpi_calls" 3 >out 2>err
report info job.pillion other.pillion >out 2>err
is "$?" 0 'beside another job'
like "$(report stats -q -r ledger -f csv job.pillion other.pillion)" 'elsewhere,clock placed to,[0-9]+,"?ns at most' \
	'the ledger still says how far'
done_testing
