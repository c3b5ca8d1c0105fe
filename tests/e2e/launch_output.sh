#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names of captures, replacement of existing files, refused names, and permissions.
set -u
. "$(dirname "$0")/lib.sh"

pillion true 2>err
ok 'without -o the capture is report1' test -d report1.pillion
pillion true 2>err
ok 'without -o the second capture is report2' test -d report2.pillion
rm -r report1.pillion
pillion true 2>err
ok 'without -o the lowest free number is used' test -d report1.pillion
like "$(cat err)" "^$capture_line report1.pillion$" 'without -o a message names the capture'

pillion -o a true 2>err
ok '.pillion is appended' test -d a.pillion
pillion -o b.pillion true 2>err
ok '.pillion is not appended twice' test -d b.pillion
pillion -o net.sql true 2>err
ok '.pillion is appended to other suffixes' test -d net.sql.pillion
X='val' pillion -o 'p-%p-%h-%q{X}-%%-%n' true 2>err
like "$(ls)" "^p-[0-9]+-$(hostname | tr -c 'A-Za-z0-9._\n-' _)-val-%-%n\.pillion$" \
	'%p %h %q{ENV} %% expand, others stay'
pillion -o 'x%q{PILLION_NO_SUCH}' true 2>err
is $? 2 'an unset variable in a name is an error'
like "$(cat err)" 'PILLION_NO_SUCH is not set' 'the message names the unset variable'
mkdir sub
pillion -o "$work/sub/c" true 2>err
ok 'a path is used unchanged' test -d sub/c.pillion
pillion -o no/such/directory/c touch ran 2>err
is $? 2 'a missing directory is status 2'
is "$(wc -l <err)" 1 'in one line'
not_ok 'COMMAND was not started' test -e ran

pillion -o a touch ran 2>err
is $? 2 'an existing capture is status 2'
like "$(cat err)" 'a\.pillion exists: use -f true' 'an existing capture: the message suggests -f true'
not_ok 'COMMAND was not started' test -e ran
touch a.pillion/marker
pillion -f true -o a true 2>err
is $? 0 '-f true replaces an existing capture'
not_ok 'all of it' test -e a.pillion/marker
is "$(ls -d a.pillion*)" a.pillion '-f true leaves no other file'
pillion -f -o a true 2>err
is $? 0 '-f alone is true'
pillion -f false -o a true 2>err
is $? 2 '-f false is false'
pillion --append -o a true 2>err
is $? 0 '--append adds to an existing capture'
is "$(cat a.pillion/*.index | grep -c ^launch)" 2 '--append: both runs are in the capture'
pillion --append -f -o a true 2>err
is $? 2 '-f true and --append together are refused'

# An empty new directory may be the capture that another rank is creating; a message informs users who created it.
mkdir new.pillion
pillion --append -o new echo joined >out 2>err &
for ((i = 0; i < 200; i++)); do
	grep -q 'new.pillion is not a capture yet: waiting' err && break
	sleep 0.1
done
cp a.pillion/capture new.pillion/ # as that rank does
wait $!
is "$? $(cat out) $(grep -c 'not a capture yet' err)" '0 joined 1' \
	'--append waits for a capture that is being created, with a message'

mkdir foreign.pillion
touch foreign.pillion/mine
pillion -f -o foreign true 2>err
is $? 2 'a directory that is not a capture is not replaced'
ok 'a directory that is not a capture is unchanged' test -e foreign.pillion/mine
ln -s a.pillion link.pillion
pillion -f -o link true 2>err
is $? 2 'a link is not replaced'
touch file.pillion
pillion -f -o file true 2>err
is $? 2 'a file is not replaced'
pillion -o '' true 2>err
is $? 2 'an empty name is refused'

(umask 0777; pillion -o closed sh -c 'exit 3' 2>err)
is $? 3 'umask 0777: COMMAND runs'
is "$(stat -c %a closed.pillion)" 700 'the directory is 0700'
is "$(stat -c %a closed.pillion/* | sort -u)" 600 'every file is 0600'
(umask 0; pillion -o open sh -c umask >out 2>err)
is "$(cat out)" "$(umask 0; sh -c umask)" "COMMAND's umask is unchanged"
is "$(stat -c %a open.pillion open.pillion/* | sort -u | tr '\n' ' ')" '600 700 ' 'umask 0 adds no permissions'

if mkdir full 2>/dev/null && mount -t tmpfs -o size=16k none full 2>/dev/null; then
	dd if=/dev/zero of=full/fill bs=4k 2>/dev/null
	pillion -o full/c touch ran 2>err
	is $? 2 'a full disk is status 2'
	is "$(wc -l <err)" 1 'in one line'
	not_ok 'COMMAND was not started' test -e ran
	mount -o remount,ro none full
	pillion -o full/c touch ran 2>err
	is $? 2 'a read-only file system is status 2'
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
like "$(cat a.pillion/capture)" '^format=1$' 'the capture states its format'
like "$(cat a.pillion/*.index)" '^child	.*status=0	launcher=1' 'the index states how COMMAND ended'
done_testing
