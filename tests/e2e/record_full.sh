#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A disk that is full from the start or fills up, RLIMIT_FSIZE, a chroot without /proc: the program goes on as without
# us, the ledger counts what was lost and names the cause, and dropped calls do not open files.
. "$(dirname -- "$0")/lib.sh"

hostile=$targets/hostile

# sum CAPTURE FACT: over all processes.
sum() {
	report stats -r ledger -f csv "$1" 2>/dev/null |
		awk -F, -v fact="$2" '$3 == fact { n += $4 } END { print n + 0 }'
}

summary() {
	report stats --summary "$1" 2>&1
}

# at_least NUMBER LEAST TEXT
at_least() {
	ok "$3 ($1 of at least $2)" test "$1" -ge "$2"
}

opens() { # how many openat of a trace or an index the calls of a log contain
	grep -Ec 'openat\(.*\.(trace|index)"' "$1"
}

trace_opens=strace
strace -f -o probe true 2>/dev/null || trace_opens=

if [ "$(id -u)" -eq 0 ] && mkdir full && mount -t tmpfs -o size=1m none full 2>/dev/null; then
	trap 'umount "$work/full" 2>/dev/null; rm -rf "$work"' EXIT

	# ---- full before the program's first call ----
	printf '#!/bin/sh\ndd if=/dev/zero of=%s bs=4k 2>/dev/null\nexec "$@"\n' "$work/full/fill" >filled
	chmod +x filled
	pillion -t osrt --osrt-threshold=0 -o full/start ./filled "$hostile" calls >out 2>err
	is "$? $(cat out)" '0 calls done' 'full from the start: status and output'
	# The first places in the range file are allocated before the disk is full: a few calls are recorded there.
	lost=$(sum full/start.pillion lost)
	at_least "$lost" 99000 'full from the start: most calls are lost'
	all=$((lost + $(sum full/start.pillion recorded)))
	at_least "$all" 100000 'every call is counted as lost or recorded'
	ok "and once only ($all)" test "$all" -lt 110000
	like "$(summary full/start.pillion)" \
		'^missing .*disk full' 'and the summary states the cause'

	if [ -n "$trace_opens" ]; then
		rm -rf full/*
		pillion -t osrt --osrt-threshold=0 -o full/s ./filled \
			strace -e trace=openat,write -o log "$hostile" calls >out 2>err
		at_least "$(grep -c 'write(' log)" 100000 'full from the start: the log has the calls'
		ok 'and few of them open a file of ours' test "$(opens log)" -le 40
	else
		skip 'dropped calls open no file' 'no strace'
	fi

	# ---- full in the middle ----
	rm -rf full/*
	pillion -t osrt --osrt-threshold=0 -o full/middle "$hostile" fill full/fill >out 2>err
	is "$? $(cat out)" '0 filled' 'full in the middle: status and output'
	rm full/fill
	at_least "$(sum full/middle.pillion lost)" 100000 'full in the middle: the later calls are counted as lost'
	at_least "$(sum full/middle.pillion recorded)" 1000 'full in the middle: the earlier ones are recorded'
	at_least "$(($(sum full/middle.pillion lost) + $(sum full/middle.pillion recorded)))" 200000 'together all'
	like "$(summary full/middle.pillion)" '^missing .*disk full' 'and the summary states the cause'

	# ---- threads ----
	rm -rf full/*
	pillion -t osrt --osrt-threshold=0 -o full/threads ./filled "$targets/attach" started 50 >out 2>err
	is "$? $(cat out)" '0 50' 'full from the start, 50 threads: status and output'
	like "$(summary full/threads.pillion)" 'disk full' 'and the summary states the cause'
	rm -rf full/*
	pillion -t osrt --osrt-threshold=0 -o full/calls ./filled "$hostile" threads >out 2>err
	is "$? $(cat out)" '0 threads done' 'full from the start, threads with many calls: status and output'
	at_least "$(sum full/calls.pillion lost)" 400000 'each call of the threads is counted as lost'
	is "$(sum full/calls.pillion 'threads lost')" 0 'and no thread is'

	# ---- a process without a trace file that is killed ----
	rm -rf full/*
	pillion -t osrt --osrt-threshold=0 -o full/killed ./filled "$hostile" killed >out 2>err
	is "$?" 137 'full from the start, killed: status'
	lost=$(sum full/killed.pillion lost)
	at_least "$lost" 99000 'most of the calls before it are counted as lost'
	all=$((lost + $(sum full/killed.pillion recorded)))
	at_least "$all" 100000 'all are counted as lost or recorded'
	ok "and once only ($all)" test "$all" -lt 110000

	# ---- a hole in a trace: a read of it needs memory, which a full tmpfs refuses by SIGBUS ----
	umount full
	mount -t tmpfs -o size=4m none full
	pillion -t osrt --osrt-threshold=0 -o full/hole "$hostile" calls >out 2>err
	whole=$(sum full/hole.pillion recorded)
	fallocate -p -o 524288 -l 131072 full/hole.pillion/*.trace
	dd if=/dev/zero of=full/fill bs=4k 2>/dev/null
	report stats -r ledger -f csv full/hole.pillion >out 2>err
	is "$?" 1 'a hole in a trace on a full tmpfs: status'
	like "$(cat err)" 'damaged: .*the rest is read' 'and a message'
	ok "only the hole is missing: $(sum full/hole.pillion recorded) of $whole" \
		test "$(sum full/hole.pillion recorded)" -ge $((whole * 7 / 10))
	umount full
else
	skip 'a full disk' 'no tmpfs can be mounted here'
fi

# ---- RLIMIT_FSIZE ----
printf '#!/bin/sh\nulimit -f %s\nexec "%s" calls\n' 2 "$hostile" >limited
printf '#!/bin/sh\nulimit -f %s\nexec "%s" calls\n' 200 "$hostile" >limited_later
chmod +x limited limited_later
for name in limited limited_later; do
	pillion -t osrt --osrt-threshold=0 -o $name ./$name >out 2>err
	is "$? $(cat out)" '0 calls done' "RLIMIT_FSIZE, $name: status and output"
	at_least "$(($(sum $name.pillion lost) + $(sum $name.pillion recorded)))" 100000 \
		"RLIMIT_FSIZE, $name: all are counted"
	like "$(summary $name.pillion)" '^missing .*(RLIMIT_FSIZE|file size limited)' \
		'and the summary states the cause'
done

# ---- a chroot without /proc ----
if [ "$(id -u)" -eq 0 ] && mkdir root && chroot / true 2>/dev/null; then
	for file in "$hostile" "$library"; do
		mkdir -p "root$(dirname "$file")"
		cp "$file" "root$file"
		ldd "$file" | grep -o '/[^ ]*' | while read -r needed; do
			cp -L --parents "$needed" root/
		done
	done
	mkdir root/dev root/captures
	touch root/dev/null
	LD_PRELOAD=$library PILLION_OUTPUT=/captures/c.pillion PILLION_OSRT_THRESHOLD=0 \
		chroot root "$hostile" calls >out 2>err
	is "$? $(cat out)" '0 calls done' 'a chroot without /proc: status and output'
	like "$(summary root/captures/c.pillion)" '/proc cannot be read \(a chroot without it' \
		'and the summary names it as the cause'
	rm -rf root/captures/c.pillion
	pillion -t osrt --osrt-threshold=0 -o outside chroot root "$hostile" calls >out 2>err
	is "$? $(cat out)" '0 calls done' 'chroot before an exec: status and output'
	like "$(report stats -r ledger outside.pillion)" 'note .*chroot, .*programs that it starts only if they reach' \
		'and a note states which programs are missing'
else
	skip 'a chroot without /proc' 'not root'
fi
done_testing
