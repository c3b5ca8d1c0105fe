#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The stack of an event loop that waits has the lines of the coroutine that it runs and of what that awaits, in each
# version of CPython whose coroutines have their frames within them.
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
all_pythons python3
[ "${#pythons[@]}" -gt 0 ] || skip_all 'no python3'

cat >awaits.py <<'END'
import asyncio, sys, threading, time

async def asleep():
    await asyncio.sleep(0.1)  # asleep

class Object:
    def __await__(self):
        return asleep().__await__()

async def of_coroutine():
    await asleep()  # coroutine

async def of_object():
    await Object()  # object

async def of_task():
    await asyncio.create_task(asleep())  # task

async def of_limit():
    await asyncio.wait_for(asleep(), 60)  # limit

async def of_many():
    await asyncio.gather(asleep(), asleep())  # many

async def deep(left):
    await (deep(left - 1) if left else asleep())  # deep

async def main():
    for f in of_coroutine, of_object, of_task, of_limit, of_many:
        await f()  # main
    await deep(100)
    asyncio.get_running_loop().call_soon(in_callback)
    await of_coroutine()
    asyncio.get_running_loop().call_soon(time.sleep, 0.1)  # a callback in C has no frame of its own
    await asyncio.sleep(0.2)  # innocent
    for number in range(30):  # code objects at one address have their own names
        names = {"asyncio": asyncio}
        exec(f"async def generated{number:02}():\n    await asyncio.sleep(0.01)\n", names)
        await names.pop(f"generated{number:02}")()
        del names

def in_thread():
    asyncio.new_event_loop().run_until_complete(of_coroutine())  # thread

def in_callback():
    threading.Event().wait(0.1)  # callback

asyncio.run(main())
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
END

# lines_of REGEX: the marks of the lines of the program in the stacks of calls of these functions, innermost first
lines_of() {
	report stats -r stacks_sum -f json awaits.pillion | /usr/bin/env python3 -c 'import json, re, sys
marks = [line.partition("  # ")[2].strip() for line in open("awaits.py")]
for row in json.load(sys.stdin):
    if re.fullmatch(sys.argv[1], row["Name"]):
        found = [marks[int(n) - 1] for n in re.findall(r"awaits.py:(\d+)", row["Stack"])]
        print(*[m for m in found if m])' "$1"
}

for python in "${pythons[@]}"; do
	version=$("$python" -c 'import sys; print("%d.%02d%s" % (*sys.version_info[:2], getattr(sys, "abiflags", "")))')
	pillion -f -o awaits "$python" awaits.py >out 2>err
	is "$?" 0 "$version: the program runs as without pillion"
	case $version in
	3.11 | 3.12 | 3.13) ;;
	*)
		lines_of epoll_wait >got
		is "$(grep -c asleep got)" 0 "$version: its coroutines have their frames elsewhere, and are left out"
		continue
		;;
	esac
	lines_of epoll_wait >got
	for how in coroutine object task; do
		like "$(cat got)" "asleep $how main" "$version: an await of ${how/object/an object with __await__()}"
	done
	like "$(cat got)" "limit main" "$version: an await with a limit"
	like "$(cat got)" "many main" "$version: an await of several"
	like "$(cat got)" "deep deep deep deep" "$version: of more than are kept, the outermost"
	is "$(grep -c 'asleep .*thread' got)" 0 \
		"$version: a loop beside other threads, which may free what it awaits, is left out"
	is "$(lines_of 'sem_.*' | grep callback)" callback "$version: a callback has its own stack alone"
	is "$(lines_of clock_nanosleep | grep -c innocent)" 0 "$version: a callback in C, too"
	is "$(report stats -r stacks_sum -f csv awaits.pillion | grep -o 'generated[0-9]*' | sort -u | wc -l)" 30 \
		"$version: code objects at one address"
done
done_testing
