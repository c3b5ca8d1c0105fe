#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names of captures, what is replaced, what is refused, and who may read them.
set -u
. "$(dirname "$0")/lib.sh"

pillion true 2>err
ok 'without -o it is report1' test -d report1.pillion
pillion true 2>err
ok 'then report2' test -d report2.pillion
rm -r report1.pillion
pillion true 2>err
ok 'the next free number is taken' test -d report1.pillion
like "$(cat err)" "^pillion: capture in $work/report1.pillion$" 'and said'

pillion -o a true 2>err
ok '.pillion is appended' test -d a.pillion
pillion -o b.pillion true 2>err
ok 'unless it is there' test -d b.pillion
pillion -o net.sql true 2>err
ok 'whatever else the name ends in' test -d net.sql.pillion
X='val' pillion -o 'p-%p-%h-%q{X}-%%-%n' true 2>err
like "$(ls)" "^p-[0-9]+-$(hostname | tr -c 'A-Za-z0-9._\n-' _)-val-%-%n\.pillion$" \
	'%p %h %q{ENV} %% expand, others stay'
pillion -o 'x%q{PILLION_NO_SUCH}' true 2>err
is $? 2 'an unset variable in a name is an error'
like "$(cat err)" 'PILLION_NO_SUCH is not set' 'that names it'
mkdir sub
pillion -o "$work/sub/c" true 2>err
ok 'a path is taken as it is' test -d sub/c.pillion
pillion -o no/such/directory/c touch ran 2>err
is $? 2 'a missing directory is status 2'
is "$(wc -l <err)" 1 'in one line'
not_ok 'COMMAND was not started' test -e ran

pillion -o a touch ran 2>err
is $? 2 'an existing capture is status 2'
like "$(cat err)" 'a\.pillion exists: use -f true' 'that says what to do'
not_ok 'COMMAND was not started' test -e ran
touch a.pillion/marker
pillion -f true -o a true 2>err
is $? 0 '-f true replaces'
not_ok 'all of it' test -e a.pillion/marker
is "$(ls -d a.pillion*)" a.pillion 'and leaves nothing beside it'
pillion -f -o a true 2>err
is $? 0 '-f alone is true'
pillion -f false -o a true 2>err
is $? 2 '-f false is false'
pillion --append -o a true 2>err
is $? 0 '--append joins'
is "$(cat a.pillion/*.index | grep -c ^launch)" 2 'and both runs are in it'
pillion --append -f -o a true 2>err
is $? 2 'both at once are refused'

# One that is empty and new may be another rank's; whoever made it by hand is told.
mkdir new.pillion
pillion --append -o new echo joined >out 2>err &
for ((i = 0; i < 200; i++)); do
	grep -q 'new.pillion is not a capture yet: waiting' err && break
	sleep 0.1
done
cp a.pillion/capture new.pillion/ # as that rank would
wait $!
is "$? $(cat out) $(grep -c 'not a capture yet' err)" '0 joined 1' \
	'--append waits for a capture that is being made, and says so'

mkdir foreign.pillion
touch foreign.pillion/mine
pillion -f -o foreign true 2>err
is $? 2 'a directory that is no capture is never replaced'
ok 'and left alone' test -e foreign.pillion/mine
ln -s a.pillion link.pillion
pillion -f -o link true 2>err
is $? 2 'nor is a link'
touch file.pillion
pillion -f -o file true 2>err
is $? 2 'nor a file'
pillion -o '' true 2>err
is $? 2 'an empty name is refused'

(umask 0777; pillion -o closed sh -c 'exit 3' 2>err)
is $? 3 'umask 0777: COMMAND runs'
is "$(stat -c %a closed.pillion)" 700 'the directory is 0700'
is "$(stat -c %a closed.pillion/* | sort -u)" 600 'every file is 0600'
(umask 0; pillion -o open sh -c umask >out 2>err)
is "$(cat out)" "$(umask 0; sh -c umask)" "COMMAND's umask is its own"
is "$(stat -c %a open.pillion open.pillion/* | sort -u | tr '\n' ' ')" '600 700 ' 'umask 0 opens nothing'

if mkdir full 2>/dev/null && mount -t tmpfs -o size=16k none full 2>/dev/null; then
	dd if=/dev/zero of=full/fill bs=4k 2>/dev/null
	pillion -o full/c touch ran 2>err
	is $? 2 'a full disk is status 2'
	is "$(wc -l <err)" 1 'in one line'
	not_ok 'COMMAND was not started' test -e ran
	mount -o remount,ro none full
	pillion -o full/c touch ran 2>err
	is $? 2 'so is a read-only one'
	umount full
else
	skip 'a full disk is status 2' 'no mount allowed here'
fi
if [ "$(id -u)" != 0 ]; then
	mkdir locked
	chmod 500 locked
	pillion -o locked/c touch ran 2>err
	is $? 2 'a directory that may not be written is status 2'
else
	skip 'a directory that may not be written is status 2' 'root may'
fi
like "$(cat a.pillion/capture)" '^format=1$' 'the capture says its format'
like "$(cat a.pillion/*.index)" '^child	.*status=0	launcher=1' 'and how COMMAND ended'
done_testing
