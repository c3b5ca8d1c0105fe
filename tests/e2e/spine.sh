#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# FIX FIRST of programs that compute: the function with the largest drop of time, with the callers that carry it; the
# same frames and the same price in `analyze --json`, `stats --summary --json` and `whatif`.
. "$(dirname -- "$0")/lib.sh"

python=$(command -v python3) || skip_all 'no python3'
levers=$(cd "$tests_dir/../targets/python" && pwd)/levers.py
pillion -s cpu -o probe "$python" "$levers" pairs 0.3 >out 2>err
case $(report stats -q -r ledger -f csv probe.pillion) in
*'none on this architecture'* | *'none before Linux'* | *'none with glibc before'*)
	skip_all 'signals take no samples here'
	;;
esac
like "$(report export -t folded --metric cpu -o - probe.pillion 2>err)" \
	'pairs \(.*levers\.py:[0-9]+\)' 'samples have Python frames'

# first EXPRESSION: of the first finding, with the functions of its frames in `names`
first() {
	"$python" -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["table"] == "findings" and r["Verdict"] == "found"]
first = rows[0]
frames = first["Frames"]
names = [f["Function"] for f in frames]
print(eval(sys.argv[2]))' found.json "$1"
}

# The interpreter's end may take 2 % of the time, which is then said.
end="(; this includes a share of the program's end, which takes [0-9]+ % of the CPU time)?"

# lever NAME FRAMES PLACE [PROGRAM]...: a program of levers.py, in whose spine these functions follow each other
lever() {
	pillion -s cpu -o "$1" "$python" "$levers" "$1" 1.2 "${@:4}" >out 2>err
	report stats --summary "$1.pillion" >summary 2>err
	report analyze --json "$1.pillion" >found.json 2>err
	is "$(first "' '.join(names)")" "$2" "$1: the place and its callers"
	like "$(first 'first["Text"]')" "$3$end\$" "$1: the place and what it calls"
	time='[0-9.]+ m?s'
	like "$(sed -n 2p summary)" \
		"^FIX FIRST +$time of $time pass through these$end; a change there saves [0-9.]+( m?s)? to $time\$" \
		"$1: the first line has the time and an interval"
	is "$(sed -n '3,/^[a-z]/p' summary | sed '$d' | awk '{ print $2 }' | tr '\n' ' ')" "$2 " \
		"$1: a line for each function, the outermost first"
	is "$(first 'all(a["Time (ns)"] >= b["Time (ns)"] * 0.95 for a, b in zip(frames, frames[1:]))')" True \
		"$1: a caller has the time of what it calls"
	is "$(first 'first["Saves Low (ns)"] <= first["Saves High (ns)"] <= frames[0]["Time (ns)"] + 1000')" True \
		"$1: no end is above the time that passes"
	report whatif -f csv "$1.pillion" "$(first 'first["Edit"]')" >edit.csv 2>err
	is "$(tail -n 1 edit.csv | cut -d, -f5,6)" \
		"$(first '"%d,%d" % (first["Saves Low (ns)"], first["Saves High (ns)"])')" \
		"$1: whatif has the same interval"
	is "$(report stats --summary --json "$1.pillion" | "$python" -c '
import json, sys
print(*(f["Function"] for r in json.load(sys.stdin)["rows"] if r["table"] == "fix_first" for f in r["Frames"] or []))' |
		cut -c"1-${#2}")" "$2" "$1: the same frames in the tables of the summary"
	report stats --summary --json "$1.pillion" >summary.json
	is "$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${tests_dir%/tests/*}/python "$python" -c '
import json, re
from pillion.show import capture_html
rows = json.load(open("summary.json"))["rows"]
html = capture_html({"fix_first": [r for r in rows if r["table"] == "fix_first"]})
table = html.split("passes</h4>")[1].split("</table>")[0]
print(" to " in html, *re.findall("levers.py:[0-9]+ ([A-Za-z._]+)</td>", table))')" \
		"True $2" "$1: the same frames in a notebook"
}

lever copies 'copies accepts State.clone' 'State\.clone \(copy\.deepcopy\)'
lever parse 'parse setting' 'setting \(json\.loads\)'
if "$python" -c 'import _sqlite3, sys; sys.exit(".so" not in _sqlite3.__file__)' 2>err; then
	lever queries 'queries price' 'price \(_sqlite3\)'
fi
# The name of a builtin function is that of the interpreter's symbol table.
interpreter=$("$python" -c 'import sys; print(sys.executable)')
libpython=$(ldd "$interpreter" 2>err | awk '/libpython/ { print $3 }')
if nm "${libpython:-$interpreter}" 2>err | grep -q ' t gc_collect$'; then
	lever collects 'collects end_of_step' 'end_of_step \(gc\.collect\)'
fi
lever pairs 'pairs row' 'row'
lever branches 'branches step' 'step'
lever recursion 'recursion walk leaf' 'leaf( \(sum\))?'
lever parts 'parts lines' 'lines'
is "$(first 'first["Saves Low (ns)"] < 0.25 * first["Saves High (ns)"]')" True \
	'parts: no line has the usual part, so that the lowest saving is that of the heaviest line'
lever removes 'removes search' 'search' looks 0.12
is "$(first 'first["Edit"]')" 'function~levers.py:removes|levers.py:search=0' \
	'removes: the place is priced with what other callers make of it'

# The end of the program, which frees what a function has made and kept, is that function's, too.
pillion -s cpu -o keeps "$python" "$levers" keeps 0.5 >out 2>err
report stats --summary keeps.pillion >summary 2>err
report analyze --json keeps.pillion >found.json 2>err
like "$(first 'first["Text"]')" \
	"keep.*; this includes a share of the program's end, which takes [0-9]+ % of the CPU time\$" \
	'keeps: the words of the end'
is "$(first 'first["Saves High (ns)"] <= frames[0]["Time (ns)"] + 1000')" True 'keeps: no end is above the time'
is "$(first 'first["Saves Low (ns)"] < 0.29 * first["Saves High (ns)"]')" True \
	'keeps: the lowest saving leaves the end as it is'

# What is called widens no column so far that the times have no room.
mkdir -p a_directory_with_a_name_of_its_own_and_a_long_one
cat >a_directory_with_a_name_of_its_own_and_a_long_one/program.py <<'END_OF_PROGRAM'
import json
def function_with_a_long_name(text):
    return [json.loads(text) for _ in range(100)]
def main():
    text = json.dumps(list(range(10000)))
    for _ in range(8):
        function_with_a_long_name(text)
main()
END_OF_PROGRAM
pillion -s cpu -o wide "$python" a_directory_with_a_name_of_its_own_and_a_long_one/program.py >out 2>err
report stats --summary wide.pillion >summary 2>err
is "$(grep -c -E ' main +[0-9.]+ m?s$' summary)" 1 'a caller has its time in its line'

# A program of the system, whose lines nobody knows, is one place; also where perf takes the samples, from outside.
if gzip=$(command -v gzip); then
	head -c 12000000 /dev/urandom | od -An -tx1 >numbers
	for source in signal perf; do
		pillion -s cpu --sampling-source=$source -o "$source" "$gzip" -9 -c numbers >out 2>err
		report analyze --json $source.pillion >found.json 2>err
		if [ $source = perf ] &&
			! report stats -q -r ledger -f csv perf.pillion | grep -q 'samples by perf,[1-9]'; then
			skip 'samples by perf' 'none can be taken here'
			continue
		fi
		is "$(first 'names[0]')" gzip "$source: the place is in gzip"
		like "$(first 'first["Text"]')" '^[0-9.]+ m?s of [0-9.]+ m?s (in|pass through) gzip' \
			"$source: the words of a program without lines"
		is "$(first 'first["Edit"]')" 'function~gzip=0' "$source: its edit is that of the program"
		is "$(first 'first["Saves High (ns)"] > 100000000')" True "$source: its time has a price"
	done
fi

# A line that mostly computes is told as that, and not by the little that it waits; imports have their modules' names.
mkdir -p lib/site-packages/slowly
cat >lib/site-packages/slowly/__init__.py <<'END_OF_MODULE'
import sys, time
def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))
def passed_on(function):
    def wrapper(*values):
        return function(*values)
    return wrapper if sys.version_info >= (3, 11) else function # before, no name tells that it is made in another one
@passed_on
def use(seconds):
    compute(seconds)
    time.sleep(seconds / 4)
compute(0.5)
END_OF_MODULE
cat >lib/site-packages/starts.py <<'END_OF_MODULE'
def use(seconds):
    import slowly
    slowly.compute(seconds)
END_OF_MODULE
cat >imports.py <<'END_OF_PROGRAM'
import sys
sys.path.insert(0, "lib/site-packages")
import slowly
def job():
    slowly.use(0.8)
[job() for _ in range(1)]
END_OF_PROGRAM
pillion -s cpu -o imports "$python" imports.py >out 2>err
report stats --summary imports.pillion | tr '\n' ' ' | sed 's/  */ /g' >summary
part='[0-9.]+ m?s of [0-9.]+ m?s'
like "$(cat summary)" "FIX FIRST $part at imports\.py:5 job \(slowly\.use\); a change there saves" \
	'a line that mostly computes is a place'
like "$(cat summary)" "then $part at imports\.py:3 <module> \(imports slowly\); a change there saves" \
	'an import has the name of its module'

# Workers that are started anew, and as many that live side by side.
cat >workers.py <<'END_OF_PROGRAM'
import multiprocessing, sys
sys.path.insert(0, "lib/site-packages")
import slowly
def work(number):
    slowly.compute(float(sys.argv[3]))
def rounds(count, workers):
    for _ in range(count):
        started = [multiprocessing.get_context("spawn").Process(target=work, args=(i,)) for i in range(workers)]
        for worker in started:
            worker.start()
        for worker in started:
            worker.join()
if __name__ == "__main__":
    rounds(int(sys.argv[1]), int(sys.argv[2]))
END_OF_PROGRAM
pillion -s cpu -o anew "$python" workers.py 4 1 0 >out 2>err
pillion -s cpu -o beside "$python" workers.py 1 4 0 >out 2>err
began=$SECONDS
pillion -s cpu -o works "$python" workers.py 4 1 1 >out 2>err
took=$((SECONDS - began))
for kind in anew beside; do
	report stats --summary $kind.pillion | tr '\n' ' ' | sed 's/  */ /g' >$kind.text
done
like "$(cat anew.text)" \
	'FIX FIRST 4 worker processes are started anew and import slowly, [0-9.]+ m?s: workers\.py:12 ' \
	'workers that are started anew: the line that waits for them'
like "$(cat beside.text)" 'FIX FIRST.* workers\.py:3 ' 'workers side by side: the import'
unlike "$(cat beside.text)" 'are started anew' 'workers side by side'
report analyze works.pillion >works.text
started=$(sed -nE 's/^ *4 worker processes are started anew and import slowly, ([0-9.]+) s: .*/\1/p' works.text)
ok "what workers compute, of $took s, is no part of their start: ${started:=$took}" \
	awk "BEGIN { exit !($started * 2 < $took) }"

# What a place does again and again is said, by the calls on files; one long query, a file that is read once
# and one that changes are not.
cat >again.py <<'END_OF_PROGRAM'
import json, sqlite3, sys, time
def until(seconds, rounds):
    end = time.process_time() + seconds
    while rounds > 0 or time.process_time() < end:
        rounds -= 1
        yield
def setting():
    with open("settings.json") as file:
        return json.load(file)
def reads():
    return sum(len(setting()) for _ in until(0.6, 20))
def parses():
    text = open("settings.json").read()
    return sum(len(json.loads(text)) for _ in until(0.6, 20))
def rewrites():
    return sum(rewrite(i) for i, _ in enumerate(until(0.6, 20)))
def rewrite(i):
    with open("state.json", "w") as file:
        json.dump({str(k): list(range(20)) for k in range(i, i + 300)}, file)
    with open("state.json") as file:
        return len(json.load(file))
def polls():
    with open("state.json", "w") as file:
        file.write("0" * 1300)
    for _ in range(10):
        with open("state.json") as file:
            file.read()
    return computes()
def computes():
    numbers = list(range(3000))
    return sum(len(json.dumps(numbers)) for _ in until(1.8, 20))
def price(shop, item):
    return shop.execute("select sum(price) from items where item = ?", (item,)).fetchone()
def queries():
    shop = sqlite3.connect("shop.db")
    return sum(bool(price(shop, 7)) for _ in until(0.6, 300))
def query():
    shop = sqlite3.connect("shop.db")
    return shop.execute("select count(*) from items a, items b where a.price < b.item").fetchone()
with open("settings.json", "w") as file:
    json.dump({str(i): list(range(20)) for i in range(300)}, file)
shop = sqlite3.connect("shop.db")
shop.execute("create table if not exists items (item integer, price integer)")
shop.executemany("insert into items values (?, ?)", [(i, i) for i in range(3000)])
shop.commit()
shop.close()
globals()[sys.argv[1]]()
END_OF_PROGRAM
for kind in reads parses rewrites polls queries query; do
	rm -f shop.db
	pillion -s cpu -o "again-$kind" "$python" again.py $kind >out 2>err
	report analyze --json "again-$kind.pillion" >found.json 2>err
	first 'first["Text"]' >$kind.text
done
like "$(cat reads.text)" '; its process reads the same file again: settings\.json is opened [0-9]+ times' \
	'a file that is read again and again'
unlike "$(cat parses.text)" 'reads the same file again' 'a file that is read once'
like "$(cat rewrites.text)" 'again\.py:[0-9]+ rewrite' 'a file that is written anew: the place'
unlike "$(cat rewrites.text)" 'reads the same file again' 'a file that is written anew before it is read'
like "$(cat polls.text)" 'again\.py:[0-9]+ computes' 'a small file that others read: the place'
unlike "$(cat polls.text)" 'reads the same file again' 'a small file that others read'
if "$python" -c 'import _sqlite3, sys; sys.exit(".so" not in _sqlite3.__file__)' 2>err; then
	like "$(cat queries.text)" '; its process makes a query in a loop: shop\.db is locked [0-9]+ times' \
		'a query in a loop'
fi
unlike "$(cat query.text)" 'in a loop|reads the same file again' 'one query that takes long'

# Calls that a library makes have its name, too.
cat >lib/site-packages/store.py <<'END_OF_MODULE'
import os
def save(n):
    for i in range(n):
        file = os.open("saved", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, b"x" * 100)
        os.fsync(file)
        os.close(file)
END_OF_MODULE
printf 'import sys\nsys.path.insert(0, "lib/site-packages")\nimport store\nstore.save(1500)\n' >saves.py
pillion -s cpu -o saves "$python" saves.py >out 2>err
report analyze --json saves.pillion >found.json 2>err
report stats --summary saves.pillion | tr -s '\n ' ' ' >summary
case $(cat summary) in
*'FIX FIRST '[0-9]*' calls that wait until data is on the disk'*)
	like "$(cat summary)" 'saves\.py:4 <module> \(store\.save\)' 'the line, and what it calls'
	;;
*)
	skip 'what a line calls that waits for the disk' 'the disk is too fast here'
	;;
esac

# A thread of a library that computes for less than half of the time: the line that gives it work.
cat >lib/site-packages/eventlog.py <<'END_OF_MODULE'
import queue, threading
class Writer:
    def __init__(self):
        self.queue = queue.Queue(1)
        threading.Thread(target=self.run).start()
    def put(self, item):
        self.queue.put(item)
    def run(self):
        while (item := self.queue.get()) is not None:
            crc = 0
            for byte in range(item):
                crc = (crc ^ byte) * 31 % 4294967291
END_OF_MODULE
cat >logs.py <<'END_OF_PROGRAM'
import sys
sys.path.insert(0, "lib/site-packages")
import eventlog
writer = eventlog.Writer()
def train():
    for _ in range(30):
        sum(i * i for i in range(500000))
    for _ in range(40):
        writer.put(150000)
    writer.put(None)
train()
END_OF_PROGRAM
pillion -s cpu -o logs "$python" logs.py >out 2>err
like "$(report stats --summary logs.pillion | tr -s '\n ' ' ')" \
	' m?s, in a thread, for which main waits at logs\.py:9 train, at [^ ]*eventlog\.py:1[0-4] ' \
	'the line that gives work to a thread of a library'

# Threads that a function starts and waits for at once.
cat >joined.py <<'END_OF_PROGRAM'
import threading
def work():
    sum(i * i for i in range(3000000))
def save():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
for _ in range(4):
    save()
END_OF_PROGRAM
pillion -s cpu -o joined "$python" joined.py >out 2>err
like "$(report stats --summary joined.pillion | tr -s '\n ' ' ')" \
	'FIX FIRST [^;]* in the 4 threads, for which main waits at joined\.py:7 save, at joined\.py:3 work; a change' \
	'the line that waits for threads of the program'

# Two workers that meet by what is not recorded: of which one has more to do.
cat >meet.py <<'END_OF_PROGRAM'
import multiprocessing, os, signal, time
def work(rows):
    until = time.process_time() + rows / 1000
    while time.process_time() < until:
        pass
def rank(number, pids):
    pids[number] = os.getpid()
    while not all(pids):
        time.sleep(0.01)
    for _ in range(12):
        work(80 if number else 25)
        os.kill(pids[1 - number], signal.SIGRTMIN)
        signal.sigwait([signal.SIGRTMIN])
if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    fork = multiprocessing.get_context("fork")
    pids = fork.Array("i", 2, lock=False)
    ranks = [fork.Process(target=rank, args=(number, pids)) for number in range(2)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
END_OF_PROGRAM
pillion -s cpu -o meet "$python" meet.py >out 2>err
report stats --summary meet.pillion | tr -s '\n ' ' ' >summary
case $(cat summary) in
*' of 2 processes'*)
	like "$(cat summary)" \
		'FIX FIRST the 2 workers have unequal work: .* meet\.py:[45] work, .*; saves [0-9.]+ .*to ' \
		'unequal work of workers that meet by signals'
	;;
*) # so that of the one with less work there is less than what is shown
	skip 'unequal work of workers that meet by signals' 'the machine is too busy'
	;;
esac

# Files that a module reads as it is imported are a part of the import.
cat >lib/site-packages/tables.py <<'END_OF_MODULE'
import os
for _ in range(40000):
    os.close(os.open(__file__, os.O_RDONLY))
END_OF_MODULE
printf 'import sys\nsys.path.insert(0, "lib/site-packages")\nimport tables\n' >files.py
pillion -s cpu -o files "$python" files.py >out 2>err
unlike "$(report stats --summary files.pillion)" 'opens, and reads and writes of less than 4' \
	'what an import reads is a part of the import'

# An import below a line that does more than that has only its own price.
printf 'import sys\nsys.path.insert(0, "lib/site-packages")\nimport starts\nstarts.use(1.5)\n' >below.py
pillion -s cpu -o below "$python" below.py >out 2>err
report analyze --json below.pillion >found.json 2>err
is "$(first 'frames[-1]["Line"].endswith("below.py:4"), "imports" in first["Text"]')" '(True, False)' \
	'a line that imports and computes is told as what computes'

# What computes is told also if the run ends with a thread of which nobody knows what it waited for; functions without
# lines around those that have them are none of the program's own.
if cc=$(command -v cc); then
	cat >main.c <<-'END_OF_PROGRAM'
		#include <pthread.h>
		#include <sys/epoll.h>
		#include <sys/eventfd.h>
		int work(void);
		static int event;
		static void *waits(void *p)
		{
			struct epoll_event e = {.events = EPOLLIN};
			int poll = epoll_create1(0);
			epoll_ctl(poll, EPOLL_CTL_ADD, event, &e);
			epoll_wait(poll, &e, 1, -1);
			return p;
		}
		int main(void)
		{
			pthread_t thread;
			int n;
			event = eventfd(0, 0);
			pthread_create(&thread, NULL, waits, NULL);
			n = work();
			eventfd_write(event, 1);
			pthread_join(thread, NULL);
			return n == 1;
		}
	END_OF_PROGRAM
	cat >work.c <<-'END_OF_PROGRAM'
		#include <time.h>
		int work(void)
		{
			volatile int n = 1;
			while (clock() < CLOCKS_PER_SEC)
				for (int i = 0; i < 100000; i++)
					n++;
			return n;
		}
	END_OF_PROGRAM
	"$cc" -O1 -fno-omit-frame-pointer -c main.c && "$cc" -g -O1 -fno-omit-frame-pointer -c work.c &&
		"$cc" -pthread -o wakes main.o work.o
	pillion -s cpu -o wakes ./wakes >out 2>err
	report analyze --json wakes.pillion >found.json 2>err
	is "$(first "' '.join(names)")" work 'what computes beside a thread that waits: its function only'

	# Without any names all that a program does would be one line: its calls have their own price.
	cat >nameless.c <<-'END_OF_PROGRAM'
		#include <poll.h>
		#include <time.h>
		int main(void)
		{
			nanosleep(&(struct timespec){.tv_nsec = 700000000}, NULL);
			return poll(NULL, 0, 400);
		}
	END_OF_PROGRAM
	"$cc" -O1 -s -o nameless nameless.c
	pillion -s cpu -o nameless ./nameless >out 2>err
	report analyze --json nameless.pillion >found.json 2>err
	is "$(first '[r["Edit"] for r in rows if "nanosleep" in r["Text"]]')" "['call~nanosleep=0']" \
		'nameless: its sleep has a price of its own'
else
	skip 'what computes beside a thread that waits' 'no cc'
fi

# Of what workers send back, one function serializes it in them, and another one reads it where all else is a library's.
cat >results.py <<'END_OF_PROGRAM'
import multiprocessing


def rows(part):
    return [(i, i / 7, str(i)) for i in range(part, part + 100000)]


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(len(found) for found in pool.imap_unordered(rows, range(12))))
END_OF_PROGRAM
pillion -s cpu -o results "$python" results.py >out 2>err
report whatif -f csv results.pillion 'frames~recv=0' 'frames~dumps=0' 'frames~recv|dumps=0' >edit.csv 2>err
ok 'whatif: several functions have all that is below any of them' awk -F, '
	NR > 1 { saved[NR] = $4 }
	END { exit saved[4] * 1.05 < saved[2] || saved[4] * 1.05 < saved[3] || !saved[3] }' edit.csv
diag "$(cat edit.csv err)"
report analyze --json results.pillion >found.json 2>err
is "$("$python" -c '
import json
rows = json.load(open("found.json"))["rows"]
edits = [r["Edit"] for r in rows if r.get("Rule") == "process_transfer" and r.get("Edit")]
print(*("recv" in edit and "dumps" in edit for edit in edits))')" 'True' 'what is sent is priced with those who read it'
is "$("$python" -c '
import json
rows = json.load(open("found.json"))["rows"]
texts = [r["Text"] for r in rows if r.get("Rule") == "process_transfer" and r.get("Edit")]
print(*("; in all processes it takes at most " in text or "takes" not in text for text in texts))')" \
	'True' 'what all processes have of it is a part of the run'

# Of large arguments, the thread of the pool that serializes them computes in one of these functions.
cat >arguments.py <<'END_OF_PROGRAM'
import multiprocessing

table = [("row %d" % i, i, i * 2.5) for i in range(60000)]


def look_up(argument):
    rows, k = argument
    return rows[k][1]


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(look_up, [(table, k) for k in range(32)], chunksize=1)))
END_OF_PROGRAM
pillion -s cpu -o arguments "$python" arguments.py >out 2>err
report analyze --json arguments.pillion >found.json 2>err
is "$("$python" -c '
import json
rows = json.load(open("found.json"))["rows"]
edits = [r["Edit"] for r in rows if r["table"] == "findings" and r.get("Edit") and r["Rule"] in (
    "process_transfer", "bound_by")]
print(sum("reduction.py:ForkingPickler.dumps" in edit for edit in edits))')" 1 'what is sent has one price in the list'
diag "$("$python" -c '
import json
for row in json.load(open("found.json"))["rows"]:
    if row["table"] == "findings" and row.get("Edit"):
        print(row["Rule"], row["Edit"])')"

# Each of these processes is too short for more than a sample or two; below bash many have none.
awk 'BEGIN { for (i = 0; i < 60000; i++) print "key" i * 7919 % 1000 }' >keys.txt
printf 'for i in {1..30}; do\n\tsort keys.txt >sorted\ndone\n' >sorts.sh
pillion -o sorts bash sorts.sh >out 2>err
report stats --summary sorts.pillion >out 2>err
ok 'short processes of one program: the time of all of them' \
	grep -Eq '^(FIX FIRST|then) .* in (sort|the 30 processes)' out
diag "$(cat out)"

# What another program does, at a line of the user's that waits for it: a command, and a text for `python -c`.
cat >runs.py <<'END_OF_PROGRAM'
import subprocess
subprocess.run(["awk", "BEGIN { for (i = 0; i < 9000000; i++) n += i % 7; print n }"])
END_OF_PROGRAM
cat >asks.py <<'END_OF_PROGRAM'
import subprocess
import sys

child = subprocess.Popen([sys.executable, "-c", """
import sys, time
for line in sys.stdin:
    time.sleep(0.1)
    print(line, end="", flush=True)
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for i in range(8):
    child.stdin.write("row\n")
    child.stdin.flush()
    child.stdout.readline()
child.stdin.close()
child.wait()
END_OF_PROGRAM
for program in runs asks; do
	pillion -o "$program" "$python" "$program.py" >out 2>err
	report analyze --json "$program.pillion" >found.json 2>err
	is "$("$python" -c '
import json
rows = json.load(open("found.json"))["rows"]
line, part = {"runs": ("runs.py:2", "awk, for which main waits at runs.py:2"),
              "asks": ("asks.py:13", "<string>:4 <module>, awaited at asks.py:13")}["'"$program"'"]
print(any(part in (r["Text"] or "") and (r["Line"] or "").endswith("/" + line)
    for r in rows if r["table"] == "findings"))')" \
		True "$program: the line that waits for the other program"
	diag "$("$python" -c '
import json
for row in json.load(open("found.json"))["rows"]:
    if row["table"] == "findings" and row.get("Edit"):
        print(row["Rule"], row["Line"], row["Text"])')"
done

report whatif -f csv copies.pillion 'function~deepcopy=0' 'function~nothing=0' >edit.csv 2>err
is "$? $(tail -n +2 edit.csv | wc -l)" '1 1' 'whatif: a library has a price, what is not there has none'
like "$(cat err)" 'cannot tell: function~nothing: no recorded stack has that function' 'whatif: why'
done_testing
