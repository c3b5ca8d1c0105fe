# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# srun --pillion: the plugin records the step without the launcher, and can never make the step fail.
if [ ! -e "$cluster/plugstack.conf" ]; then
	skip 'srun --pillion' "built without Slurm's headers"
	return
fi
submit -N 2 -n 4 <<-'END'
	#!/bin/bash
	[ "$(type -p record | grep -c /traced/)" = 0 ] || asked=--pillion="trace=osrt osrt-threshold=0"
	srun ${asked:+"$asked"} sh -c 'echo rank $SLURM_PROCID; exit $SLURM_PROCID'
	echo "status $?"
	PILLION_OPT_OUT=1 srun ${asked:+"$asked"} echo out
	exit 3
END
compare 'srun --pillion'
like "$(cat err)" "^capture $PWD/pillion-${job[traced]}.0.pillion: DIED FIRST rank [123] on .*: exit [123]; " \
	'srun --pillion: which rank died first'
is "$(grep -c '^capture ' err)" 1 'srun --pillion: nothing of a step that has a capture without a death, or none'
is "$(printf '%s ' *.pillion)" "pillion-${job[traced]}.0.pillion " \
	'srun --pillion: the step that did not opt out has a capture'
is "$(ranks_of "pillion-${job[traced]}.0.pillion")" '0 1 2 3 ' 'srun --pillion: the ranks of the capture'

part broken
saved=$(cat "$cluster/plugstack.conf")
sed -i 's@library=.*@library=/nonexistent/libpillion.so@' "$cluster/plugstack.conf"
submit -N 1 <<-'END'
	#!/bin/bash
	srun --pillion true && echo done
END
compare 'srun --pillion without the library: the step runs'
is "$(find . -name '*.pillion')" '' 'srun --pillion without the library: no capture'
echo "$saved" >"$cluster/plugstack.conf"

part silent
silent=$PWD/silent
printf '#!/bin/sh\ntrap "" TERM\necho $$ >%s.pid\nwhile :; do sleep 1; done\n' "$silent" >"$silent"
chmod +x "$silent"
# No capture: srun itself must not look for it, because its file system may be what does not answer.
sed -i "s@library=[^ ]*@library=/nonexistent/libpillion.so@; s@\$@ command=$silent@" "$cluster/plugstack.conf"
submit -N 1 <<-'END'
	#!/bin/bash
	srun ${asked:+"$asked"} --pillion sh -c 'exit 3'
	echo "status $?"
END
compare 'srun --pillion: a command that does not end does not keep srun'
ok 'srun --pillion: it was executed' test -s "$silent.pid"
ok 'srun --pillion: it was ended' eventually test ! -e "/proc/$(cat "$silent.pid")"
echo "$saved" >"$cluster/plugstack.conf"
