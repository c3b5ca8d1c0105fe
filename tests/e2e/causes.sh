#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# critical and whatif: programs that exist in a slow form and in a repaired one. What whatif predicts for the slow one
# is what the repair saves. Their time is that of sleeps, so that it does not depend on the machine.
set -u
. "$(dirname "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

target=causes
saves='(a change there )?saves '
takes='([a-z]+ takes [^;]*; )?' # where a thread waited for a CPU as well

line() { # TEXT: FILE:LINE of the target's source that contains it
	local text="/\* $1 \*/"
	printf '%s.c:%s\n' $target "$(grep -n "$text" "$tests_dir/../targets/$target.c" | sed 's/:.*//')"
}

record() { # FORM: slow and fixed; of FORM.py, where there is one
	local form program=("$targets/$target" "$1")
	[ -e "$1.py" ] && program=(python3 "$1.py")
	for form in slow fixed; do
		LD_LIBRARY_PATH=$PILLION_BUILD_DIR/tests/doubles \
			pillion -f -o "$1_$form" --stats=false "${program[@]}" $form >/dev/null 2>&1
	done
}

run_ms() { # CAPTURE: the length of the run, as the critical path adds up to it
	report critical -q -f csv "$1.pillion" | awk -F, 'NR > 1 { sum += $2 } END { printf "%d\n", sum / 1e6 }'
}

saved() { # CAPTURE EDIT: Before - After, Saved, Low, High in ms
	report whatif -q -f csv "$1.pillion" "$2" |
		awk -F, 'NR == 2 { printf "%d %d %d %d\n", ($2 - $3) / 1e6, $4 / 1e6, $5 / 1e6, $6 / 1e6 }'
}

near() { # PREDICTED REAL: to a quarter and 120 ms
	[ $(($1 - $2)) -le $(($2 / 4 + 120)) ] && [ $(($2 - $1)) -le $(($2 / 4 + 120)) ]
}

# What is predicted is what the repair saves. A busy machine makes a run longer, never shorter, so the shortest of up to
# six recordings of each form are compared.
holds() { # FORM EDIT TEXT
	local real predicted difference low high ms slow='' fixed=''
	for _ in 1 2 3 4 5 6; do
		record "$1"
		ms=$(run_ms "$1_fixed")
		[ -n "$fixed" ] && [ "$fixed" -le "$ms" ] || fixed=$ms
		ms=$(run_ms "$1_slow")
		if [ -z "$slow" ] || [ "$ms" -lt "$slow" ]; then
			slow=$ms
			read -r difference predicted low high < <(saved "$1_slow" "$2")
		fi
		real=$((slow - fixed))
		diag "$1: predicted $predicted ms [$low, $high], real $real ms"
		near "$predicted" "$real" && break
	done
	is "$difference" "$predicted" "$3: saved is before - after"
	ok "$3" near "$predicted" "$real"
}

holds join "line~$(line 'slow worker')=0" 'a worker thread that the main thread joins'
holds pipe "line~$(line 'slow message')=0" 'a child that sends a message through a pipe'
holds serial "no-sync~$(line 'one after another')" 'children that could run side by side'
holds slack "line~$(line 'slow worker')=0" 'something that is not on the critical path'
holds socket "line~$(line 'slow answer')=0" 'a server that answers over a socket'
holds queue "line~$(line 'slow producer')=0" 'a queue between two threads'

holds serial workers=4 'children of which four run at a time'
is "$(report whatif -q -f csv serial_slow.pillion workers=2 | awk -F, 'NR == 2 { printf "%d\n", $4 / 1e8 }')" 4 \
	'of which two run at a time'
holds pool workers=4 'a pool of twice as many workers'

# Each process has its own code objects of the line that both workers wait in.
pillion -f -o loader --stats=false python3 "$tests_dir/../../examples/tutorials/loader.py" >/dev/null 2>&1
told='the 2 workers are blocked [0-9]+ % of the time in [a-z_]+ \(40 calls\): .*loader\.py:11 load.*; '"$saves"
like "$(report stats --summary loader.pillion | tr -s '\n ' ' ')" "FIX FIRST $told" \
	'workers in Python: their line is named'
like "$(report analyze loader.pillion)" "^ *FIX FIRST +$told" \
	'analyze says what the summary names first'

# What a line starts and waits for is a part of it, through a shell, too, and where it waits for the output.
cat >steps.py <<'END'
import subprocess, sys, time
for i in range(10):
    if sys.argv[1] == 'slow':
        subprocess.run(['sh', '-c', 'sleep 0.06; true'], capture_output=True)
    time.sleep(0.02)
END
holds steps line~steps.py:4=0 'a program that is started in each step'
like "$(report stats --summary steps_slow.pillion | tr -s '\n ' ' ')" 'FIX FIRST [^;]*steps\.py:4 [^;]*; '"$saves" \
	'the line that starts it is named'

# Threads that only look whether time is over, or whether there is work, keep no run as long as it is.
cat >beat.py <<'END'
import queue, sys, threading, time
stop, work = threading.Event(), queue.Queue()
def beat():
    while not stop.wait(0.05):
        pass
def worker():
    item = 1
    while item:
        try:
            item = work.get(timeout=0.07)
        except queue.Empty:
            pass
threads = [threading.Thread(target=target) for target in (beat, worker)]
for thread in threads:
    thread.start()
for i in range(8):
    if sys.argv[1] == 'slow':
        time.sleep(0.15)
    work.put(1)
stop.set()
work.put(0)
for thread in threads:
    thread.join()
END
holds beat line~beat.py:18=0 'a job with a heartbeat and a worker that looks for work'

# Most of the time of 40 threads is that of waits for each other.
cat >turns.py <<'END'
import sys, threading, time
gate = threading.Semaphore(40 if sys.argv[1] == 'fixed' else 1)
def call():
    with gate:
        time.sleep(0.04)
threads = [threading.Thread(target=call) for i in range(40)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
END
holds turns line~turns.py:5=0 'what one thread of many does at a time'
like "$(report stats --summary turns_slow.pillion | tr -s '\n ' ' ')" 'FIX FIRST [^;]*turns\.py:5 ' \
	'the line is named, although it has a small part of the time of all threads'

# Threads that are awaited one at a time need rather be awaited together than be faster.
cat >joins.py <<'END'
import threading, time
def fetch():
    time.sleep(0.3)
for i in range(10):
    thread = threading.Thread(target=fetch)
    thread.start()
    thread.join()
END
pillion -f -o joins --stats=false python3 joins.py
awaited='(main|joins\.py) waits for one at a time at [^;]*joins\.py:7 [^;]*; '
like "$(report stats --summary joins.pillion | tr -s '\n ' ' ')" \
	"FIX FIRST [^;]*joins\.py:3 fetch; $awaited$takes$saves" \
	'the line that waits for one thread at a time is named'

# So need requests to a process that serves one after the other, and to one that has a thread for each; the threads'
# short sleeps, of which each is awaited, are no polling, though the server waits beside them.
cat >asked.py <<'END'
import multiprocessing, socket, sys, threading, time
def answer(s):
    for line in s.makefile('rb'):
        time.sleep(0.02)
        s.sendall(line)
def serve(pipe):
    with socket.create_server(('127.0.0.1', 0)) as listening:
        pipe.send(listening.getsockname()[1])
        while True:
            s, _ = listening.accept()
            if sys.argv[1] == 'threads':
                threading.Thread(target=answer, args=(s,)).start()
            else:
                answer(s)
def ask(s):
    s.sendall(b'x\n')
    return s.recv(9)
here, there = multiprocessing.Pipe()
server = multiprocessing.Process(target=serve, args=(there,))
server.start()
port = here.recv()
if sys.argv[1] == 'threads':
    for i in range(24):
        with socket.create_connection(('127.0.0.1', port)) as s:
            ask(s)
else:
    with socket.create_connection(('127.0.0.1', port)) as s:
        for i in range(24):
            ask(s)
server.kill()
END
for form in one threads; do
	pillion -f -o asked --stats=false python3 asked.py $form >/dev/null 2>&1
	like "$(report stats --summary asked.pillion | tr -s '\n ' ' ')" \
		'FIX FIRST [^;]*asked\.py:4 [^;]*; (main|asked\.py) waits for one at a time at [^;]*asked\.py:17 ' \
		"the line that asks a server ($form) for one at a time is named"
done

# So need requests to a thread that waits for each of them; one whose queue is full is what is too slow.
cat >results.py <<'END'
import queue, sys, threading, time
tasks, results = queue.Queue(4), queue.Queue()
def work():
    while tasks.get():
        time.sleep(0.02)
        results.put(1)
thread = threading.Thread(target=work)
thread.start()
for i in range(24):
    tasks.put(1)
    if sys.argv[1] == 'each':
        results.get()
tasks.put(0)
thread.join()
END
asking='FIX FIRST [^;]*results\.py:5 work; (main|results\.py) waits for one at a time at [^;]*results\.py:12 '
for form in each full; do
	pillion -f -o results --stats=false python3 results.py $form
	report stats --summary results.pillion | tr -s '\n ' ' ' >$form.said
done
like "$(cat each.said)" "$asking" 'the line that waits for one result at a time is named'
like "$(cat full.said)" 'FIX FIRST [^;]*results\.py:5 work; saves' 'the line that fills a queue is not'

# Threads that do nothing but wait, one after the other, are told as one.
cat >takers.py <<'END'
import queue, threading
def take(tasks, stop):
    while True:
        try:
            tasks.get(timeout=0.25)
        except queue.Empty:
            if stop.is_set():
                return
for i in range(6):
    stop = threading.Event()
    thread = threading.Thread(target=take, args=(queue.Queue(), stop))
    thread.start()
    stop.set()
    thread.join()
END
pillion -f -o takers --stats=false python3 takers.py >/dev/null 2>&1
like "$(report stats --summary takers.pillion | tr -s '\n ' ' ')" \
	'FIX FIRST [^;]*takers\.py:14 [^;]*takers\.py:5 take' 'the line at which threads are awaited that only wait'

# What threads do in turn is not shared out anew, though one of them does most of it.
cat >uneven.py <<'END'
import threading, time
lock = threading.Lock()
def work(count):
    for i in range(count):
        with lock:
            time.sleep(0.06)
threads = [threading.Thread(target=work, args=(count,)) for count in (10, 4, 3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
END
pillion -f -o uneven --stats=false python3 uneven.py >/dev/null 2>&1
like "$(report stats --summary uneven.pillion | tr -s '\n ' ' ')" \
	'FIX FIRST [^;]* blocked [^;]*uneven\.py:6 [^;]*; they wait for each other at uneven\.py:5 work[ ,;]' \
	'work that is done in turn under a lock is not called unequal, and the line of the lock is named'

# A program that works beside its thread is one of those that share the work out.
cat >phases.py <<'END'
import threading, time
meet = threading.Barrier(2)
def work(seconds):
    for i in range(5):
        time.sleep(seconds)
        meet.wait()
thread = threading.Thread(target=work, args=(1,))
thread.start()
work(0.1)
thread.join()
END
pillion -f -o phases --stats=false python3 phases.py
like "$(report stats --summary phases.pillion | tr -s '\n ' ' ')" \
	'FIX FIRST [^;]* and a thread have unequal work: [^;]*phases\.py:5 work[ ,;]' \
	'a barrier waits for the thread with more work than the program that started it'

# A pool hands out the largest task last: the worker that has no more waits for nothing that the other one does.
cat >last.py <<'END'
import multiprocessing, time
def task(seconds):
    time.sleep(seconds)
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool:
        for done in pool.imap_unordered(task, [0.03] * 16 + [0.7]):
            pass
END
pillion -f -o last --stats=false python3 last.py
like "$(report stats --summary last.pillion | tr -s '\n ' ' ')" \
	'FIX FIRST the 2 workers have unequal work: [^;]*last\.py:3 task[ ,;]' 'the line of the largest task is named'

# A thread of the pool starts each worker, by vfork, which has no record, while main waits for all results. The sleep is
# long beside the start of an interpreter on a busy machine.
cat >replaced.py <<'END'
import multiprocessing, sys, time
def set_up():
    if sys.argv[1] == 'slow':
        time.sleep(1)
if __name__ == '__main__':
    with multiprocessing.get_context('spawn').Pool(1, set_up, (), 1) as pool:
        pool.map(abs, range(4), 1)
END
holds replaced line~replaced.py:4=0 'workers of a pool that follow each other'

# Who starts a process looks now and then whether it has ended, as launchers of ranks do.
cat >watched.py <<'END'
import subprocess, sys, time
def work():
    time.sleep(0.8 if sys.argv[1] == 'slow' else 0.1)
if len(sys.argv) > 2:
    work()
else:
    child = subprocess.Popen([sys.executable, __file__, sys.argv[1], 'child'])
    while child.poll() is None:
        time.sleep(0.05)
END
holds watched line~watched.py:3=0 'a process that its starter looks for between sleeps'

# A thread of each process writes to the other two and reads from them, while main waits for it, as in gloo.
cat >meeting.py <<'END'
import os, queue, selectors, socket, sys, threading, time
def prepare(rank):
    if rank == 1 and sys.argv[1] == 'slow':
        time.sleep(0.08)
def exchange(peers, asked, done):
    selector = selectors.DefaultSelector()
    for peer in peers:
        selector.register(peer, selectors.EVENT_READ)
    while asked.get():
        for peer in peers:
            peer.sendall(b'x')
        missing = set(peers)
        while missing:
            for key, _ in selector.select():
                key.fileobj.recv(1)
                missing.discard(key.fileobj)
                selector.unregister(key.fileobj)
        for peer in peers:
            selector.register(peer, selectors.EVENT_READ)
        done.put(1)
def run(rank, peers):
    asked, done = queue.SimpleQueue(), queue.SimpleQueue()
    thread = threading.Thread(target=exchange, args=(peers, asked, done))
    thread.start()
    for step in range(10):
        prepare(rank)
        asked.put(1)
        done.get()
    asked.put(0)
    thread.join()
def pair():
    with socket.create_server(('127.0.0.1', 0)) as server:
        client = socket.create_connection(server.getsockname())
        return client, server.accept()[0]
ends = {(a, b): end for a, b in ((0, 1), (1, 2), (2, 0)) for (a, b), end in zip(((a, b), (b, a)), pair())}
children = []
for rank in (1, 2):
    child = os.fork()
    if not child:
        run(rank, [end for (a, _), end in ends.items() if a == rank])
        os._exit(0)
    children.append(child)
run(0, [end for (a, _), end in ends.items() if a == 0])
for child in children:
    os.waitpid(child, 0)
END
holds meeting line~meeting.py:4=0 'processes that meet by sockets, of which one comes late'

# A child starts within the call that creates it, which copies the tables of the program's memory: without the call, it
# starts as much earlier. Main waits for each child.
cat >forks.py <<'END'
import os
held = bytearray(os.urandom(1 << 20)) * 100
for step in range(20):
    end, other = os.pipe()
    child = os.fork()
    if not child:
        os.write(other, b'x')
        os._exit(0)
    os.read(end, 1)
    os.waitpid(child, 0)
END
pillion -f -o forks --stats=false python3 forks.py >/dev/null 2>&1
read -r _ predicted low high < <(saved forks 'call~fork=0')
forks=$(report stats -q -r osrt_sum -f csv forks.pillion | awk -F, '$NF == "fork" { printf "%d\n", $2 / 1e6 }')
diag "forks: predicted $predicted ms [$low, $high] of $forks ms"
ok 'what a call takes that creates a process is of the call' [ "$predicted" -ge $((forks / 3)) ]

# multiprocessing gives its workers their first line by `python -c`.
cat >spawned.py <<'END'
import multiprocessing, time
def work(i):
    time.sleep(0.2)
if __name__ == '__main__':
    with multiprocessing.get_context('spawn').Pool(2) as pool:
        pool.map(work, range(4), 1)
END
pillion -f -o spawned --stats=false python3 spawned.py >/dev/null 2>&1
unlike "$(report stats --summary spawned.pillion)" '<string>:1 ' 'the line by which a worker is started is not named'

# Main waits for each result, its threads for what the workers write, in polls of several pipes, and workers for the
# semaphore of a pipe that another one holds as it reads: most of that is too short to be recorded.
pool_saves() { # NAME LINE LEAST: ms that no sleep in the workers saves, and whether the summary says so
	local low
	pillion -f -o "$1" --stats=false python3 "$1.py" >/dev/null 2>&1
	read -r _ predicted low high < <(saved "$1" "line~$1.py:$2=0")
	diag "$1: predicted $predicted ms [$low, $high]"
	ok "$1: the sleeps of workers cost the run" [ "$predicted" -ge "$3" ]
	like "$(report stats --summary "$1.pillion" | tr -s '\n ' ' ')" "FIX FIRST [^;]*$1\.py:$2 .*; $saves" \
		"$1: the line is named"
}
cat >pool_get.py <<'END'
import multiprocessing, time
def work(i):
    time.sleep(0.06)
if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(2) as pool:
        for result in [pool.apply_async(work, (i,)) for i in range(30)]:
            result.get()
END
pool_saves pool_get 3 600
sed 's/for result in .*:/for result in pool.imap(work, range(30)):/; s/result.get()/pass/' pool_get.py >pool_imap.py
pool_saves pool_imap 3 600
cat >pool_future.py <<'END'
import concurrent.futures, multiprocessing, time
def work(i):
    time.sleep(0.9 if i == 3 else 0.02)
if __name__ == '__main__':
    with concurrent.futures.ProcessPoolExecutor(3, multiprocessing.get_context('fork')) as pool:
        list(pool.map(work, range(30)))
END
pool_saves pool_future 3 600

if [ -x "$targets/cuda_causes" ]; then
	target=cuda_causes
	holds kernel 'kernel~slow=0.5x' 'a kernel that takes half of its time'
	holds item "no-sync~$(line item)" 'a wait for the device in each step'
	holds timed "no-sync~$(line timed)" 'a wait for the device around what is measured'
	like "$(report stats --summary timed_slow.pillion | tr -s '\n ' ' ')" "FIX FIRST [^;]*$(line timed) " \
		'what can be removed comes before a kernel that could be faster, if it saves half as much'
	holds busy "line~$(line hidden)=0" 'what the host does while the device is at work'
	holds overlap 'overlap~slow' 'a kernel that could run beside the others'
	holds input 'gap~input=0' 'a device that waits for input'
	target=causes
fi

# ---- without an edit ----

is "$(saved join_slow 'call~usleep=1x')" '0 0 0 0' 'an edit that changes nothing saves nothing'
report critical -q -f csv join_slow.pillion >path.csv
report export -q -f true -t html -o path.html join_slow.pillion 2>err
like "$(python3 -c '
import base64, json, re, zlib
packed = re.search(r"id=\"model\"[^>]*>([^<]*)<", open("path.html", encoding="utf-8").read())[1]
model = json.loads(zlib.decompress(base64.b64decode(packed), -zlib.MAX_WBITS))
strings = model["strings"]
names = {strings[name] for name, kind in zip(model["names"][::2], model["names"][1::2])
         if model["categories"][kind]["name"] == "critical"}
print([strings[track["label"]] for track in model["tracks"] if track["kind"] == "path"], sorted(names))' 2>&1)" \
	"critical path.*usleep in worker .*$(line 'slow worker')" 'the page has the critical path as a track'
like "$(cat path.csv)" ',call,,causes \[[0-9]+\],usleep,worker \(.*causes.c:[0-9]+\)$' \
	'the path names the call and its line'

record opens
if report stats -q -r sample_sum -f csv opens_slow.pillion 2>/dev/null | grep -q form_opens; then
	like "$(report critical -q -f csv opens_slow.pillion)" \
		",call,,causes \[[0-9]+\],open(64)?,form_opens \(.*$(line 'short calls')\)" \
		'calls that are too short for a stack belong to the line of the samples in them'
else
	skip 'calls that are too short for a stack' 'no samples are taken here'
fi

# ---- steps ----

if [ -x "$targets/cuda_causes" ]; then
	report stats -q -r steps -f csv item_slow.pillion >steps.csv
	is "$(($(wc -l <steps.csv) - 1)) $(awk -F, 'NR == 5 { print $4 }' steps.csv)" '20 launches' \
		'the steps of a loop'
	is "$(report critical -q -f csv --step=3 item_slow.pillion | awk -F, 'NR > 1 { sum += $2 }
		END { printf "%d\n", sum / 1e5 }')" "$(awk -F, 'NR == 5 { printf "%d\n", $8 / 1e5 }' steps.csv)" \
		'--step: the times add up to the step'
	report critical -q --step=20 item_slow.pillion >out 2>err
	is "$? $(cat err)" '1 pillion critical: --step=20: there are only 20 steps, numbered from 0' 'no such step'
	report critical -q --range=none item_slow.pillion >out 2>err
	is "$?" 1 '--range: no such range'
fi

# ---- what cannot be computed ----

report whatif -q join_slow.pillion cpus=8 >out 2>err
is "$? $(cat err)" \
	'1 pillion whatif: cannot tell: cpus=8: the capture does not say when each thread waited for a CPU' \
	'an edit without a model'
report whatif -q join_slow.pillion workers=2 >out 2>err
is "$? $(cat err)" \
	'1 pillion whatif: cannot tell: workers=2: no process started several others of one program' 'no workers'
report whatif -q join_slow.pillion workers=0 >out 2>err
is "$?" 2 'no count'
report whatif -q join_slow.pillion gap~input=0 >out 2>err
is "$? $(cat err)" \
	'1 pillion whatif: cannot tell: gap~input=0: no thread launched operations of a device' 'no device'
report whatif -q join_slow.pillion 'call~nanosleep=0' >out 2>err
is "$? $(cat err)" '1 pillion whatif: cannot tell: call~nanosleep=0: nothing that was recorded matches' 'no match'
report whatif -q join_slow.pillion 'line~x=fast' >out 2>err
is "$? $(cat err)" '2 pillion whatif: line~x=fast: fast is no factor: 0, 0.5x' 'a wrong factor'
report whatif -q join_slow.pillion >out 2>err
is "$?" 2 'no edit'
like "$(report whatif -q --rank -f csv join_slow.pillion | sed -n 2p)" '^call~usleep=0,' \
	'--rank: what saves most comes first'
like "$(report whatif --json join_slow.pillion 'call~usleep=0')" '"whatif"' 'one JSON object'

done_testing
