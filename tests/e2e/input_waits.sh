#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What waits for its input, its user or its clients is no finding; what waits for the answer of a server is one. The
# servers, clients and writers at the other end are not recorded. A client starts when its server listens: time in which
# it looked for the server would be the first finding.
. "$(dirname -- "$0")/lib.sh"

python=$(python3 -c 'import sys; print(sys.executable)') || skip_all 'no python3'

# peer ANSWERS PORT_FILE: a server that takes 0.25 s for each of so many answers; client the other way round.
cat >peer.py <<'END_OF_PEER'
import socket, sys, time
words = int(sys.argv[2])
if sys.argv[1] == "server":
    listening = socket.create_server(("127.0.0.1", 0))
    open("port", "w").write(str(listening.getsockname()[1]))
    s, _ = listening.accept()
    for i in range(words):
        s.recv(100)
        time.sleep(0.25)
        s.send(b"ok")
else:
    while True:
        try:
            s = socket.create_connection(("127.0.0.1", int(open("port").read())))
            break
        except (OSError, ValueError):
            time.sleep(0.05)
    for i in range(words):
        time.sleep(0.25)
        s.send(b"word")
        s.recv(100)
END_OF_PEER
cat >asks.py <<'END_OF_ASKS'
import asyncio, queue, socket, sys, threading
address = "127.0.0.1", int(open("port").read())
def plain():
    s = socket.create_connection(address)
    for i in range(8):
        s.send(b"word")
        s.recv(10)  # answer
async def tasks():
    reader, writer = await asyncio.open_connection(*address)
    for i in range(8):
        writer.write(b"word")
        await reader.read(10)
def worker():
    s, work = socket.create_connection(address), queue.Queue()
    def answer():
        while True:
            s.send(work.get())
            s.recv(10)  # of a worker
            work.task_done()
    threading.Thread(target=answer, daemon=True).start()
    for i in range(8):
        work.put(b"word")
    work.join()
asyncio.run(tasks()) if sys.argv[1] == "tasks" else globals()[sys.argv[1]]()
END_OF_ASKS
cat >own.py <<'END_OF_OWN'
import asyncio
async def handle(reader, writer):
    while await reader.read(100):
        await asyncio.sleep(0.25)
        writer.write(b"ok")
    writer.close()
async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    for i in range(8):
        writer.write(b"word")
        await reader.read(10)
    writer.close()
asyncio.run(main())
END_OF_OWN
cat >serves.py <<'END_OF_SERVES'
import asyncio, os, socket, sys
def announce(s):
    open("port", "w").write(str(s.getsockname()[1]))
def plain():
    listening = socket.create_server(("127.0.0.1", 0))
    announce(listening)
    s, _ = listening.accept()
    while s.recv(100):
        s.send(b"ok")
async def tasks():
    done = asyncio.Event()
    async def handle(reader, writer):
        while await reader.read(100):
            writer.write(b"ok")
        writer.close()
        done.set()
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    announce(server.sockets[0])
    await done.wait()
def reads():
    listening = socket.create_server(("127.0.0.1", 0))
    announce(listening)
    s, _ = listening.accept()
    while os.read(s.fileno(), 100):
        os.write(s.fileno(), b"ok")
if sys.argv[1] == "tasks":
    asyncio.run(tasks())
else:
    globals()[sys.argv[1]]()
END_OF_SERVES

first() { # NAME: what FIX FIRST of NAME.pillion says
	report stats --summary "$1.pillion" | sed -n '/^FIX FIRST/p'
}

for how in plain tasks; do
	rm -f port
	"$python" peer.py server 8 &
	eventually test -s port
	pillion -o "asks_$how" --stats=false "$python" asks.py "$how" >out 2>err
	is $? 0 "a client, $how"
	wait
	like "$(first "asks_$how")" '^FIX FIRST .* (recv|recvfrom|epoll_wait)\b.*; saves (at most )?[12]\.[0-9]+' \
		"a client, $how: waits for the answers of a server"
	rm -f port
	"$python" peer.py client 8 &
	pillion -o "serves_$how" --stats=false "$python" serves.py "$how" >out 2>err
	is $? 0 "a server, $how"
	wait
	is "$(first "serves_$how")" '' "a server, $how: that it waits for its client is no finding"
done
rm -f port
"$python" peer.py client 8 &
pillion -o serves_reads --stats=false "$python" serves.py reads >out 2>err
is $? 0 'a server that reads'
wait
is "$(first serves_reads)" '' 'a server that reads what it has accepted: no finding'
like "$(report stats --summary serves_reads.pillion)" '% waits for its clients in read ' \
	'a server that reads: the words'
! has_unwinder || like "$(first asks_plain)" "asks\.py:$(sed -n '/# answer/=' asks.py) plain" 'with its line'
rm -f port
"$python" peer.py server 8 &
eventually test -s port
pillion -o asks_worker --stats=false "$python" asks.py worker >out 2>err
is $? 0 'a thread that does nothing but wait for answers'
wait
like "$(first asks_worker)" '^FIX FIRST .* saves (at most )?[12]\.[0-9]+' 'main waits for it'
! has_unwinder || like "$(report stats --summary asks_worker.pillion | tr -s '\n ' ' ')" \
	"FIX FIRST [^;]*asks\.py:$(sed -n '/# of a worker/=' asks.py) [^;]*; saves " 'with its line'
pillion -o own --stats=false "$python" own.py >out 2>err
is $? 0 'a server that is its only client'
like "$(first own)" '^FIX FIRST .* epoll_wait\b.*; saves (at most )?[12]\.[0-9]+' 'waits for itself'

# Nothing comes from outside where a timer ends the waits.
cat >timed.py <<'END_OF_TIMED'
import asyncio, ctypes, os, select, sys
async def sleeps():
    for i in range(8):
        await asyncio.sleep(0.25)
def descriptors():
    r, w = os.pipe()
    poll = select.poll()
    poll.register(r)
    for i in range(8):
        poll.poll(250)
def selects():
    r, w = os.pipe()
    for i in range(8):
        select.select([r], [], [], 0.25)
def timer():
    libc = ctypes.CDLL(None)
    fd, poll = libc.timerfd_create(1, 0), select.epoll()
    libc.timerfd_settime(fd, 0, (ctypes.c_long * 4)(0, 250000000, 0, 250000000), None)
    poll.register(fd, select.EPOLLIN)
    for i in range(8):
        poll.poll()
        os.read(fd, 8)
asyncio.run(sleeps()) if sys.argv[1] == "sleeps" else globals()[sys.argv[1]]()
END_OF_TIMED
for how in sleeps descriptors selects timer; do
	pillion -o "timed_$how" --stats=false "$python" timed.py "$how" >out 2>err
	is $? 0 "waits for a timer, $how"
	like "$(first "timed_$how")" '^FIX FIRST .* (epoll_wait|poll|select)\b.*' "waits for a timer, $how: a finding"
	unlike "$(report stats --summary "timed_$how.pillion")" 'waits for its input' \
		"waits for a timer, $how: that is not its input"
done

words() {
	for word in 1 2 3 4 5 6; do
		sleep 0.25
		echo $word
	done
}

# But what has input, or workers that have clients, waits for these, though it looks at the time meanwhile.
cat >looks.py <<'END_OF_LOOKS'
import os, select, socket, sys
poll = select.poll()
def reads():
    poll.register(0, select.POLLIN)
    while not poll.poll(100) or os.read(0, 100):
        pass
def workers():
    r, w = os.pipe()
    worker = os.fork()
    if not worker:
        listening = socket.create_server(("127.0.0.1", 0))
        open("port", "w").write(str(listening.getsockname()[1]))
        client, _ = listening.accept()
        while client.recv(100):
            client.send(b"ok")
        os._exit(0)
    poll.register(r)
    while os.waitpid(worker, os.WNOHANG) == (0, 0):
        poll.poll(500)
globals()[sys.argv[1]]()
END_OF_LOOKS
words | pillion -o looks_reads --stats=false "$python" looks.py reads >out 2>err
is $? 0 'looks for its input'
is "$(first looks_reads)" '' 'looks for its input: no finding'
rm -f port
"$python" peer.py client 8 &
pillion -o looks_workers --stats=false "$python" looks.py workers >out 2>err
is $? 0 'looks for its workers'
wait
is "$(first looks_workers)" '' 'looks for its workers, which wait for their clients: no finding'
like "$(report stats --summary looks_workers.pillion | tr -s '\n ' ' ')" '% waits for its clients in poll ' 'the words'

# A wait for no descriptor is a sleep, also of what listens.
cat >paces.py <<'END_OF_PACES'
import select, socket, sys
listening = socket.create_server(("127.0.0.1", 0))
for i in range(20):
    select.select([], [], [], 0.1) if sys.argv[1] == "select" else select.poll().poll(100)
END_OF_PACES
for way in select poll; do
	pillion -o "paces_$way" --stats=false "$python" paces.py $way >out 2>err
	like "$(first "paces_$way")" " in $way \(20 calls\): paces\.py:4 " "sleeps by $way() beside a socket"
done

words | pillion -o awk --stats=false awk '{ n += $1 } END { print n }' >out 2>err
is "$(cat out) $(first awk)" '21 ' 'a filter that waits for its input'
words | pillion -o lines --stats=false "$python" -c 'import sys
print(sum(int(line) for line in sys.stdin))' >out 2>err
is "$(cat out) $(first lines)" '21 ' 'a filter of Python'
if command -v script >/dev/null && script -V 2>/dev/null | grep -q util-linux; then
	words | script -qc "'$PILLION' -o typed --stats=false '$python' -c 'input(); input(); input()'" /dev/null >out
	is "$(first typed)" '' 'a program that waits for its user at a terminal'
	like "$(report stats -q -r osrt_sum -f csv typed.pillion)" '(fgets|read)' 'which it did'
else
	skip 'a program that waits for its user at a terminal' 'no script of util-linux'
fi
done_testing
