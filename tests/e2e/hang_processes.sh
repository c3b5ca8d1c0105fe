#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Processes that wait for each other: for semaphores, pipes, sockets, locks of files and children that only other
# processes of the job can end. What something outside of the job, a time limit or a signal handler can end is none.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
command -v python3 >/dev/null || skip_all 'no python3'

cat >waits.py <<'END'
import asyncio, ctypes, fcntl, logging, multiprocessing as mp, os, queue as queues, signal, struct, subprocess
import sys, threading, time


def both(a, b):
    with a:
        time.sleep(0.3)
        with b:  # both wait
            pass


def lock():
    a, b = mp.Lock(), mp.Lock()
    children = [mp.Process(target=both, args=order) for order in ((a, b), (b, a))]
    for child in children:
        child.start()
    for child in children:
        child.join()  # joins


def fills(q):
    q.put(b"x" * 10000000)


def join():
    q = mp.Queue()
    child = mp.Process(target=fills, args=(q,))
    child.start()
    child.join()  # nobody gets


def pipe():
    p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdin.write(b"x" * 1000000)  # nobody reads


def receives(c):
    c.recv()  # child receives


def socket():
    a, b = mp.Pipe()
    mp.Process(target=receives, args=(b,), daemon=True).start()
    a.recv()  # parent receives


def takes(one, two):
    with open(one, "w") as f, open(two, "w") as g:
        fcntl.flock(f, fcntl.LOCK_EX)
        time.sleep(0.3)
        fcntl.flock(g, fcntl.LOCK_EX)  # both wait for files


def flock():
    if os.fork() == 0:
        takes("one", "two")
    takes("two", "one")


def ranges(one, two):
    with open("three", "a") as f:
        fcntl.fcntl(f, 38, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, one, 1, 0))  # F_OFD_SETLKW
        time.sleep(0.3)
        fcntl.fcntl(f, 38, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, two, 1, 0))  # both lock a range


def ofd():
    if os.fork() == 0:
        ranges(0, 1)
    ranges(1, 0)


def any():
    a, b = os.pipe(), os.pipe()
    for ends in (a[0], b[1]), (b[0], a[1]):
        if os.fork() == 0:
            os.read(ends[0], 1)  # children read
            os.write(ends[1], b"x")
    os.wait()


def inherited():
    f = open("four", "w")
    fcntl.flock(f, fcntl.LOCK_EX)
    if os.fork() == 0:
        time.sleep(1000)
    f.close()
    fcntl.flock(open("four", "w"), fcntl.LOCK_EX)


libc = ctypes.CDLL(None)


def change(sems, number, by):
    libc.semop(sems, struct.pack("Hhh", number, by, 0), 1)  # semop


def system_v(key=0):
    sems = libc.semget(key, 2, 0o1600)
    print("-s", sems, file=open("objects", "w"))
    if os.fork() == 0:
        change(sems, 1, -1)
    change(sems, 0, -1)


def keyed():
    system_v(os.getpid())


def messages():
    queue = libc.msgget(0, 0o600)
    print("-q", queue, file=open("objects", "w"))
    if os.fork() == 0:
        libc.msgrcv(queue, ctypes.create_string_buffer(64), 8, 1, 0)
    libc.msgrcv(queue, ctypes.create_string_buffer(64), 8, 1, 0)  # msgrcv


def events():
    fd = libc.eventfd(0, 0)
    if os.fork() == 0:
        os.read(fd, 8)
    os.read(fd, 8)  # reads an eventfd


def opened():
    libc.sem_open.restype = ctypes.c_void_p
    libc.sem_wait(ctypes.c_void_p(libc.sem_open(("/" + sys.argv[2]).encode(), os.O_CREAT, 0o600, 0)))


def dies():
    os.kill(os.getpid(), signal.SIGKILL)


def pool():
    with mp.Pool(1) as workers:
        workers.apply(dies)  # the pool has lost it


async def task(a, b):
    async with a:
        await asyncio.sleep(0.3)
        async with b:  # both tasks wait
            pass


async def tasks():
    a, b = asyncio.Lock(), asyncio.Lock()
    await asyncio.gather(task(a, b), task(b, a))  # waits for both


def loop():
    asyncio.run(tasks())  # runs the loop


async def works(jobs):
    while True:
        jobs.task_done() if await jobs.get() else fails("no job")


def fails(text):
    raise ValueError(text)  # fails


async def queue():
    jobs = asyncio.Queue()
    kept = [asyncio.create_task(works(jobs))]
    for job in 1, 0, 1:
        jobs.put_nowait(job)
    await jobs.join()  # joins the jobs


async def later():
    await asyncio.sleep(0.1)
    fails("later")


async def event():
    asyncio.create_task(later())
    await asyncio.Event().wait()  # waits for an event


def raised():
    asyncio.run(queue())


def logged():
    asyncio.run(event())


def threads():
    jobs = queues.Queue()
    threading.Thread(target=fails, args=("threads",)).start()
    jobs.get()  # gets nothing


def logs():
    try:
        fails("caught")
    except ValueError:
        logging.exception("logs")


def caught():
    jobs = queues.Queue()
    threading.Thread(target=logs).start()
    jobs.get()


async def handled():
    kept = [asyncio.create_task(later())]
    await asyncio.gather(*kept, return_exceptions=True)
    await asyncio.Event().wait()


def kept():
    asyncio.run(handled())


def handler():
    signal.signal(signal.SIGUSR1, lambda *_: None)
    socket()


def late(c):
    time.sleep(1000)
    c.send(1)


def sleeps():
    a, b = mp.Pipe()
    mp.Process(target=late, args=(b,), daemon=True).start()
    a.recv()


def computes(c):
    while True:
        pass


def busy():
    a, b = mp.Pipe()
    mp.Process(target=computes, args=(b,), daemon=True).start()
    a.recv()


def outside():
    subprocess.run(["cat"])


if __name__ == "__main__":
    mp.set_start_method("fork")
    globals()[sys.argv[1]]()
END

line() { # TEXT
	grep -n -m 1 -- "# $1" waits.py | cut -d: -f1
}

started() { # NAME
	rm -rf run.pillion
	set -m
	PILLION_STATS=false "$PILLION" --hang=3 -o run python3 waits.py "$1" "$semaphore" <input >log 2>&1 &
	job=$!
	set +m
	exec 4>input
}

ended() {
	kill -KILL -- "-$job" 2>/dev/null
	wait "$job" 2>/dev/null
	exec 4>&-
	# shellcheck disable=SC2046 # an option and a number
	[ ! -s objects ] || ipcrm $(cat objects)
	rm -f objects "/dev/shm/sem.$semaphore"
}
semaphore=pillion-hang-$$
mkfifo input

named() { # NAME COUNT REGEX...
	local name=$1 processes=$2
	shift 2
	started "$name"
	ok "$name: it is said while it lasts" eventually grep -Eq '^pillion: DEADLOCK ' log
	ended
	report stats --summary run.pillion >summary 2>err
	if [ "$processes" -gt 1 ]; then
		like "$(sed -n 2p summary)" "^DEADLOCK +all $processes processes wait, and nothing else can wake them" \
			"$name: the processes"
	fi
	for text; do
		like "$(cat summary)" "$text" "$name: $text"
	done
}

named lock 3 "process [0-9]+, the main thread at waits.py:$(line 'both wait') waits for a semaphore" \
	"process [0-9]+, the main thread at waits.py:$(line joins) waits for a child process"
named join 2 "waits.py:$(line 'nobody gets') waits for a child process" 'QueueFeederThread.* waits for a pipe'
named pipe 2 "the main thread at waits.py:$(line 'nobody reads') waits for a pipe,$"
named socket 2 "waits.py:$(line 'child receives') waits for a socket" \
	"waits.py:$(line 'parent receives') waits for a socket"
named flock 2 "waits.py:$(line 'both wait for files') waits for a lock of a file"
named ofd 2 "waits.py:$(line 'both lock a range') waits for a lock of a file"
named any 3 "waits.py:$(line 'children read') waits for a pipe"
named system_v 2 "waits.py:$(line semop) waits for a semaphore"
named messages 2 "waits.py:$(line msgrcv) waits for a message"
named events 2 "waits.py:$(line 'reads an eventfd') waits for a notification by eventfd"
named pool 2 "waits.py:$(line 'the pool has lost it') waits for a threading.Lock" \
	', whose worker [0-9]+ was killed by signal 9 \(SIGKILL\)$'
named loop 1 \
	"^DEADLOCK +the main thread at waits.py:$(line 'runs the loop') waits for a wakeup of its event loop, in which \
2 tasks wait at waits.py:$(line 'both tasks wait') task, 1 at waits.py:$(line 'waits for both') tasks, and no"

# What has ended a task or a thread precedes the wait for it.
fails="at waits.py:$(line fails) fails,$"
named raised 1 "^DEADLOCK +after a task ended by ValueError: no job $fails" \
	"in which 1 task waits at waits.py:$(line 'joins the jobs') queue, and no"
named logged 1 "^DEADLOCK +after a task ended by ValueError: later $fails" \
	"1 task waits at waits.py:$(line 'waits for an event') event, and no"
named threads 1 "^DEADLOCK +after thread [0-9]+ ended by ValueError: threads $fails" \
	"the main thread at waits.py:$(line 'gets nothing') waits for a threading.Lock, and no other thread"

# What the program has caught, or taken from a task, has ended nothing.
for name in caught kept; do
	named "$name" 1 '^DEADLOCK +the main thread at waits.py:'
	unlike "$(cat summary)" 'ended by' "$name: nothing was ended"
done

# The directory's time changes when the launcher has judged whether the program hangs, and removes its claim.
has_judged() {
	local look
	look=$(find run.pillion -name '*.where' -size +0)
	[ -n "$look" ] && [ -n "$(find run.pillion -maxdepth 0 -newer "$look")" ]
}

for name in handler sleeps busy outside inherited keyed opened; do
	started "$name"
	ok "$name: it was judged" eventually has_judged
	ended
	report stats --summary run.pillion >summary 2>err
	like "$(cat summary)" ' process' "$name: there is a summary"
	unlike "$(cat summary)" '^DEADLOCK' "$name: no deadlock"
done

done_testing
