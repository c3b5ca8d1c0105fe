#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples: correct shares by function and line, every thread and process, unusual stacks, and the CPU time covered.
. "$(dirname -- "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

# take NAME ARG...: records samples of "samples ARG..."; checks its status and that it prints no errors.
take() {
	name=$1
	shift
	pillion -s cpu --sampling-frequency=999 -o "$name" "$targets/samples" "$@" >out 2>err
	is "$? $(grep -v '^pillion: capture' err)" '0 ' "samples $*"
}

# cumulative NAME FUNCTION: its share in percent, 0 if it is missing.
cumulative() {
	report stats -r sample_sum -f csv "$1.pillion" | awk -F, -v f="$2" '$6 == f { n = $4 } END { print n + 0 }'
}

# ms NAME: CPU time that all samples represent.
ms() {
	report stats -r sample_sum -f csv "$1.pillion" | awk -F, 'NR > 1 { n += $2 } END { printf "%d\n", n / 1e6 }'
}

# within NUMBER LOW HIGH TEXT
within() {
	if awk "BEGIN { exit !($1 >= $2 && $1 <= $3) }"; then
		pass "$4"
	else
		fail "$4" "got $1, wanted $2 to $3"
	fi
}

# The accuracy of a share depends on the number of samples, which depends on the kernel's ticks and on the load of the
# CPU: six standard deviations of that many samples of equal weight, which is an approximation.
take shares shares 4
off=$(report stats -r sample_sum -f csv shares.pillion |
	awk -F, 'NR > 1 { n += $3 } END { printf "%.2f %d\n", n ? 600 * sqrt(0.75 * 0.25 / n) : 0, n }')
samples=${off#* } off=${off% *}
within "$samples" 200 4100 'the number of samples'
within "$(cumulative shares three_parts)" "75 - $off" "75 + $off" "three quarters, within $off points"
within "$(cumulative shares one_part)" "25 - $off" "25 + $off" 'one quarter'
within "$(ms shares)" 3900 4100 'the samples represent all of the CPU time'
line=$(grep -n 'x = x \* 6364136223846793005ul' "$tests_dir/../targets/samples.c" | cut -d: -f1)
like "$(report stats -r sample_line_sum -f csv shares.pillion)" \
	"samples.c:($line|$((line - 1))|$((line - 2))|$((line + 1)))" 'by line: the loop'
report export -t folded --metric cpu -o shares.folded shares.pillion
within "$(awk '/;three_parts/ { a += $NF } { n += $NF } END { printf "%f\n", 100 * a / n }' shares.folded)" \
	"75 - $off" "75 + $off" 'folded'
for type in speedscope pprof chrome; do
	ok "export -t $type" report export -t "$type" -o "shares.$type" shares.pillion
done
report export -t folded --metric off-cpu -o - shares.pillion >shares.waits 2>err
ok 'pprof without --metric: each metric is a sample type, CPU time the default' python3 - <<'END'
import gzip, os
data = gzip.open('shares.pprof').read()
def fields(data):
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        size = varint()
        if key & 7 == 2:
            at += size
            yield key >> 3, data[at - size:at]
        else:
            yield key >> 3, size
profile = list(fields(data))
strings = [v.decode() for n, v in profile if n == 6]
types = [strings[dict(fields(v))[1]] for n, v in profile if n == 1]
assert {'time', 'cpu_time'} <= set(types), types
assert ('off_cpu_time' in types) == (os.stat('shares.waits').st_size > 0), types
assert [strings[v] for n, v in profile if n == 14] == ['cpu_time'], types
END
if report export -t sqlite -o shares.sqlite shares.pillion 2>/dev/null && command -v python3 >/dev/null; then
	is "$(python3 -c 'import sqlite3
print(*sqlite3.connect("shares.sqlite").execute("SELECT count(DISTINCT e.id), sum(cpuCycles) FROM COMPOSITE_EVENTS e "
	"JOIN SAMPLING_CALLCHAINS c ON c.id = e.id AND stackDepth = 0").fetchone())')" \
		"$(report stats -r sample_sum -f csv shares.pillion |
			awk -F, 'NR > 1 { ns += $2; n += $3 } END { printf "%d %.0f\n", n, ns }')" \
		'sqlite: COMPOSITE_EVENTS and SAMPLING_CALLCHAINS have the samples, and the CPU time of sample_sum'
	like "$(python3 -c 'import sqlite3
for row in sqlite3.connect("shares.sqlite").execute("SELECT value, count(DISTINCT c.id) FROM SAMPLING_CALLCHAINS c "
	"JOIN StringIds s ON s.id = symbol GROUP BY 1"): print(*row)')" '^three_parts .*[0-9]{2}$' 'sqlite: by function'
else
	skip 'sqlite: samples' 'no sqlite or no python3'
fi
like "$(report stats -r ledger -f csv shares.pillion)" 'CPU time sampled,[0-9]{7}' 'the ledger counts them'
pillion -s none -o none "$targets/samples" shares 0.1 2>err
like "$(report export -t folded --metric cpu -o - none.pillion 2>&1)" 'no CPU samples' 'no samples with -s none'
unlike "$(report stats none.pillion 2>/dev/null)" 'sample_sum.:' 'no table of samples with -s none'

take threads threads 32
within "$(ms threads)" 2600 3400 '32 threads of 0.1 s each'
threads=$(report stats -r sample_thread_sum -f csv threads.pillion)
# Their sum is checked above. On a busy machine ticks, and so samples, come late: the last one of a thread may be half
# of its time before its end.
is "$(printf '%s\n' "$threads" | awk -F, '$1 > 0 && $4 != $5 && $7 == "samples"' | grep -c ,)" 32 \
	'each of the 32 threads has its row'
like "$threads" '^0,0,[0-9]{9,},.*,blocked$' 'a blocked thread has no CPU time'

take children children 3
is "$(report stats -r sample_sum --by process -f csv children.pillion |
	awk -F, '$7 == "three_parts" { n++ } END { print n }')" 3 'children and programs that they execute'
within "$(ms children)" 480 750 'all CPU time of children' # six programs with their startup

take coroutines coroutines
within "$(cumulative coroutines in_coroutine)" 90 100 'a coroutine'
take alternate alternate
within "$(cumulative alternate in_handler)" 90 100 'a handler on an alternate stack'
within "$(cumulative alternate main)" 90 100 'the stack that a handler on an alternate stack interrupted'

pillion -t none -s cpu -o only "$targets/samples" shares 0.5 2>err
within "$(ms only)" 450 550 '-t none -s cpu'
done_testing
