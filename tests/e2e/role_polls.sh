#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time in a loop that polls is waiting: the summary says so, with the line where samples exist.
set -u
. "$(dirname "$0")/lib.sh"

# role: the summary's line of the second thread
role() {
	report stats --summary run.pillion 2>/dev/null | grep -E '^(second|threads) '
}

for way in spin spintry trylock trywait poll epoll; do
	for options in '-s cpu --sampling-source=signal' '-s none'; do
		# shellcheck disable=SC2086
		pillion -f -o run $options "$targets/spins" "$way" >out 2>err
		like "$? $(role)" '^0 .* [0-9]+ % polling for others' "$way, $options: it polls"
		unlike "$(role)" '[0-9] % CPU' "$way, $options: it does not compute"
		if [ "$options" != '-s none' ] && has_unwinder; then
			like "$(role)" 'polling for others spins.c:[0-9]+ ' "$way: the line of the loop"
		fi
	done
done
# A thread that yields has hardly any CPU time where another one computes on the same CPU.
pillion -f -o run -s none "$targets/spins" yield >out 2>err
is $? 0 'yield: the program ends'
unlike "$(role)" '[0-9] % CPU' 'yield: it does not compute'
for way in burn mixed; do
	pillion -f -o run -s none "$targets/spins" "$way" >out 2>err
	like "$? $(role)" '^0 .* [0-9]+ % CPU' "$way: it computes"
	case $way in
	burn) unlike "$(role)" 'polling' "$way: it does not poll" ;;
	*) like "$(role)" '[0-9] % polling for others' "$way: it polls as well" ;;
	esac
done
done_testing
