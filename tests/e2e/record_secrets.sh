#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What of the environment is in a capture: no variable that is named like a secret, whatever it begins with, and of the
# others only those that identify ranks and settings.
. "$(dirname -- "$0")/lib.sh"

export HF_TOKEN=planted-1 CLIENT_SECRET=planted-2 AWS_ACCESS_KEY_ID=planted-3 PGPASSWORD=planted-4 \
	PILLION_API_TOKEN=planted-5 PILLION_SECRET=planted-6 PILLION_SIGNING_KEY=planted-7 PILLION_PASSWORD=planted-8 \
	SLURM_JWT=planted-9 HARMLESS=planted-0
# A long process with a trace of its own, short ones that share a file, and one of another program.
cat >job.py <<'END'
import os, subprocess, time
for i in range(3):
    subprocess.run(["true"])
if os.fork() == 0:
    time.sleep(0.3)
    os._exit(0)
os.wait()
print(os.environ["PILLION_API_TOKEN"], os.environ["HF_TOKEN"])
END
# planted CAPTURE: which of the values are in any of its files, also as the packed bytes of slots
planted() {
	python3 - "$1" <<-'END'
		import os, re, sys
		found = set()
		for name in os.listdir(sys.argv[1]):
		    data = open(os.path.join(sys.argv[1], name), "rb").read()
		    slots = b"".join(data[i + 1:i + 8] for i in range(0, len(data), 8))
		    found |= set(re.findall(rb"planted-\d", data)) | set(re.findall(rb"planted-\d", slots))
		print(*sorted(word.decode() for word in found))
	END
}
command -v python3 >/dev/null || skip_all 'no python3'
PILLION_OSRT_THRESHOLD=500 pillion -o run python3 job.py >out 2>err
is "$? $(cat out)" '0 planted-5 planted-1' 'the program has its variables'
is "$(planted run.pillion)" '' 'none of them is in the capture'
like "$(cat run.pillion/*.index; strings -a run.pillion/*.trace)" 'PILLION_OSRT_THRESHOLD=500' 'settings are'
PILLION_STATS=summary PILLION_HANG=1 pillion -o second --env-var=MY_TOKEN=planted-1 python3 -c \
	'import time; time.sleep(3)' 2>err
is "$(planted second.pillion)" '' 'nor with --env-var, a summary and a look into the process'
ok 'which was taken' test -s "$(echo second.pillion/*.where)"
pillion -o busy -d 1 python3 -c 'while True: pass' 2>err
is "$(planted busy.pillion)" '' 'nor with a look into a process that runs'
pillion -o quiet --hang=0 python3 -c 'import time; time.sleep(2)' 2>err
is "$(find quiet.pillion -name '*.where' -size +0)" '' '--hang=0: nobody looks, and no stack is stored'
mkdir third.pillion && chmod 700 third.pillion
LD_PRELOAD=$library PILLION_OUTPUT=$work/third.pillion python3 job.py >out 2>err
is "$(planted third.pillion)" '' 'nor without the launcher'
RANK=planted-1 pillion -o rank true 2>err
is "$(planted rank.pillion)" planted-1 'the number of a rank is, whatever it is'
done_testing
