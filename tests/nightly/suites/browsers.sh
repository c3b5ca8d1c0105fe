# SPDX-License-Identifier: Apache-2.0
# Chromium and Firefox without a display, in their sandboxes: what pages compute, pictures, PDF.
# shellcheck shell=bash disable=SC2034,SC2154
subset='chromium: a page with workers and WebAssembly, chrome://sandbox, picture, PDF, one process; firefox: picture'
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

values() { # NAME: of page.html, in the order of their names
	grep -E '^(canvas|wasm|worker[0-9]|fetch) ' output | sort | sed "s/^\([^ ]*\) /== chromium, $1: \1	/"
}

run() {
	local page=file://$SOURCE/page.html
	browse 'page' --virtual-time-budget=20000 --dump-dom "$page"
	values 'page'
	browse 'one process' --no-sandbox --single-process --virtual-time-budget=20000 --dump-dom "$page"
	browse 'no zygote' --no-zygote --no-sandbox --virtual-time-budget=20000 --dump-dom "$page"
	values 'no zygote'
	browse 'its sandbox' --virtual-time-budget=20000 --dump-dom chrome://sandbox
	sed -E 's/<[^>]*>/ /g; s/ +/ /g' output | grep -E '^ ?(Layer|PID|Network|Seccomp|Ptrace|Yama|You are)' |
		sed -E 's/^ *(.*[^ ]) ([^ ]+) *$/== chromium, its sandbox: \1	\2/'
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
