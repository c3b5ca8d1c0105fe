#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Completion of the command line by bash, zsh and fish, from the files that are installed.
. "$(dirname -- "$0")/lib.sh"

made=$PILLION_BUILD_DIR/scripts
mkdir run.pillion && touch packed.pillpack other.txt

# ---- bash: the function of `complete -F`, with the words as bash splits them ----

bash_complete() { # WORD...: the last one is incomplete
	bash --norc -c '
		. "$1"; shift
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		_pillion pillion
		printf "%s\n" "${COMPREPLY[@]}"' bash "$made/pillion" "$@" 2>err | LC_ALL=C sort | tr '\n' ' '
	cat err
}
ok 'bash: complete -F is set' bash --norc -c '. "$1"; complete -p pillion | grep -q "_pillion"' bash \
	"$made/pillion"
like "$(bash_complete pillion st)" '(^| )stats ' 'bash: verbs'
is "$(bash_complete pillion doct)" 'doctor ' 'bash: a verb'
is "$(bash_complete pillion stats --form)" '--format ' 'bash: an option of a verb'
is "$(bash_complete pillion stats --format = m)" 'markdown ' 'bash: the words of --NAME=, split at ='
is "$(bash_complete pillion stats --format=m)" '--format=markdown ' 'bash: likewise, not split'
is "$(bash_complete pillion stats -f c)" 'column csv ' 'bash: the words of a letter'
is "$(bash_complete pillion stats -r osrt_sum,um_t)" 'osrt_sum,um_total_sum ' 'bash: reports, separated by commas'
is "$(bash_complete pillion analyze -r gpu_time)" 'gpu_time_util ' 'bash: rules'
is "$(bash_complete pillion info '')" 'packed.pillpack run.pillion ' 'bash: captures'
is "$(bash_complete pillion skill '')" ' ' 'bash: no captures where a verb takes none'
is "$(bash_complete pillion -t cuda,nvt)" 'cuda,nvtx ' 'bash: an option of a run'
is "$(bash_complete pillion profile --cudab)" '--cudabacktrace ' 'bash: likewise after profile'
is "$(bash_complete pillion -o x cat oth)" 'other.txt ' 'bash: operands of the command'
for verb in $("$PILLION_BUILD_DIR/report/pillion-report" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'); do
	like "$(bash_complete pillion "$verb" --)" '(^| )--help ' "bash: $verb has options"
done

# ---- zsh: keys on a terminal ----

if command -v zsh >/dev/null; then
	mkdir functions && cp "$made/_pillion" functions/_pillion
	cat >type.py <<-'END'
		import os, pty, select, sys, time
		pid, fd = pty.fork()
		if not pid:
		    os.environ.update(TERM="dumb", PS1="", ZDOTDIR=os.getcwd())
		    os.execvp("zsh", ["zsh", "-f", "-i"])
		def read_until(wanted, text=b""):
		    end = time.time() + float(os.environ.get("PATIENCE", 60))
		    while wanted not in text and time.time() < end:
		        if select.select([fd], [], [], 1)[0]:
		            text += os.read(fd, 4096)
		    return text
		os.write(fd, b"PS1=''; stty -echo; fpath=($PWD/functions $fpath); autoload -U compinit; "
		             b"compinit -u -D; unsetopt beep; bindkey '^I' complete-word; echo rea''dy\n")
		read_until(b"ready\r\n")
		for line in sys.argv[1:]:
		    typed, wanted = line.split("|")
		    os.write(fd, typed.encode() + b"\t")
		    text = read_until(wanted.encode())
		    print("ok" if wanted.encode() in text else "not ok", "-", "zsh:", typed, "->", wanted)
		    os.write(fd, b"\x15\n")
		os.write(fd, b"exit\n")
	END
	PATIENCE=$((patience / 4)) adopt python3 type.py 'pillion doct|doctor' 'pillion stats --form|--format=' \
		'pillion stats --format=mark|markdown' 'pillion stats -f mark|markdown' \
		'pillion stats -r osrt_sum,um_t|osrt_sum,um_total_sum' 'pillion info run|run.pillion' \
		'pillion info pack|packed.pillpack' 'pillion -t cuda,nvt|cuda,nvtx' \
		'pillion profile --cudabacktrace=kern|kernel' \
		'pillion -o x cat oth|other.txt'
else
	skip 'zsh' 'no zsh'
fi

# ---- fish ----

if command -v fish >/dev/null; then
	fish_complete() { # LINE
		HOME=$work fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$made/pillion.fish" "$1" 2>&1 |
			cut -f1 | tr '\n' ' '
	}
	like "$(fish_complete 'pillion doct')" '(^| )doctor ' 'fish: a verb'
	is "$(fish_complete 'pillion stats --form')" '--format ' 'fish: an option of a verb'
	is "$(fish_complete 'pillion stats --format=m')" '--format=markdown ' 'fish: the words of --NAME='
	is "$(fish_complete 'pillion stats -r osrt_sum,um_t')" 'osrt_sum,um_total_sum ' \
		'fish: reports, separated by commas'
	like "$(fish_complete 'pillion info run')" '(^| )run.pillion/? ' 'fish: captures'
	like "$(fish_complete 'pillion info pack')" '(^| )packed.pillpack ' 'fish: packed captures'
	is "$(fish_complete 'pillion -t cuda,nvt')" 'cuda,nvtx ' 'fish: an option of a run'
else
	skip 'fish' 'no fish'
fi
done_testing
