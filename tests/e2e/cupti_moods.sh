#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CUPTI in each of its versions and moods, MOODS_ROUNDS (20) times each with other seeds: what was recorded is what was done,
# or what is missing is in the ledger; and the program never notices.
set -u
. "$(dirname "$0")/lib.sh"

doubles=$PILLION_BUILD_DIR/tests/doubles
nm -D --defined-only "$library" | grep -q ' cudaMalloc$' && [ -e "$doubles/libcuda.so.1" ] || skip_all 'built without CUDA headers'
export LD_LIBRARY_PATH="$doubles"
unset CUDA_INJECTION64_PATH
rounds=${MOODS_ROUNDS:-20}

table() { # REPORT FILE
	report stats -q -r "$1" -f csv mood.pillion >"$2"
}

ledger() { # FACT: its count
	awk -F, -v fact="$1" '$3 == fact { n += $4 } END { print n + 0 }' ledger.csv
}

# round MOOD SEED OPTION...: one run; says what is wrong with it.
round() {
	local mood=$1 seed=$2 n=$((1 + $2 % 7)) status lost
	shift 2
	rm -rf log mood.pillion
	PILLION_SIMCUPTI=$mood,seed=$seed PILLION_SIMGPU_LOG=log pillion -o mood --cuda-graph-trace=node "$doubles/cuda_launches" $n >out 2>err
	status=$?
	[ "$status $(cat out)" = "0 $(cat wanted.$n)" ] || { echo "status $status: $(cat out err)" && return 1; }
	table ledger ledger.csv && table cuda_gpu_trace:mangled trace.csv && table correlated calls.csv && table device_facts facts.csv || return 1
	[ "$mood $(ledger 'device buffers unreadable')" = 'broken 0' ] && set --
	python3 "$tests_dir/cupti_account.py" log trace.csv --calls calls.csv --facts facts.csv --nodes "$@" || return 1
	case $mood in
	dropped*) lost="$(ledger 'device records dropped') $(grep -c cupti_dropped log)" ;;
	odd*) lost="$(ledger 'device records without times') $(grep -c cupti_odd log)" ;;
	broken*) lost='0 0' && broken=$((broken + $(ledger 'device buffers unreadable'))) ;;
	*) lost="$(($(ledger 'device records dropped') + $(ledger 'device records without times') + $(ledger 'device buffers unreadable'))) 0" ;;
	esac
	[ "${lost% *}" = "${lost#* }" ] || { echo "in the ledger and in fact: $lost" && return 1; }
}

for n in 1 2 3 4 5 6 7; do
	"$doubles/cuda_launches" $n >wanted.$n 2>&1
done
broken=0 # buffers
mood() { # MOOD OPTION...
	local name=$1 seed bad=
	shift
	for seed in $(seq "$rounds"); do
		round "$name" "$seed" "$@" >said || bad="$bad seed $seed: $(cat said)"
		[ -z "$bad" ] || break
	done
	if [ -z "$bad" ]; then
		pass "$name, $rounds seeds"
	else
		fail "$name" "$bad"
	fi
}

for name in late reorder thread late,thread reorder,thread,late layout=11.8 layout=12.0 layout=12.4 layout=12.8 layout=13.0 error39; do
	mood $name
done
mood oldclock --loose 100000
mood thread,layout=11.8,oldclock --loose 100000
mood dropped --dropped
mood odd --lossy
mood broken --lossy
[ "$rounds" -lt 10 ] || ok 'some of them could not be read' [ $broken -gt 0 ]
done_testing
