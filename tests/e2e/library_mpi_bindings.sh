#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each call of MPI is recorded once with its bytes, in every language and with every MPI library here: mpi_sum equals
# an independent counter of the profiling interface in a run without pillion.
set -u
. "$(dirname "$0")/lib.sh"

sources=$tests_dir/../targets
python=${MPI4PY_PYTHON:-python3}
# Ranks communicate by shared memory or the loopback interface.
export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo FI_PROVIDER=tcp FI_TCP_IFACE=lo

# ranks_of MPI COMMAND...: two of them.
ranks_of() {
	if [ "$1" = mpich ]; then
		timeout "$patience" mpirun.mpich -iface lo -n 2 "${@:2}"
	else
		[ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
		timeout "$patience" mpirun.openmpi --oversubscribe -n 2 "${@:2}"
	fi
}

# sum_of FILE...: "FUNCTION CALLS BYTES", summed over the ranks' files.
sum_of() {
	awk '{ calls[$1] += $2; bytes[$1] += $3 }
		END { for (name in calls) print name, calls[name], bytes[name] }' "$@" | sort
}

# recorded CAPTURE: likewise from mpi_sum.
recorded() {
	report stats -q -r mpi_sum -f csv "$1.pillion" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 { print $at["Name"], $at["Num Calls"], $at["Bytes"] + 0 }' | sort
}

# counted MPI TEXT COMMAND...: compares both runs of the command.
counted() {
	local mpi=$1 text=$2 functions

	shift 2
	rm -rf counts.* job.pillion
	MPI_COUNTER=$work/counts ranks_of "$mpi" env LD_PRELOAD="$work/counter.$mpi.so" "$@" >wanted 2>err
	is "$? $(ls counts.* | wc -l)" '0 2' "$text: the counter's run"
	PILLION_STATS=false ranks_of "$mpi" "$PILLION" -o job -t mpi --cudabacktrace=all:0 "$@" >out 2>err
	is "$? $(cat out)" "0 $(cat wanted)" "$text: status and output"
	functions=$(sum_of counts.* | wc -l)
	ok "$text: $functions functions are called" test "$functions" -ge 30
	is "$(recorded job)" "$(sum_of counts.*)" "$text: calls and bytes are those of the counter"
}

is_here() { # MPI
	{ command -v "mpicc.$1" && command -v "mpirun.$1"; } >/dev/null && ranks_of "$1" true >out 2>err
}

# build MPI: the counter, as a library that is preloaded and as an application's own tool, and the program in C.
build() {
	mpicc."$1" -w -shared -fPIC -DSHIFTED -o "counter.$1.so" "$sources/mpi_counter.c" -ldl &&
		mpicc."$1" -w -shared -fPIC -o "libtool.$1.so" "$sources/mpi_counter.c" -ldl &&
		mpicc."$1" -w -g -o "c.$1" "$sources/mpi_functions.c" &&
		mpicc."$1" -w -g -o "tool.$1" "$sources/mpi_functions.c" -Wl,--no-as-needed -L. "-ltool.$1" \
			"-Wl,-rpath,$work"
}

# tool MPI: a tool that defines MPI_Send and calls PMPI_Send counts what it counts without pillion, and each call is
# recorded once.
tool() {
	rm -rf tool.pillion
	MPI_COUNTER=$work/bare ranks_of "$1" "./tool.$1" 5 >wanted 2>err
	MPI_COUNTER=$work/beneath PILLION_STATS=false ranks_of "$1" "$PILLION" -o tool -t mpi "./tool.$1" 5 >out 2>err
	is "$? $(cat out)" "0 $(cat wanted)" "$1, the program's own tool: status and output"
	is "$(cat beneath.*)" "$(cat bare.*)" "$1, the program's own tool: it counts the same"
	is "$(recorded tool)" "$(sum_of bare.*)" "$1, the program's own tool: each call is recorded once"
	rm -f bare.* beneath.*
}

# fortran MPI: the three bindings. Old ones have no interfaces, which the compiler would complain about. Debian's
# wrapper of MPICH says -O2, by which the function that calls would become a part of the main program.
fortran() {
	local binding
	local -A flags=([mpif.h]='-std=legacy -DMPIF_H' [mpi]='' [mpi_f08]=-DMPI_F08)

	for binding in mpif.h mpi mpi_f08; do
		# shellcheck disable=SC2086 # a list
		if mpifort."$1" -w -g -O0 ${flags[$binding]} -o "fortran.$binding" "$sources/mpi_functions.F90" \
			>err 2>&1; then
			counted "$1" "$1, Fortran's $binding" "./fortran.$binding"
		else
			skip "$1, Fortran's $binding" "does not compile here: $(grep -m 1 -i error err)"
		fi
	done
	! has_unwinder ||
		like "$(report stats -q -r mpi_line_sum -f csv job.pillion)" 'MPI_Sendrecv,messages.*F90:6[01]' \
			"$1, Fortran's mpi_f08: the line of a call"
	if ! has_unwinder || ! strip --strip-debug -o fortran.bare fortran.mpi 2>err; then
		skip "$1, Fortran without -g" 'no unwinder, no strip, or the compiler failed'
		return
	fi
	PILLION_STATS=false ranks_of "$1" "$PILLION" -o bare -t mpi --cudabacktrace=all:0 ./fortran.bare >out 2>err
	report stats -q -r mpi_line_sum -f csv bare.pillion >lines.csv
	like "$(cat lines.csv)" 'MPI_Sendrecv,messages' "$1, Fortran without -g: the function that made a call"
	unlike "$(cat lines.csv)" 'ompi_|mpi_sendrecv_' "$1, Fortran without -g: no function of the binding"
	rm -rf bare.pillion
}

# python MPI: mpi4py is built for MPICH's ABI; Debian's MPICH has another name for its library.
python() {
	local library

	export MPI4PY_MPIABI=$1
	if [ "$1" = mpich ]; then
		library=$(ldd c.mpich | awk '/libmpi(ch)?\.so/ { print $3; exit }')
		mkdir -p abi
		ln -sf "$library" abi/libmpi.so.12
	fi
	if LD_LIBRARY_PATH=$work/abi ranks_of "$1" "$python" -c 'from mpi4py import MPI' >out 2>err; then
		LD_LIBRARY_PATH=$work/abi counted "$1" "$1, mpi4py" "$python" "$sources/python/mpi_functions.py" 5
		LD_LIBRARY_PATH=$work/abi PILLION_STATS=false ranks_of "$1" "$PILLION" -o other -t osrt "$python" \
			"$sources/python/mpi_functions.py" 5 >out 2>err
		is "$? $(cat out)" '0 2 ranks 2' "$1, mpi4py: status and output if calls of MPI are not recorded"
		rm -rf other.pillion
	else
		skip "$1, mpi4py" "no mpi4py for it: $(tail -n 1 err)"
	fi
	unset MPI4PY_MPIABI
}

for mpi in openmpi mpich; do
	if ! is_here "$mpi" || ! build "$mpi" >err 2>&1; then
		skip "$mpi" "not here: $(head -n 1 err)"
		continue
	fi
	counted "$mpi" "$mpi, C" "./c.$mpi" 5
	tool "$mpi"
	if command -v "mpifort.$mpi" >/dev/null; then
		fortran "$mpi"
	else
		skip "$mpi, Fortran" 'no compiler'
	fi
	python "$mpi"
done
done_testing
