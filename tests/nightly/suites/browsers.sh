# SPDX-License-Identifier: Apache-2.0
# Chromium and Firefox without a display, in their sandboxes: what pages compute, pictures, PDF.
# shellcheck shell=bash disable=SC2034,SC2154
subset='chromium: a page with workers, seccomp and namespaces, picture, PDF, one process; firefox: picture'
packages='chromium firefox-esr file'
user=nobody

obtain() {
	cp "$here/page.html" .
}

build() {
	:
}

browse() { # NAME ARGUMENT...
	local name=$1 status
	shift
	timeout 120 chromium --headless --disable-gpu --no-first-run --user-data-dir="$PWD/profile" "$@" >output
	status=$?
	echo "== chromium, $name: status	$status"
}

# Whether the processes that run pages and those that draw are confined: a filter of system calls, and the depth of
# their PID namespaces.
confined() { # URL
	local type pid i
	mkfifo commands answers
	chromium --headless --disable-gpu --no-first-run --user-data-dir="$PWD/profile" --remote-debugging-pipe "$1" \
		3<>commands 4<>answers &
	for type in renderer utility; do
		for ((i = 0; i < 300; i++)); do
			pid=$(pgrep -n -s 0 -f -- "--type=$type")
			[ -n "$pid" ] && grep -q '^Seccomp:.*2' "/proc/$pid/status" && break
			sleep 0.1
		done
		echo "== chromium, $type: confined	$(sed -nE 's/^Seccomp:[^0-9]*//p' "/proc/$pid/status")" \
			"$(grep '^NSpid:' "/proc/$pid/status" | wc -w)"
	done
	kill %1
	wait %1
}

values() { # NAME: of page.html, in the order of their names
	sed 's/^<pre[^>]*>//' output | grep -E '^(canvas|wasm|worker[0-9]|fetch) ' | sort |
		sed "s/^\([^ ]*\) /== chromium, $1: \1	/"
}

run() {
	local page=file://$SOURCE/page.html
	browse 'page' --virtual-time-budget=200000 --dump-dom "$page"
	values 'page'
	browse 'one process' --no-sandbox --single-process --virtual-time-budget=200000 --dump-dom "$page"
	browse 'no zygote' --no-zygote --no-sandbox --virtual-time-budget=200000 --dump-dom "$page"
	values 'no zygote'
	confined "$page"
	browse 'picture' --screenshot="$PWD/picture.png" --window-size=400,300 "$page"
	echo "== chromium, picture: kind	$(file -b picture.png)"
	browse 'PDF' --no-pdf-header-footer --print-to-pdf="$PWD/page.pdf" "$page"
	echo "== chromium, PDF: kind	$(file -b page.pdf)"
	timeout 120 firefox-esr --headless --no-remote --profile "$PWD" --screenshot "$PWD/firefox.png" \
		--window-size=400,300 "$page" 2>&1
	echo "== firefox, picture: status	$?"
	echo "== firefox, picture: kind	$(file -b firefox.png)"
}

outcomes() { # LOG
	sed -n 's/^== //p' "$1"
}
