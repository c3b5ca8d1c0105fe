#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files of a capture may be damaged, truncated or malicious: every verb names the file, reads the rest, and ends.
set -u
. "$(dirname "$0")/lib.sh"

writer=$PILLION_BUILD_DIR/tests/trace-writer
escape=$(printf '\033')
"$writer" example good.pillion

# every_verb CAPTURE: no verb is killed or exceeds the time limit. The messages are in err.
every_verb() {
	: >err
	for arguments in 'stats -f csv' 'stats --summary' 'info' 'analyze -f json' 'export -t chrome -o -' \
		'export -t folded -o -' 'export -t speedscope -o -' \
		'export -f true -t sqlite -o out.sqlite' 'export -f true -t html -o out.html' \
			'export -f true -t pprof -o out.pprof' \
		'pack -f true -o out.pillpack'; do
		# shellcheck disable=SC2086
		report $arguments "$1" >out 2>>err
		verb_status=$?
		[ "$verb_status" -le 2 ] || { echo "$arguments $1: status $verb_status"; return 1; }
	done
}

# ---- file names with control sequences ----
cp -r good.pillion names.pillion
printf 'junk' >names.pillion/"a${escape}[31m$(printf '\r\377\342\200\256').trace"
printf 'junk' >names.pillion/"$(printf 'b\n\033]0;title\007')"
ok 'file names with control sequences' every_verb names.pillion
unlike "$(cat -v err)" '\^\[|\^M|\^G|M-b' 'control sequences are not printed'
like "$(cat err)" 'a\\x1b\[31m\\x0d' 'control sequences are escaped'
report stats "$(printf 'no\033[31m')" 2>err
unlike "$(cat -v err)" '\^\[' 'control sequences in the name of a missing capture are escaped'

# ---- other than regular files ----
for name in capture x.trace x.index x.range x.usage x.energy; do
	cp -r good.pillion odd.pillion && rm -f "odd.pillion/$name" && mkfifo "odd.pillion/$name"
	ok "a FIFO called $name" every_verb odd.pillion
	report stats -q -r osrt_sum -f csv odd.pillion >out 2>err
	is $? 1 "a FIFO called $name: status 1"
	ok "a FIFO called $name: the rest is read" test "$(wc -l <out)" -gt 2
	rm -rf odd.pillion
done

# ---- later versions, empty files ----
cp -r good.pillion later.pillion
sed -i 's/^format=.*/format=7/' later.pillion/capture
like "$(report stats later.pillion 2>&1)" 'capture format 7, this program reads 1' 'a later format'
report info later.pillion >out 2>&1
is $? 2 'a later format: status 2'
cp -r good.pillion empty.pillion
for file in empty.pillion/*.trace; do : >"$file"; done
ok 'empty files' every_verb empty.pillion
report stats -q -r processes empty.pillion >out 2>err
is $? 1 'empty files: status 1'
like "$(cat err)" 'trace: empty file' 'empty files are named'

# ---- truncated files and flipped bytes ----
trace=$(basename "$(ls good.pillion/*.trace | head -n 1)")
size=$(stat -c %s "good.pillion/$trace")
cut_everywhere() {
	for i in $(seq 0 15); do
		rm -rf cut.pillion && cp -r good.pillion cut.pillion
		truncate -s $((size * i / 16 + i)) "cut.pillion/$trace"
		every_verb cut.pillion || return 1
	done
}
ok 'a trace truncated at any place' cut_everywhere
flipped() {
	for i in $(seq 1 16); do
		rm -rf flip.pillion && cp -r good.pillion flip.pillion
		for k in 0 1 2 3 4 5 6 7; do
			# Reproducible places, spread over the file.
			at=$(((i * 7919 + k * 104729) * 31 % size))
			# shellcheck disable=SC2059
			printf "\\x$(printf %02x $(((i * 37 + k * 11) % 256)))" |
				dd of="flip.pillion/$trace" bs=1 seek="$at" conv=notrunc status=none
		done
		every_verb flip.pillion || return 1
	done
}
ok 'a trace with flipped bytes' flipped

# ---- output that cannot be written ----
for arguments in 'stats -q -r processes good.pillion' 'stats --summary good.pillion' 'info -q good.pillion' \
	'analyze -q good.pillion' \
	'stats --help' '--version'; do
	# shellcheck disable=SC2086
	report $arguments >/dev/full 2>err
	is "$? $(sed 's/^[^:]*: //' err)" '2 standard output: No space left on device' "$arguments: a full disk"
done

# ---- packed: the same with a packed file, whose layout differs ----
if report pack -q -o good.pillpack good.pillion 2>err; then
	size=$(stat -c %s good.pillpack)
	packed() { # CUT or FLIP, at each of 24 places
		for i in $(seq 0 23); do
			at=$((size * i / 24 + i))
			cp good.pillpack bad.pillpack
			if [ "$1" = cut ]; then
				truncate -s "$at" bad.pillpack
			else
				# shellcheck disable=SC2059
				printf "\\x$(printf %02x $(((i * 37 + 11) % 256)))" |
					dd of=bad.pillpack bs=1 seek="$at" conv=notrunc status=none
			fi
			every_verb bad.pillpack || return 1
			rm -rf back
			report unpack -q -o back bad.pillpack >out 2>>err
			[ $? -le 2 ] || { echo "unpack, $1 at $at"; return 1; }
		done
	}
	ok 'a packed file truncated at any place' packed cut
	ok 'a packed file with flipped bytes' packed flip
	: >empty.pillpack
	ok 'an empty packed file' every_verb empty.pillpack
	report stats empty.pillpack >out 2>err
	is "$? $(grep -c 'empty.pillpack' err)" '2 1' 'an empty packed file: status 2, and it is named'
	"$writer" hostile hostile.pillion
	report pack -q -f true -o hostile.pillpack hostile.pillion
	ok 'hostile names, packed' every_verb hostile.pillpack
else
	skip 'packed files' 'built without zstd'
fi

# ---- names given by the program: every report in every format, every export ----
pillion -o words sh -c 'sleep 0.01' "$(printf 'a\033[31mb\r\342\200\256c\377d')" >out 2>err
# plain VERB...: the output has no control characters, no characters that change the writing direction, only UTF-8. csv
# keeps line ends within quotes.
plain() {
	report "$@" words.pillion >out 2>err
	! case $* in *csv) LC_ALL=C grep -v "$(printf '\r')" out ;; *) cat out ;; esac |
		LC_ALL=C grep -nE "$escape|$(printf '\r|\342\200\256|\377')" || return 1
	iconv -f UTF-8 -t UTF-8 out >/dev/null && [ -s out ]
}
for format in column table csv tsv json markdown html; do
	ok "a command with control sequences, in $format" plain stats -r processes -f "$format"
done
for type in chrome folded speedscope html; do
	report export --help | grep -q "^  $type .*this build has no" ||
		ok "a command with control sequences, in $type" plain export -q -t "$type" -o -
done
done_testing
