#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names of functions: kept in the capture, they remain when programs are removed, rebuilt or elsewhere; a file of
# another build gives none.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
command -v cc >/dev/null || skip_all 'no compiler'

cat >job.c <<'END'
#include <unistd.h>
static inline __attribute__((always_inline)) void sleeps_inlined(void) { usleep(30000); }
__attribute__((noinline)) void NAME(void)
{
	sleeps_inlined();
	__asm__ volatile("");
}
int main(void) { NAME(); return 0; }
END
build() { # NAME of the function that sleeps
	cc -O2 -g -Wl,--build-id -DNAME="$1" -o job job.c
}
build sleeps_first || skip_all 'the compiler does not work'
pillion -o job --osrt-backtrace-threshold=10000000 ./job >out 2>err
is $? 0 'records'
report stats -q -r stacks_sum,lines,osrt_sum -f csv job.pillion >whole
like "$(cat whole)" 'usleep,.*sleeps_inlined \([^)]*job\.c:2\) <- sleeps_first \([^)]*job\.c:5\) <- main' \
	'has names'
cp -r job.pillion bare.pillion
ok 'stats --keep-symbols' report stats -q --keep-symbols -r osrt_sum -o out job.pillion
is "$(find job.pillion -name '*.symbols' -o -name '.names*')" job.pillion/names.symbols 'writes one file'
report stats -q -r stacks_sum,lines,osrt_sum -f csv job.pillion >kept
ok 'reports are the same with it' cmp whole kept

mv job elsewhere
report stats -q -r stacks_sum,lines,osrt_sum -f csv job.pillion >kept 2>err
is "$? $(cmp whole kept) $(cat err)" '0  ' 'the program is gone: the same names, no message'
unlike "$(report stats -q -r ledger -f csv job.pillion)" '/job cannot' 'the program is gone: the ledger is silent'
unlike "$(report stats -q -r stacks_sum -f csv bare.pillion)" 'sleeps_' 'without kept names there are none'
like "$(report stats -q -r ledger -f csv bare.pillion)" 'module missing,1,[^,]*/job cannot be opened here' \
	'without kept names the ledger has the missing program'

build sleeps_later
report stats -q -r stacks_sum,lines,osrt_sum -f csv job.pillion >kept 2>err
is "$? $(cmp whole kept) $(cat err)" '0  ' 'the program was rebuilt: the same names'
like "$(report stats -q -r ledger -f csv job.pillion)" \
	'module changed,1,"?[^,]*/job is not the build that was recorded: not used, the capture has kept names' \
	'the ledger tells that it was rebuilt'
unlike "$(report stats -q -r stacks_sum -f csv bare.pillion)" 'sleeps_' 'the names of another build are not used'
like "$(report stats -r stacks_sum -f csv bare.pillion 2>&1)" '/job: changed since it was recorded' 'and it is said'
ok 'keeping names again' report stats -q --keep-symbols -r osrt_sum -o out job.pillion
report stats -q -r stacks_sum,lines,osrt_sum -f csv job.pillion >kept
ok 'does not lose those whose file is gone' cmp whole kept

printf 'module\tpath=/x\nframe\tat=zz\nframe\tname=a\n\0\nmodule\tbuild=zz' >job.pillion/names.symbols
unlike "$(report stats -q -r stacks_sum -f csv job.pillion)" 'sleeps_' 'a damaged file of names: the rest is read'
mv elsewhere job
if report pack -q --keep-symbols -o packed.pillpack bare.pillion 2>err; then
	rm job
	report stats -q -r stacks_sum,lines,osrt_sum -f csv packed.pillpack >kept 2>err
	is "$? $(cmp whole kept) $(cat err)" '0  ' 'pack --keep-symbols: the packed file has the names'
else
	skip 'pack --keep-symbols' "$(cat err)"
fi
report stats --keep-symbols missing.pillion >out 2>err
is "$? $(cat err)" '2 pillion stats: missing.pillion: No such file or directory' 'no capture'
done_testing
