#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Another user of the machine cannot read a capture or a spool, nor ask or steer a live run, and files that it has made
# first where ours would be are not used. Needs root, to be two other users.
. "$(dirname -- "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'needs root, to be two other users'
command -v setpriv >/dev/null || skip_all 'no setpriv'

owner=65531 other=65532
as() { # UID COMMAND...
	local uid=$1
	shift
	timeout "$patience" setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$@"
}
as "$owner" test -x "$PILLION_BUILD_DIR/report/pillion-report" -a -r "$PILLION_BUILD_DIR/preload/libpillion.so" ||
	skip_all 'the build is in a directory that other users may not enter'
chmod 711 "$work"
mkdir ours theirs tmp
chown $owner ours && chown $other theirs && chmod 1777 tmp
export TMPDIR=$work/tmp PILLION_ENERGY=false
umask 000
open_to_others() { # DIRECTORY...: what is in it that others could read or write
	find "$@" ! -type l -perm /077 2>/dev/null
}

# ---- a live run ----

cd ours || exit 99
as $owner "$PILLION" --stats=false -o live --spool="$work/tmp" sleep 600 >../out 2>../err &
launcher=$!
eventually test -d live.pillion
eventually sh -c "ls live.pillion/*.index >/dev/null 2>&1"
job() {
	pgrep -u $owner -x sleep | head -n 1
}
eventually sh -c "pgrep -u $owner -x sleep >/dev/null"
ok 'the run writes into a spool' test -n "$(find "$work/tmp" -name '*.trace' -o -name '*.index' -o -name '*.range')"
is "$(open_to_others live.pillion "$work"/tmp/pillion*)" '' 'with umask 0, nobody else can read capture and spool'
not_ok 'another user cannot list it' as $other ls live.pillion
for file in live.pillion/*; do
	as $other cat "$file" >/dev/null 2>&1 && fail "another user reads $file"
done
cd ../theirs || exit 99
for verb in 'stats' 'info' 'where' 'stop' 'start' 'cancel' 'dump -o taken' 'top --once'; do
	# shellcheck disable=SC2086
	not_ok "another user: pillion $verb of the capture fails" as $other "$PILLION" $verb ../ours/live.pillion
	# shellcheck disable=SC2086
	case $verb in
	where | stop | start | cancel | dump*)
		not_ok "another user: pillion $verb of its process fails" as $other "$PILLION" $verb "$(job)"
		;;
	esac
done
unlike "$(as $other "$PILLION" status 2>&1; as $other "$PILLION" captures 2>&1; echo end)" 'live\.pillion' \
	'another user does not see the run'
is "$(find . -name '*.pillion')" '' 'and got nothing of it'
kill -TERM "$(job)"
wait "$launcher"
cd ../ours || exit 99
is "$(open_to_others live.pillion "$work/tmp")" "$work/tmp" 'nor after its end'

# ---- what is written later ----

as $owner "$PILLION" pack -q live.pillion
as $owner "$PILLION" stats -q -r processes -f csv -o table.csv live.pillion
as $owner "$PILLION" export -q -t chrome -o run.json live.pillion
as $owner "$PILLION" export -q -t sqlite -o run.sqlite live.pillion
as $owner "$PILLION" view -q --no-open -o run.html live.pillion
is "$(find . -maxdepth 1 -type f | wc -l)" 5 'a packed capture, a table, two exports and a page'
is "$(open_to_others . | grep -v '^\.$')" '' 'are for their owner alone'

# ---- every file that is made ----

# open_to_others_of COMMAND...: paths that it and its children make with rights for others, as strace sees the calls
# with umask 0: a file that another user could open before its rights are changed. One that was made right may be opened
# anew.
open_to_others_of() {
	(cd "$work/ours" && as $owner strace -f -qq -e signal=none -o "$work/tmp/calls" \
		-e trace=open,openat,creat,mkdir,mkdirat,mknod,mknodat "$@" >/dev/null 2>&1 </dev/null)
	awk -F '"' '/ = -1 / { next }
		/O_CREAT|O_TMPFILE|creat\(|mkdir|mknod/ {
			mode = $0
			sub(/ *<unfinished.*|\) *= .*/, "", mode)
			sub(/.*[ |]/, "", mode)
			if (mode ~ /00$/)
				made[$2]
			else if (!($2 in made) && $2 != "/dev/null")
				print mode, $2
		}
		END { if (!length(made)) print "nothing was made" }' tmp/calls
	rm -f tmp/calls
}
cd "$work" || exit 99
if ! command -v strace >/dev/null || ! as $owner strace -o /dev/null true 2>/dev/null; then
	skip 'every file that is made' 'no strace, or it may not trace here'
else
	is "$(open_to_others_of sh -c 'mkdir -m 0700 a; : >b; rm -r a b')" '0666 b' 'a file for everybody is found'
	is "$(open_to_others_of env odd.name=1 "$PILLION" -o made --spool="$work/tmp" -s cpu --memory=python \
		--counters=host --hang=1 python3 -B -c 'import os, time; os.fork(); time.sleep(2)')" '' \
		'a run with a spool, samples, memory, counters and looks makes none'
	is "$(open_to_others_of env odd.name=1 "$PILLION" --ring=1s -o ring sh -c 'exit 3')" '' 'nor one with a ring'
	is "$(open_to_others_of env odd.name=1 "$PILLION" export -q -t sqlite -o - made.pillion)" '' \
		'nor an export to a pipe'
	is "$(open_to_others_of "$PILLION" pack -q -o packed ring.pillion)" '' 'nor pack'
	is "$(open_to_others_of "$PILLION" whatif -n 3 --delay 'call~write=1us' sh -c 'echo text')" '' \
		'nor the runs of whatif --delay'
	is "$(open_to_others_of "$PILLION" doctor)" '' 'nor doctor'
	is "$(find tmp -mindepth 1 -user $owner)" '' 'and nothing of them is left in TMPDIR'
fi

# ---- planted files ----

# A batch job in a directory that it may not write to records in TMPDIR/pillion-UID.
cd "$work" || exit 99
batch() {
	(cd theirs && SLURM_JOB_ID=1 as $owner "$PILLION" -o batch true) 2>&1
}
rm -rf tmp/pillion*
like "$(batch)" "$work/tmp/pillion-$owner/batch" 'a batch job without a place of its own: a directory in TMPDIR'
is "$(open_to_others tmp/pillion-$owner)" '' 'which is for its owner alone'
for plant in directory link 'open directory'; do
	rm -rf tmp/pillion-$owner evil
	case $plant in
	directory) as $other mkdir -m 0777 tmp/pillion-$owner ;;
	link)
		mkdir -m 0777 evil && chown $owner evil
		as $other ln -s "$work/evil" tmp/pillion-$owner
		;;
	*) as $owner mkdir -m 0777 tmp/pillion-$owner ;;
	esac
	unlike "$(batch)" "$work/tmp/pillion-$owner" "a planted $plant is not used"
	is "$(ls -A tmp/pillion-$owner/ 2>/dev/null)$(ls -A evil 2>/dev/null)" '' "and gets nothing: $plant"
done
rm -rf "/tmp/pillion-$owner" "/var/tmp/pillion-$owner" "/dev/shm/pillion-$owner"

# A build whose path has a space is preloaded by a link in /tmp.
mkdir 'a b' && for part in preload runtime report; do
	mkdir "a b/$part" && find "$PILLION_BUILD_DIR/$part" -maxdepth 1 -type f -perm /111 -exec cp {} "a b/$part/" \;
done
chmod -R go+rX,go-w 'a b'
rm -rf /tmp/pillion-$owner-*
spaced() {
	(cd ours && PILLION_BUILD_DIR="$work/a b" as $owner "$PILLION" --stats=false -f -o spaced true) 2>&1
}
spaced >/dev/null
link=$(echo /tmp/pillion-$owner-*)
is "$(stat -c '%a %u' "$link")" "700 $owner" 'the directory of that link is for its owner alone'
rm -rf "$link" && as $other mkdir -m 0755 "$link" && as $other ln -s /bin/true "$link/libpillion.so"
spaced >/dev/null
is "$(ls "$link") $(readlink "$link/libpillion.so")" 'libpillion.so /bin/true' 'one of another user is left alone'
is "$(find /tmp/pillion-$owner-* -maxdepth 0 ! -path "$link" -user $owner -perm 700 | wc -l)" 1 'another one is made'
like "$(as $owner "$PILLION_BUILD_DIR/report/pillion-report" stats -q -r processes -f csv ours/spaced.pillion)" \
	',exit 0,' 'and used'
rm -rf /tmp/pillion-$owner-*
is "$(find /dev/shm -user $owner)" '' 'nothing is left in /dev/shm'
done_testing
