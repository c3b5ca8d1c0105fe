#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A packed capture is equivalent to its directory: every verb reads it, it has all data, and it replaces the directory
# only when it is complete.
set -u
. "$(dirname "$0")/lib.sh"

doubles=$PILLION_BUILD_DIR/tests/doubles
writer=$PILLION_BUILD_DIR/tests/trace-writer
"$writer" example probe.pillion
report pack -q probe.pillion 2>err || { grep -q 'no zstd' err && skip_all 'built without zstd'; }

# said NAME VERB...: both output streams of the verb for NAME, without the name itself.
said() {
	said_of=$1
	shift
	report "$@" "$said_of" 2>&1 | sed "s@${said_of%.*}\.pill[a-z]*@CAPTURE@g"
}

dump() { # DATABASE: all of it as SQL
	python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).iterdump(), sep="\n")' "$1"
}

# same NAME: compares the output of every verb for the directory and the packed file.
same() {
	report pack -q -f true "$1.pillion" || return
	for arguments in 'stats -f csv' 'stats --summary' \
		'stats -r processes,ledger,osrt_short_sum,stacks_sum -f json' \
		'stats -r osrt_sum --by thread -f csv' 'info -f csv' 'export -t chrome -o -' 'export -t folded -o -' \
		'export -t speedscope -o -'; do
		# shellcheck disable=SC2086
		said "$1.pillion" $arguments >raw.said
		# shellcheck disable=SC2086
		said "$1.pillpack" $arguments >packed.said
		cmp raw.said packed.said || { echo "$arguments differs"; return 1; }
		[ "$(wc -c <raw.said)" -gt 100 ] || { echo "$arguments says nothing"; return 1; }
	done
	report export -q -f true -t sqlite -o raw.sqlite "$1.pillion" || return
	report export -q -f true -t sqlite -o packed.sqlite "$1.pillpack" || return
	dump raw.sqlite >raw.sql && dump packed.sqlite >packed.sql && grep -q INSERT raw.sql || return
	cmp raw.sql packed.sql || return
	rm -rf back
	report unpack -q -o back "$1.pillpack" && diff -r back "$1.pillion"
}

ok 'a capture of a test' same probe
pillion -o job --osrt-threshold=0 python3 -c 'import subprocess, time
for i in range(3): subprocess.run(["true"])
for i in range(2000): open("/dev/null").close()' >out 2>err
ok 'a Python job with children' same job
pillion -o stacks "$targets/stacks" >out 2>err
! has_unwinder || ok 'calls with stacks' same stacks
if [ -x "$doubles/cuda_launches" ]; then
	LD_LIBRARY_PATH=$doubles pillion -o cuda "$doubles/cuda_launches" 1000 >out 2>err
	ok 'a CUDA program' same cuda
else
	skip 'a CUDA program' 'no doubles'
fi
calls=$((${PILLION_TESTS_LONG:-0} ? 1000000 : 200000))
"$writer" large large.pillion $calls 8
ok 'many calls' same large
bytes=$(stat -c %s large.pillpack)
ok "8 bytes an event or less: $bytes for $calls" test "$bytes" -le $((8 * calls))
ok 'many calls: smaller than the directory' test "$bytes" -lt "$(du -sb large.pillion | cut -f1)"

for kind in nvtx mpi files samples launches; do
	"$writer" $kind $kind.pillion 100000
	rm -rf back
	ok "$kind, packed" report pack -q $kind.pillion
	report unpack -q -o back $kind.pillpack
	ok "$kind, unpacked: identical" diff -r back $kind.pillion
	bytes=$(stat -c %s $kind.pillpack)
	ok "8 bytes an event or less of $kind: $bytes for 100000" test "$bytes" -le 800000
done
bytes=$(stat -c %s large.pillpack)

# ---- several, names ----
"$writer" example other.pillion
ok 'two captures in one file' report pack -q -o both.pillpack large.pillion other.pillion
is "$(report stats -q -r osrt_sum -f csv both.pillpack | sha1sum)" \
	"$(report stats -q -r osrt_sum -f csv large.pillion other.pillion | sha1sum)" \
	'two captures in one file: the same report'
ok 'two captures in one file: unpacked' report unpack -q -o two both.pillpack
ok 'two captures in one file: the first is identical' diff -r two/large.pillion large.pillion
ok 'two captures in one file: the second is identical' diff -r two/other.pillion other.pillion
mv other.pillpack other.gone 2>/dev/null
rm -rf other.pillion
report pack -q probe.pillion -o other.pillpack
ok 'a name without its ending' report stats -q -r processes other
rm -rf named.pill* && cp -r probe.pillion named.pillion
ok 'pack takes a name without its ending' report pack -q named
ok 'pack without an ending makes the file' test -f named.pillpack
mv named.pillion named.before
ok 'unpack takes a name without its ending' report unpack -q named
ok 'unpack without an ending: identical' diff -r named.pillion named.before
report unpack -q named 2>err
like "$? $(cat err)" '^2 .*named.pillion: file exists, use -o' 'a second time: the message says what to do'
rm -rf back
ok 'unpack prefers the packed file' report unpack -q -o back named
like "$(report pack -q probe.pillion 2>&1)" 'probe.pillpack: file exists, use -f true to replace it' \
	'an existing file is kept'
like "$(report pack probe.pillpack 2>&1)" 'is already packed' 'packing a packed capture is refused'
report pack nothing.pillion >out 2>err
is $? 2 'no capture: status 2'
like "$(cat err)" 'nothing.pillion: No such file' 'no capture: the message names it'

# ---- damage ----
head -c "$((bytes / 2))" large.pillpack >cut.pillpack
report stats -r osrt_sum -f csv cut.pillpack >out 2>err
is $? 1 'half a file: status 1'
like "$(cat err)" 'cut.pillpack: truncated' 'half a file: the message says so'
ok 'half a file: the rest is read' test "$(wc -l <out)" -gt 5
cp large.pillpack bad.pillpack
printf 'damaged here' | dd of=bad.pillpack bs=1 seek="$((bytes / 2))" conv=notrunc status=none
report stats -r osrt_sum -f csv bad.pillpack >out 2>err
is $? 1 'a damaged block: status 1'
like "$(cat err)" 'bad.pillpack/.*damaged, 262144 bytes cannot be read' \
	'a damaged block: the message names the file in it'
ok 'a damaged block: the others are read' test "$(wc -l <out)" -gt 5
report unpack -q -o bad.out bad.pillpack 2>err
is $? 1 'a damaged block: unpack gives status 1'
printf 'PILPACK\n\4\3\2\1\11\0\0\0' >later.pillpack
like "$(report stats later.pillpack 2>&1)" 'packed format 9, this program reads 1' 'a later version'
report stats later.pillpack >out 2>err
is $? 2 'a later version: status 2'
printf 'PILPACK\n' >short.pillpack
like "$(report info short.pillpack 2>&1)" 'short.pillpack: not a packed capture' 'a file with only a header'

cp -r probe.pillion part.pillion && mkfifo part.pillion/x.trace && mkdir part.pillion/inner
report pack part.pillion >out 2>err
is $? 1 'a capture with files that cannot be packed: status 1'
is "$(grep -c ', omitted' err)" 2 'the omitted files are named'
is "$(report stats -q -r osrt_sum -f csv part.pillpack)" "$(report stats -q -r osrt_sum -f csv probe.pillion)" \
	'the other files are packed'
truncate -s -1000 "$(ls part.pillion/*.trace | head -n 1)"
rm -rf part.pillion/x.trace part.pillion/inner
rm -rf back
ok 'a truncated trace is packed' report pack -q -f true part.pillion
ok 'a truncated trace is unpacked' report unpack -q -o back part.pillpack
ok 'a truncated trace: identical' diff -r back part.pillion

# ---- --pack ----
pillion -o run --pack sh -c 'echo hello; sleep 0.01; exit 7' >out 2>err
is $? 7 '--pack: the status is that of COMMAND'
is "$(cat out)" hello '--pack: the output is that of COMMAND'
ok '--pack: the capture is one file' test -f run.pillion
is "$(stat -c %a run.pillion)" 600 '--pack: the file is private'
is "$(find . -name 'run*' | wc -l)" 1 '--pack: no other file is left'
ok '--pack: the verbs read the file' report stats -q -r processes run.pillion
like "$(PILLION_STATS=summary pillion -f true -o run --pack sleep 0.01 2>&1)" 'pillion view .*run.pillion' \
	'--pack -f true replaces it'
ok '--pack -f true: the capture is one file' test -f run.pillion
pillion -o run true 2>err
is $? 2 '--pack without -f: status 2'
like "$(cat err)" 'exists and is packed: use -f true' '--pack without -f: the message gives the reason'
pillion -o late --pack -x false sh -c 'until [ -e leave ]; do sleep 0.1; done & exit 0' >out 2>err
: >leave
like "$(cat err)" 'not packed: [12] processes are still running' '--pack while a process is recorded: a message says so'
ok '--pack while a process is recorded: the directory is kept' test -d late.pillion
mkdir -p odd.pillion && cp probe.pillion/* odd.pillion && mkdir odd.pillion/inner
report pack --replace odd.pillion >out 2>err
is $? 2 'a capture with a foreign file cannot be packed'
ok 'a capture with a foreign file is kept' test -d odd.pillion/inner
done_testing
