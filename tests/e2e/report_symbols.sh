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
# Without a build id, a file is known by its size, its time and its inode.
cc -O2 -g -Wl,--build-id=none -DNAME=sleeps_bare -o job job.c
pillion -f -o plain --osrt-backtrace-threshold=10000000 ./job >out 2>err
like "$(report stats -q -r stacks_sum -f csv plain.pillion)" 'sleeps_bare' 'no build id: has names'
unlike "$(report stats -q -r ledger -f csv plain.pillion)" 'module changed' 'no build id: the file is the one that ran'
cp -r plain.pillion plain_kept.pillion
report stats -q --keep-symbols -r osrt_sum -o out plain_kept.pillion
cc -O2 -g -Wl,--build-id=none -DNAME=sleeps_late -o job job.c
for way in rebuilt 'of the same time' 'of another time'; do
	case $way in
	of\ the*) cp -p job other && sed -i s/sleeps_late/sleeps_last/ job && touch -r other job ;;
	of\ an*) touch -d '2 hours ago' job ;;
	esac
	unlike "$(report stats -q -r stacks_sum,lines -f csv plain.pillion)" 'sleeps_' \
		"no build id, the file is $way: the names of another file are not used"
	like "$(report stats -q -r ledger -f csv plain.pillion)" 'module changed,1,"?[^,]*/job is not the build' \
		"no build id, the file is $way: the ledger says so"
done
like "$(report stats -q -r stacks_sum -f csv plain_kept.pillion)" 'sleeps_bare' 'no build id: kept names remain'

# Replaced while it is mapped: by a file, by another target of a link; before or after the first stack in it.
cat >plugin.c <<'END'
#include <unistd.h>
__attribute__((noinline)) void NAME(void) { usleep(30000); __asm__ volatile(""); }
void plugin(void) { NAME(); __asm__ volatile(""); }
END
cat >host.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		void *handle = dlopen(argv[2], RTLD_NOW);
		void (*plugin)(void) = (void (*)(void))dlsym(handle, "plugin");

		if (!i && strcmp(argv[1], "before") == 0)
			rename("next.so", "plugin.so");
		plugin();
		if (!i)
			rename("next.so", "plugin.so");
		dlclose(handle);
	}
	return 0;
}
END
cc -O2 -g -o host host.c -ldl
for id in none sha1; do
	cc -O2 -g -Wl,--build-id=$id -shared -fPIC -DNAME=sleeps_old -o old.so plugin.c
	cc -O2 -g -Wl,--build-id=$id -shared -fPIC -DNAME=sleeps_now -o new.so plugin.c
	for kind in file link; do
		for moment in before after; do
			rm -f plugin.so next.so
			if [ $kind = file ]; then cp old.so plugin.so && cp new.so next.so; else
				ln -s old.so plugin.so && ln -s new.so next.so; fi
			pillion -f -o as --osrt-backtrace-threshold=10000000 ./host $moment "$PWD/plugin.so" >out 2>err
			report stats -q -r stacks_sum -f csv as.pillion >stacks
			is "$(grep -c sleeps_now stacks) $(grep -c sleeps_old stacks)" '1 0' \
				"build id $id, a $kind replaced $moment the first stack: names of the new one"
			is "$(awk -F, '/sleeps_now/ { print $3 }' stacks)" 1 \
				"build id $id, a $kind replaced $moment the first stack: for its own calls"
		done
	done
done
done_testing
