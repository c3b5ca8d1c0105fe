#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the suite does on a busy machine. scripts/test runs a script that failed once more at the end, alone: one that
# passes then is flaky, and at most three may be. Meson, ninja and the scripts are stand-ins here: `meson test` runs
# each script with BESIDE=others. A comparison with nsys is left out where nsys hangs.
set -u
. "$(dirname "$0")/lib.sh"

root=${tests_dir%/tests/*}
command -v python3 >/dev/null || skip_all 'no python3'
mkdir -p tree/scripts tree/tests/e2e tree/build bin
cp "$root/scripts/test" "$root/scripts/count-results" tree/scripts/
printf '#!/bin/sh\nexit 0\n' >bin/ninja
cat >bin/meson <<'END'
#!/usr/bin/env python3
import json, os, subprocess, sys
if sys.argv[1] != "test":
    sys.exit(0)
name = sys.argv[sys.argv.index("--logbase") + 1]
os.makedirs("build/meson-logs", exist_ok=True)
bad = 0
with open(f"build/meson-logs/{name}.json", "w") as log:
    for script in sorted(os.listdir("tests/e2e")):
        done = subprocess.run(["tests/e2e/" + script], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "BESIDE": "others"})
        bad |= done.returncode
        json.dump({"name": "pillion:e2e / " + script[:-3], "result": "ERROR" if done.returncode else "OK",
            "returncode": done.returncode, "stdout": done.stdout, "stderr": ""}, log)
        log.write("\n")
sys.exit(bad)
END
chmod +x bin/*

# script NAME BESIDE ALONE: a script of two checks; how the second one ends beside others, and alone.
script() {
	cat >"tree/tests/e2e/$1.sh" <<-END
		#!/bin/sh
		echo 'ok 1 - the first'
		if [ "\${BESIDE-}" ]; then how='$2'; else how='$3'; fi
		echo "\$how 2 - the second of $1"
		[ "\$how" = ok ] && echo 1..2
	END
	chmod +x "tree/tests/e2e/$1.sh"
}

suite() {
	(cd tree && PATH=$work/bin:$PATH timeout "$patience" scripts/test --no-setup e2e) >out 2>err
	echo "$? $(tail -n 1 out)"
}

script steady ok ok
is "$(suite)" '0 2 passed, 0 failed, 0 skipped' 'all pass: nothing is run again'
not_ok 'and nothing is flaky' grep -q flaky out
script busy 'not ok' ok
is "$(suite)" '0 4 passed, 0 failed, 0 skipped' 'one fails beside others and passes alone: the run passes'
is "$(grep -c '^flaky busy$' out)" 1 'it is named'
like "$(cat out)" '^1 flaky: ' 'and counted'
not_ok 'it is no failure any more' grep -q '^== failures' out
script broken 'not ok' 'not ok'
is "$(suite)" '1 5 passed, 1 failed, 0 skipped' 'one fails again: it is a failure'
is "$(sed -n '/^== failures/,$p' out | grep 'not ok')" 'e2e: broken: not ok 2 - the second of broken' 'and the only one'
script broken ok ok
for n in 2 3; do
	script "busy$n" 'not ok' ok
done
is "$(suite)" '0 10 passed, 0 failed, 0 skipped' 'three flaky scripts: the run passes'
script busy4 'not ok' ok
is "$(suite)" '1 12 passed, 1 failed, 0 skipped' 'four: it does not'
like "$(sed -n '/^== failures/,$p' out)" 'not ok - 4 tests, at most 3 may be' 'and says why'
for n in 5 6 7 8 9 10 11; do
	script "busy$n" 'not ok' ok
done
like "$(suite)" '^1 .* 11 failed' 'many fail: none is run again'

# ---- nsys, by one that leaves a part of a report and hangs ----

cat >bin/nsys <<'END'
#!/bin/sh
echo >>tries
while [ "$1" != -o ]; do shift; done
echo part >"$2.nsys-rep"
[ "$(wc -l <tries)" -ge "$WHOLE" ] || exec sleep 600
END
chmod +x bin/nsys
export NSYS=$work/bin/nsys
nsys_patience=1
WHOLE=2 nsys_records theirs true
is "$? $(wc -l <tries)" '0 2' 'nsys hangs once: it is tried again'
WHOLE=9 nsys_records theirs true
is "$? $why" '1 nsys hung, 3 times' 'nsys hangs always: its part of a report is not taken'
done_testing
