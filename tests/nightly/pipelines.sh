# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2216
# Shell features: pipes, substitutions, background jobs, traps, coprocesses, signals between processes.
seq 200000 | sort -rn | awk '{ n += $1 } END { print n }'
seq 50000 | gzip -c | gunzip | md5sum
false | true | sh -c 'exit 7'
echo "${PIPESTATUS[*]}"
diff <(seq 10) <(seq 2 11) | grep -c '^[<>]'
for i in 1 2 3 4 5 6 7 8; do (sleep 0.0$i; exit "$i") & done
n=0
while true; do
	wait -n
	status=$?
	[ $status -ne 127 ] || break
	n=$((n + status))
done
echo "sum $n"
trap 'echo caught' USR1
(kill -USR1 $$)
{ sh -c 'kill -KILL $$'; } 2>/dev/null
echo "killed $?"
yes | head -n 1000 | wc -l
coproc cat
echo "through a coprocess" >&"${COPROC[1]}"
# shellcheck disable=SC1083,SC2093
exec {COPROC[1]}>&-
cat <&"${COPROC[0]}"
wait
cat <<<"$(printf '%s\n' {1..20} | xargs -P 4 -n 1 sh -c 'echo $(($0 * $0))' | sort -n | tail -n 1)"
find . -maxdepth 0 -exec sh -c 'echo "$1"' _ {} \;
timeout 0.1 sleep 5
echo "timeout $?"
exec 3<>file 4>&1
echo text >&3
cat file >&4
dd if=/dev/zero bs=64k count=16 2>/dev/null | tee copy | cat >other
cmp copy other && echo same
