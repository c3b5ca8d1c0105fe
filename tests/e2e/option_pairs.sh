#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Under every pair of options programs write and end as they do without pillion: option_pairs.py makes the command lines
# from the table of options.
. "$(dirname -- "$0")/lib.sh"

python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || skip_all 'no Python 3'
cat >threads.py <<'END_OF'
import os, subprocess, sys, threading
lock, made = threading.Lock(), []
def work(number):
    for i in range(200):
        with lock:
            made.append(bytearray(i * number))
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(made), sorted(sys.modules) == sorted(set(sys.modules)), sys.getprofile(), sys.gettrace(), flush=True)
pid = os.fork()
if pid == 0:
    os._exit(4)
print(os.waitpid(pid, 0)[1], subprocess.run(['sh', '-c', 'echo said >&2; exit 5']).returncode)
sys.exit(3)
END_OF
printf '[{"module": "threading", "functions": ["Thread.start"]}]\n' >functions.json
mkdir spools

programs=("true=/bin/true" "Python, threads=$python threads.py" "C, threads=$targets/locks own")
cc=$(command -v gcc || command -v clang) && $cc -fopenmp -O1 -o regions \
	"${tests_dir%/*}/targets/openmp_regions.c" 2>err && programs+=('OpenMP=./regions 2 3 count.txt')
jemalloc=$(ldconfig -p 2>/dev/null | awk '$1 == "libjemalloc.so.2" { print $NF; exit }')
if [ -e "$jemalloc" ]; then
	programs+=("Python, jemalloc=LD_PRELOAD=$jemalloc $python threads.py")
else
	skip 'Python, jemalloc' 'jemalloc is not installed'
fi
adopt "$python" "$tests_dir/option_pairs.py" "$PILLION" "${programs[@]}"
is "$(grep -c '^ok - .*: as without pillion under each of [0-9]* lines$' seen)" "${#programs[@]}" \
	'all programs were run'
done_testing
