#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads have the names that Python programs give to them, wherever the attributes of the thread's object are: in
# tables, in other formats, and in a look at a thread that has recorded nothing yet.
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
all_pythons python3
[ "${#pythons[@]}" -gt 0 ] || skip_all 'no python3'

cat >named.py <<'END'
import threading, time

def sleeps():
    time.sleep(0.2)

def computes():
    until = time.thread_time() + 0.3
    while time.thread_time() < until:
        sum(range(2000))

class Own(threading.Thread):
    def __init__(self):
        self.before = [0]
        super().__init__(name="own é日")

    def run(self):
        time.sleep(0.2)

class Slots(threading.Thread):
    __slots__ = ("extra",)

    def run(self):
        self.extra = 1
        time.sleep(0.2)

def deep(depth):
    return deep(depth - 1) if depth else time.sleep(0.2)

sparse = threading.Thread(target=sleeps, name="sparse")
for i in range(300):
    setattr(sparse, "attribute%d" % i, i)
whole = threading.Thread(target=sleeps, name="whole")
whole.__dict__["key"] = 1
renamed = threading.Thread(target=sleeps)
renamed.name = "renamed"
number = threading.Thread(target=sleeps, name="0")
number._name = 17
threads = [threading.Thread(target=sleeps, name="a name of a thread which is longer than fifteen letters"),
           threading.Thread(target=computes, name="Thread-safe"), Own(), Slots(name="slots"), sparse, whole, renamed,
           number, threading.Thread(target=deep, args=(100,), name="deep"), threading.Thread(target=sleeps)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
END
cat >hangs.py <<'END'
import sys, threading
lock = threading.Lock()
lock.acquire()
threading.Thread(target=lock.acquire, name="waits for ever, as it seems", daemon=True).start()
print(flush=True)
sys.stdin.read()
END
cat >wanted <<'END'
Thread-safe
a name of a thread which is longer than fifteen letters
deep
own é日
renamed
slots
sparse
whole
END

for python in "${pythons[@]}"; do
	version=$("$python" -c 'import sys, sysconfig; print("%d.%d" % sys.version_info[:2] +
		("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""))')
	case $version in
	3.[89] | 3.1[0-3]) ;;
	*)
		skip "$version" 'the kernel has the names of its threads, or nobody has'
		continue
		;;
	esac
	PYTHONIOENCODING=utf-8 pillion -f -o named "$python" named.py >out 2>err
	is "$? $(cat out)" '0 ' "$version: the program"
	report stats -q -r time_sum -f csv named.pillion | awk -F, 'NR > 1 && $1 != $2 && $3 !~ /^(\(|python)/ {
		print $3 }' | LC_ALL=C sort -u >names
	is "$(cat names)" "$(cat wanted)" "$version: names in a table"
	report export -t chrome -f true -o named.json named.pillion >out 2>err
	ok "$version: names in other formats" grep -q '"thread_name".*"own é日 ' named.json
	mkfifo in
	"$python" hangs.py <in >out &
	exec 5>in
	eventually test -s out
	eventually report where "$!" >seen 2>err
	like "$(cat seen)" '[0-9]+ waits for ever, as it seems ' "$version: names in a look"
	exec 5>&-
	wait $!
	rm in
done
done_testing
