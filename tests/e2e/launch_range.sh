#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The capture range of a run, moved by processes that map its page as the recorder does.
set -u
. "$(dirname "$0")/lib.sh"
cc=$(command -v cc || command -v gcc || command -v clang) || skip_all 'no C compiler'
runtime=$tests_dir/../../runtime
cat >member.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "range.h"
int main(int argc, char **argv)
{
	struct tf_range_page *page;
	struct utsname name;

	uname(&name);
	page = range_map(getenv("PILLION_OUTPUT"), name.nodename, strtoull(getenv("PILLION_RUN"), NULL, 16));
	if (!page)
		return 99;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "start"))
			range_start(page, (unsigned)getpid(), 1);
		else if (!strcmp(argv[i], "stop"))
			range_stop(page, (unsigned)getpid(), 2);
		else if (!strcmp(argv[i], "show"))
			printf("%d:%u:%d ", page->recording == ~0u, page->begun, range_has_ended(page));
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
ok 'the member program is built' $cc -std=gnu11 -D_GNU_SOURCE -I"$runtime" -o member member.c "$runtime/range.c" "$runtime/index.c" "$runtime/sys.c"

shows() { # WANTED TEXT OPTIONS... -- MEMBER'S WORDS...
	local wanted=$1 text=$2 options=()
	shift 2
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	is "$(pillion -f -o r "${options[@]}" ./member "$@" 2>err; echo $?)" "$wanted" "$text"
}

shows '1:0:0 0' 'a whole run records from the start' -- show
api='-c cudaProfilerApi'
shows '0:0:0 1:1:0 0:1:1 0:1:1 0' 'stop: one range, then nothing' $api -- show start show stop show start show
shows '1:1:0 1:1:0 1:1:0 0' 'a second Start changes nothing' $api -- start show start show start show
shows '1:1:0 1:1:0 0' 'none: Stop is ignored' $api --capture-range-end none -- start show stop show
shows '1:1:0 0:1:0 1:2:0 0:2:1 0:2:1 0' 'repeat:2: two ranges' $api --capture-range-end repeat:2 -- start show stop show start show stop show start show
shows '0:3:0 0' 'repeat: any number' $api --capture-range-end repeat -- start stop start stop start stop show
shows '143' 'stop-shutdown: --kill applies' $api --capture-range-end stop-shutdown -- start stop 5 show
shows '0:1:1 0' 'unless it is none' $api --capture-range-end stop-shutdown --kill none -- start stop 0.3 show
shows '137' 'repeat-shutdown:2 after the second' $api --capture-range-end repeat-shutdown:2 --kill sigkill -- start stop 0.2 start stop 5 show
is "$(pillion -f -o r $api --capture-range-end repeat sh -c './member start; sleep 0.4; ./member show' 2>err)" '0:1:0 ' 'a process that died inside is dropped'
is "$(pillion -f -o r $api --capture-range-end repeat sh -c './member start 2 stop & sleep 0.3; ./member start stop show; wait; ./member show' 2>err)" '1:1:0 0:1:0 ' 'the range ends when the last one leaves'
shows '0:0:0 1:1:0 0' '--delay opens later' -y 0.3 -- show 0.6 show
shows '1:1:0 0:1:1 0' '--duration closes' -d 0.4 --kill none -- 0.1 show 0.7 show
shows '0:0:0 0:0:0 1:1:0 0' '--delay holds a range back' $api -y 0.4 -- show start show 0.7 show
is "$(pillion -f -o r $api --capture-range-end repeat sh -c 'for i in 1 2 3 4; do ./member loop & done; wait; ./member show' 2>err | sed 's/:.*:/:/')" '0:0 ' 'four processes at once leave it closed and unlocked'
done_testing
