#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A spool: processes write to it, all data is moved to the capture, and the spool is removed.
set -u
. "$(dirname "$0")/lib.sh"
mkdir spools
export PILLION_SPOOL=$work/spools

is "$(pillion -o s sh -c 'echo "$PILLION_SPOOL"; stat -c %a "$PILLION_SPOOL"; (exit 5); cat /dev/null' 2>err |
	sed 's/-[0-9a-f]*$//')" \
	"$work/spools/pillion-$(id -u)
700" 'processes get the path of the spool'
like "$(cat s.pillion/*.index)" '^process	' 'their index lines are in the capture'
is "$(ls s.pillion/*.range | wc -l)" 1 'the range file is in the capture'
is "$(stat -c %a s.pillion/* | sort -u)" 600 'the files are private'
is "$(ls spools | wc -l)" 0 'the spool is removed'
pillion -o killed sh -c 'sleep 3; kill -KILL $$' 2>err
is $? 137 'the spool of a killed COMMAND is emptied'
like "$(cat killed.pillion/*.index)" '^process	' 'a killed COMMAND: index lines are in the capture'
is "$(ls spools | wc -l)" 0 'a killed COMMAND: the spool is removed'
no_spools() { [ -z "$(ls spools)" ]; }
pillion -x false -o late sh -c 'until [ -e leave ]; do sleep 0.1; done & exit 0' 2>err
: >leave
like "$(cat err)" 'processes are still running; their records are moved from' \
	'processes are still running: a message says so'
ok 'the spool is removed when they have ended' eventually no_spools
# Killed with its launcher, and repeated with -f: the new capture has nothing of the old run, whose processes may go on.
for ended in killed 'still running'; do
	leave=leave_${ended##* } # it remains: the shell may look for it later
	PILLION_STATS=false setsid "$PILLION" -f --spool-interval 100 -o repeated sh -c \
		'/bin/true; /bin/true; echo started >started; until [ -e "$0" ]; do sleep 0.1; done' "$leave" 2>err &
	launcher=$!
	ok "repeated, $ended: begins" eventually test -s started
	if [ "$ended" = killed ]; then
		kill -KILL -- "-$launcher"
	else
		kill -KILL "$launcher"
	fi
	wait "$launcher" 2>/dev/null
	left=$(ls -d spools/*)
	pillion -f -o repeated sh -c '/bin/echo again; exit 3' >out 2>err
	is "$?,$(cat out)" 3,again "repeated, $ended: runs"
	: >"$leave"
	like "$(cat err)" "$left was left by a killed run whose capture was replaced" \
		"repeated, $ended: the spool is named"
	is "$(grep -c 'was left' err)" 1 "repeated, $ended: once"
	ok "repeated, $ended: it is kept" test -d "$left"
	is "$(report stats -q -r processes -f csv repeated.pillion | grep -c 'true\|leave_')" 0 \
		"repeated, $ended: no process of the old run is in the capture"
	like "$(report recover repeated.pillion "$left" 2>&1)" 'not a spool of' "repeated, $ended: recover refuses it"
	rm -r "$left" started
done
PILLION_SPOOL=relative pillion -o bad true 2>err
is $? 2 'a relative path is refused'
not_ok 'before a capture is made' test -e bad.pillion
PILLION_SPOOL=/no/such/place pillion -o bad true 2>err
is $? 2 'a missing path is refused'

# The program runs until full chunks have been moved: no call is lost or counted twice.
cc=$(command -v cc || command -v gcc || command -v clang)
cat >nap.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	int n = 0;

	while (n < 40000 || (n < 4000000 && access("moved", F_OK)))
		usleep(20), n++;
	printf("%d\n", n);
	return 0;
}
END
has_moved() { [ -n "$(find long.pillion -name '*.trace' -size +0 2>/dev/null)" ]; }
if [ -n "$cc" ] && "$PILLION" stats --help >/dev/null 2>&1 && $cc -o nap nap.c; then
	pillion --osrt-threshold 0 -o long ./nap >naps 2>err &
	ok 'chunks are moved while COMMAND runs' eventually has_moved
	is "$(cat naps)" '' 'COMMAND was still running'
	: >moved
	wait
	like "$("$PILLION" stats -r osrt_sum -f csv long.pillion 2>err)" "^[^,]*,[^,]*,$(cat naps),.*,usleep\$" \
		'every call is recorded once'
else
	skip 'every call is recorded once' 'no C compiler or no pillion-report'
fi
done_testing
