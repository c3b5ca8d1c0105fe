#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The capture range of a run, changed by processes that map its page as the recorder does. A later step waits for the
# earlier one without a time limit; the only times checked are lower bounds.
set -u
. "$(dirname "$0")/lib.sh"
cc=$(command -v cc || command -v gcc || command -v clang) || skip_all 'no C compiler'
root=$tests_dir/../..
cat >member.c <<'END'
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "runtime/shared/common/range.h"
/* For what the launcher or another member does. */
static void wait_until(struct tf_range_page *page, const char *what)
{
	for (int ms = 0; ms < 50000; ms += 5) {
		bool is_open = *(volatile uint32_t *)&page->recording == ~0u;

		if (!strcmp(what, "open") ? is_open : !strcmp(what, "closed") ? !is_open : !access(what + 5, F_OK))
			return;
		usleep(5000);
	}
}

int main(int argc, char **argv)
{
	struct tf_range_page *page;
	struct tf_images *images;
	struct utsname name;

	uname(&name);
	page = range_map(getenv("PILLION_OUTPUT"), name.nodename, strtoull(getenv("PILLION_RUN"), NULL, 16), &images);
	if (!page)
		return 99;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "start"))
			range_start(page, (unsigned)getpid(), 1);
		else if (!strcmp(argv[i], "stop")) {
			range_stop(page, (unsigned)getpid(), 2);
			range_await_kill(page);
		}
		else if (!strcmp(argv[i], "show"))
			printf("%d:%u:%d ", page->recording == ~0u, page->begun, range_has_ended(page));
		else if (!strcmp(argv[i], "open") || !strcmp(argv[i], "closed") || !strncmp(argv[i], "file:", 5))
			wait_until(page, argv[i]);
		else if (!strcmp(argv[i], "loop"))
			for (int n = 0; n < 20000; n++) {
				range_start(page, (unsigned)getpid(), 1);
				range_stop(page, (unsigned)getpid(), 2);
			}
		else
			usleep((useconds_t)(atof(argv[i]) * 1e6));
	}
	return 0;
}
END
ok 'the member program is built' "$cc" -std=gnu11 -D_GNU_SOURCE -I"$root" -o member member.c \
	"$root"/runtime/shared/common/{range,index,sys}.c

shows() { # WANTED TEXT OPTIONS... -- ARGUMENTS OF MEMBER...; sets $begun to the start time
	local wanted=$1 text=$2 options=()
	begun=$(date +%s%N)
	shift 2
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	is "$(pillion -f -o r "${options[@]}" ./member "$@" 2>err; echo $?)" "$wanted" "$text"
}

not_before() { # MS: checks that at least MS have passed since the start of the last run
	ok "it takes at least $1 ms" test $((($(date +%s%N) - begun) / 1000000)) -ge "$1"
}

shows '1:0:0 0' 'a whole run records from the start' -- show
api=(-c cudaProfilerApi)
shows '0:0:0 1:1:0 0:1:1 0:1:1 0' 'stop: one range, then nothing' "${api[@]}" -- show start show stop show start show
shows '1:1:0 1:1:0 1:1:0 0' 'a second Start changes nothing' "${api[@]}" -- start show start show start show
shows '1:1:0 1:1:0 0' 'none: Stop is ignored' "${api[@]}" --capture-range-end none -- start show stop show
shows '1:1:0 0:1:0 1:2:0 0:2:1 0:2:1 0' 'repeat:2: two ranges' "${api[@]}" --capture-range-end repeat:2 -- \
	start show stop show start show stop show start show
shows '0:3:0 0' 'repeat: any number' "${api[@]}" --capture-range-end repeat -- start stop start stop start stop show
shows '143' 'stop-shutdown: --kill applies' "${api[@]}" --capture-range-end stop-shutdown -- start stop 50 show
for round in 1 2 3 4 5 6; do
	shows '143' "stop-shutdown, $round: --kill comes before the next step" "${api[@]}" \
		--capture-range-end stop-shutdown -- start stop show
done
shows '0:1:1 0' 'stop-shutdown with --kill none' "${api[@]}" --capture-range-end stop-shutdown --kill none -- \
	start stop 0.3 show
shows '137' 'repeat-shutdown:2 after the second' "${api[@]}" --capture-range-end repeat-shutdown:2 --kill sigkill -- \
	start stop 0.2 start stop 50 show
is "$(pillion -f -o r "${api[@]}" --capture-range-end repeat sh -c './member start; ./member closed show' 2>err)" \
	'0:1:0 ' 'a process that died inside the range is removed'
is "$(pillion -f -o r "${api[@]}" --capture-range-end repeat \
	sh -c './member start file:go stop & ./member open start stop show; : >go; wait; ./member show' \
	2>err)" '1:1:0 0:1:0 ' 'the range ends when the last process leaves it'
shows '1:1:0 0' '--delay opens the range later' -y 0.5 -- open show
not_before 500
shows '0:1:1 0' '--duration closes the range' -d 0.5 --kill none -- closed show
not_before 500
shows '1:1:0 0' '--delay postpones a range' "${api[@]}" -y 0.5 -- start open show
not_before 500
is "$(pillion -f -o r "${api[@]}" --capture-range-end repeat \
	sh -c 'for i in 1 2 3 4; do ./member loop & done; wait; ./member show' 2>err | sed 's/:.*:/:/')" '0:0 ' \
	'four processes at once leave the range closed and unlocked'
done_testing
