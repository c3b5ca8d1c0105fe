#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pack --redact: no name that was planted is in the packed file, and reports have the same counts and times.
set -u
. "$(dirname "$0")/lib.sh"

"$PILLION_BUILD_DIR/tests/trace-writer" example probe.pillion
report pack -q probe.pillion 2>err || { grep -q 'no zstd' err && skip_all 'built without zstd'; }

planted='planthostname homeofalice hunter2 secretscript dossier9.dat threadmal envplanted planted-argument'
home=$work/homeofalice
mkdir "$home"
cat >"$home/secretscript.py" <<'PYTHON'
import ctypes, os, socket, subprocess, sys, threading
def work():
    ctypes.CDLL(None).prctl(15, b"threadmal", 0, 0, 0)
    for i in range(20):
        open(os.path.dirname(__file__) + "/dossier9.dat", "w").close()
thread = threading.Thread(target=work)
thread.start()
thread.join()
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
server.accept()
subprocess.run(["sh", "-c", "cat <" + __file__ + " >/dev/null", "planted-argument"])
child = os.fork()
if not child:
    open(os.path.dirname(__file__) + "/dossier9.dat").close()
    os._exit(0)
os.waitpid(child, 0)
PYTHON
PILLION_NOTE=envplanted pillion -o run --osrt-threshold=0 python3 "$home/secretscript.py" --password=hunter2 \
	>out 2>err
is $? 0 'the program is recorded'

# On a busy machine the launcher may have looked at a quiet process: a picture of memory is omitted, see below.
rm -f run.pillion/*.where

# The host is the one before the boot id; names of files and lines of the index have it, too.
cat >plant_host.py <<'PYTHON'
import glob, os, re
for path in glob.glob("run.pillion/*"):
    data = bytearray(open(path, "rb").read())
    name = os.path.basename(path)
    if name.endswith((".trace", ".range")):
        boot = re.search(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", data)
        if boot:
            data[boot.start() - 64 : boot.start()] = b"planthostname".ljust(64, b"\0")
    elif name.endswith(".index"):
        data = re.sub(rb"\thost=[^\t\n]*", b"\thost=planthostname", bytes(data))
    parts = 3 if name.endswith(".trace") else 2
    if not name.startswith(("capture", "names.")):
        name = ".".join(["planthostname"] + name.split(".")[-parts:])
    os.remove(path)
    open("run.pillion/" + name, "wb").write(data)
PYTHON
python3 plant_host.py

# found DIRECTORY NAME...: the names that its files have, as they are or cut into slots of 7 bytes, or in their names.
cat >found.py <<'PYTHON'
import os, sys
texts = []
for name in os.listdir(sys.argv[1]):
    data = open(os.path.join(sys.argv[1], name), "rb").read()
    slots = bytearray(data + bytes(-len(data) % 8))
    del slots[::8]
    texts += [name.encode(), data, bytes(slots)]
print(*[name for name in sys.argv[2:] if any(name.encode() in text for text in texts)])
PYTHON
found() {
	# shellcheck disable=SC2086 # a list
	python3 found.py "$1" $planted
}

# packed NAME OPTION...: packs it and unpacks the file to NAME.
packed() {
	name=$1
	shift
	# A program that was quiet for half a second has one, which is left out (below).
	rm -f run.pillion/*.where
	report pack -q -f true -o "$name.pillpack" "$@" run.pillion 2>err || return
	rm -rf "$name"
	report unpack -q -o "$name" "$name.pillpack"
}

ok 'packed as it is' packed plain --keep-symbols
is "$(found plain)" "$planted" 'without --redact the names are there'
ok 'packed with --redact' packed redacted --redact
is "$(found redacted)" '' 'with --redact none of them is'
is "$(find redacted | wc -l)" "$(find plain | wc -l)" 'no file is lost'
is "$(stat -c %s redacted/* | sort)" "$(stat -c %s plain/* | sort)" 'the files have their sizes'

# numbers REPORT COLUMNS: of both files. Modules whose names were replaced are not there, which the ledger says.
numbers() {
	for name in plain redacted; do
		report stats -q -r "$1" -f csv "$name.pillpack" | grep -v "module missing" |
			cut -d, -f"$2" | sort >"$name.numbers"
	done
	[ "$(wc -l <plain.numbers)" -gt 3 ] && cmp plain.numbers redacted.numbers
}
ok 'osrt_sum is the same' numbers osrt_sum 1-
ok 'processes: the same ones, times and ends' numbers processes 1,2,5-7
ok 'ledger: the same counts' numbers ledger 1,3,4
ok 'lines: the same counts and times' numbers lines 1-20
like "$(report stats -q -r processes -f csv redacted.pillpack)" 'python3 .*\.py' 'a script of Python is still one'
like "$(report stats -q -r sockets -f csv redacted.pillpack)" 'tcp [0-9.:]+ \(listening\)' 'a server is still one'
ok 'stats' report stats redacted.pillpack
ok 'info' report info redacted.pillpack
ok 'the summary' report stats --summary redacted.pillpack

# ---- sums of calls and lines instead of events ----
cat >"$home/dossier.py" <<'PYTHON'
import os
def work():
    for i in range(50):
        os.stat(__file__)
work()
PYTHON
rm -rf run.events && mv run.pillion run.events
ok 'sums are recorded' pillion --stats=false -o run --mode=profile --osrt-threshold=0 python3 "$home/dossier.py"
ok 'sums: packed as they are' packed plain --keep-symbols
ok 'sums: packed with --redact' packed redacted --redact
is "$(found redacted)" '' 'sums: none of the names is in it'
ok 'sums: osrt_sum is the same' numbers osrt_sum 1-
ok 'sums: files have the same calls and times' numbers files 1-5

all_pythons python3
python=${pythons[-1]}
if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
	rm -rf run.pillion
	ok 'hits of lines are recorded' pillion -o run --lines-of=work "$python" "$home/dossier.py"
	ok 'lines: packed as they are' packed plain --keep-symbols
	ok 'lines: packed with --redact' packed redacted --redact
	is "$(found redacted)" '' 'lines: none of the names is in it'
	hits() { report stats -q -r line_profile -f csv "$1.pillpack" | awk -F, 'NR > 1 { print $3, $4 }'; }
	like "$(hits redacted | tr '\n' ' ')" ' 50 ' 'lines: hits are there'
	is "$(hits redacted)" "$(hits plain)" 'lines: they are the same'
else
	skip 'hits of lines' 'no CPython 3.12 or newer'
fi
rm -rf run.pillion && mv run.events run.pillion

rm -rf run.before && cp -r run.pillion run.before
report pack --redact --replace run.pillion >out 2>err
is $? 2 '--replace, which would lose the names, is refused'
ok 'the capture is as it was' diff -r run.pillion run.before

# ---- what is not read ----
cat >tear.py <<'PYTHON'
import glob
torn = 0
for path in glob.glob("run.pillion/*.trace"):
    data = bytearray(open(path, "rb").read())
    slots = bytearray(data)
    del slots[::8]
    at = slots.find(b"dossier9")
    if at < 0:
        continue
    word = at // 7
    while data[word * 8] & 31 != 9:
        word -= 1
    data[word * 8 : word * 8 + 8] = bytes(8)
    torn += 1
    open(path, "wb").write(data + b"hunter2 dossier9.dat")
print(torn > 0)
PYTHON
is "$(python3 tear.py)" True 'a blob loses its head, and a trace has bytes after its end'
printf 'process\thost\tplanthostname\thunter2' >>"$(ls run.pillion/*.index)"
ok 'the torn capture is packed' packed torn --redact
is "$(found torn)" '' 'nothing of it is left'

echo hunter2 >run.pillion/planthostname.0.where
echo hunter2 >run.pillion/notes.txt
report pack -q -f true --redact -o left.pillpack run.pillion 2>err
is $? 1 'memory and unknown files are left out: status 1'
is "$(grep -c 'cannot be redacted, omitted' err)" 2 'each of them is said'
rm run.pillion/planthostname.0.where run.pillion/notes.txt

# ---- damage ----
cat >damage.py <<'PYTHON'
import glob, random, shutil, sys
random.seed(int(sys.argv[1]))
shutil.rmtree("damaged.pillion", ignore_errors=True)
shutil.copytree(sys.argv[2], "damaged.pillion")
for path in glob.glob("damaged.pillion/*"):
    data = bytearray(open(path, "rb").read())
    for i in range(len(data) and 40):
        data[random.randrange(random.choice([len(data), min(len(data), 400)]))] = random.randrange(256)
    for i in range(len(data) and 10):
        at = random.randrange(len(data)) // 8 * 8
        data[at : at + 8] = data[at : at + 8] and bytes([random.choice([9, 0x29, 0x49]), 3]) + random.randbytes(6)
    open(path, "wb").write(data[: random.choice([len(data), random.randrange(len(data) + 1)])])
PYTHON
damage() {
	local seed capture status
	for seed in 1 2 3 4 5 6; do
		for capture in run.pillion probe.pillion; do
			python3 damage.py "$seed" "$capture"
			report pack -q -f true --redact -o damaged.pillpack damaged.pillion >out 2>err
			status=$?
			[ "$status" -le 1 ] || { echo "seed $seed of $capture"; cat err; return 1; }
		done
	done
}
ok 'damaged captures are packed' damage
done_testing
