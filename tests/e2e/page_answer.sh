#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the page of export -t html opens with, in headless Chromium: what to fix first with its source, roles, the
# critical path, what is folded; each leads into the other views.
set -u
. "$(dirname "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

report export --help | grep -q '^  html .*this build has no' && skip_all 'this build has no zlib'
node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null || skip_all 'no Node 18'
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip_all 'no Chromium'

if fetch_axe; then
	export AXE="$modules/node_modules/axe-core/axe.min.js"
else
	skip 'axe' 'npm cannot fetch axe-core'
fi

# The shell starts true three times: these are processes of start-up. Both threads sleep with the lock held.
cat >job.py <<'END2'
import threading
import time

lock = threading.Lock()


def warm(n):
    return sum(k * k for k in range(n))


def hold():
    with lock:
        time.sleep(1.5)  # <b>the line to fix</b>


def main():
    threads = [threading.Thread(target=hold) for _ in range(2)]
    for t in threads:
        t.start()
    warm(3000000)
    for t in threads:
        t.join()


main()
END2
pillion -o job -s cpu --sampling-frequency=500 bash -c 'env true; env true; env true; exec python3 job.py' >out 2>err
is "$? $(cat out)" '0 ' 'a job whose threads wait for a lock'
report stats --summary --json job.pillion >summary.json 2>err
report stats -q --keep-sources -r processes job.pillion >out 2>err # as the end of a run does
report stats -q -r processes -f json job.pillion >processes.json 2>err
report critical -q -f json job.pillion >critical.json 2>err
report export -q -t html job.pillion 2>err
is "$? $(cat err)" '0 ' 'exported'
pillion -s cpu -o levers python3 "$tests_dir/../targets/python/levers.py" copies 1.2 >out 2>err
report stats --summary --json levers.pillion >levers.json 2>err
report export -q -t html levers.pillion 2>err
is "$? $(cat err)" '0 ' 'a program that computes below several functions'
adopt node "$tests_dir/page_answer.mjs" "$chromium" "$PWD"
like "$(tail -n 1 seen)" 'no request' 'driven to the end'

# ---- sources that are not what the run executed are not in the page ----

echo '# changed' >>job.py
report export -q -t html -o changed.html job.pillion 2>err
node -e '
const text = require("fs").readFileSync("changed.html", "utf8"), [, packed] = /id="model"[^>]*>([^<]*)</.exec(text);
const model = JSON.parse(require("zlib").inflateRawSync(Buffer.from(packed, "base64")));
console.log(model.sources.length);' >out 2>err
is "$(cat out err)" 0 'the text of a file that was changed is not in the page'
done_testing
