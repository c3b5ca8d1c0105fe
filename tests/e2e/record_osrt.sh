#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The OS runtime in full: calls are as without us and all seen; bytes go to the file or the peer that the descriptor
# then was.
set -u
. "$(dirname "$0")/lib.sh"

mkdir bare recorded
rounds=5
bare=$(cd bare && "$targets/osrt" $rounds 2>&1)
recorded=$(cd recorded && pillion -t osrt --osrt-threshold=0 -o "$work/all" "$targets/osrt" $rounds 2>"$work/errors")
is "$?" 0 'the status of a program that calls everything'
is "$recorded" "$bare" 'its calls give what they give without us'
is "$(grep -v '^pillion: capture in' errors)" '' 'its stderr is empty'

report stats -r osrt_sum -f csv all.pillion >sum.csv
calls() { # NAME: under its plain or its 64-bit name
	awk -F, -v name="$1" '{ plain = $9; sub("64v2$", "2", plain); sub("64$", "", plain) }
		$9 == name || plain == name { n += $3 } END { print n + 0 }' sum.csv
}
missed=
for name in read readv pwrite pread preadv preadv2 pwritev pwritev2 open openat creat copy_file_range sendfile splice \
	vmsplice \
	dup dup2 dup3 ftruncate truncate fallocate posix_fallocate fsync fdatasync sync_file_range ioctl mkfifo \
		mkfifoat \
	fopen freopen fputs fflush fgets fread getc fgetc fputc putc getwc putwc fgetws fputws fclose popen pclose \
	flockfile \
	mmap mprotect msync mlock mremap munmap \
	connect accept send sendto sendmsg shutdown socketpair recvfrom recvmsg recvmmsg \
	poll ppoll select epoll_wait epoll_pwait epoll_ctl usleep nanosleep clock_nanosleep futex sigtimedwait \
		sigwaitinfo kill \
	sched_yield pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast sem_timedwait sem_trywait \
	pthread_mutex_trylock pthread_rwlock_tryrdlock pthread_spin_trylock pthread_rwlock_rdlock \
	msgget msgsnd msgrcv msgctl semget semop semtimedop semctl shmget shmat shmdt shmctl fork posix_spawn system; do
	# What this machine's kernel has not, the target did not reach.
	[ "$(calls $name)" -ge $rounds ] || missed="$missed $name:$(calls $name)"
done
is "$missed" '' 'every call of it is in osrt_sum'
is "$(calls nanosleep) $(calls semtimedop) $(calls getdelim)$(calls getline)" "$rounds $rounds 100" \
	'as often as it was made'
all=$(report stats -q -r processes -f csv all.pillion | awk -F, 'NR > 1 && $6 > n { n = $6 } END { print n }')
is "$(awk -F, -v all="$all" '$9 == "usleep" { print ($6 >= 3000000 && $2 < all) }' sum.csv)" 1 \
	'sleeps last as long as they should at least, and not longer than the process'

# The threshold leaves them to osrt_short_sum, and every descriptor's bytes to nobody.
(cd recorded && pillion -t osrt --osrt-threshold=60000000000 -o "$work/none" "$targets/osrt" 1 >/dev/null 2>&1)
is "$(report stats -r files -f csv none.pillion | wc -l)" 1 'nothing recorded, no files'

mkdir files
port=$(cd files && pillion -t osrt --osrt-threshold=0 -o "$work/files" "$targets/descriptors" 2>"$work/errors")
is "$?" 0 'the status of a program that reuses descriptors'
port=${port#port }
report stats -r files -f csv files.pillion >files.csv
is "$(awk -F, '$10 ~ /files\/[0-9]+$/ { n = $10; sub(".*/", "", n); print n, $9 }' files.csv | sort -n | paste -sd,)" \
	'100 100,200 200,300 300,400 400,500 500,600 600,700 700,800 0,900 900,1000 1000,'\
'1100 2200,1200 1200,1300 1300,2000 2000,2100 0,2200 2200' \
	'each file has the bytes that were written to it'
like "$(cat files.csv)" ',2100,\(not known\)$' \
	'but what the child of a vfork wrote: nobody knows where its descriptors lead'
is "$(awk -F, '$10 ~ /files\/(100|600|1200)$/ { print $5 }' files.csv | paste -sd' ')" '1 1 1' 'and was opened once'
like "$(cat files.csv)" ',1,3300,pipe:' 'a pipe goes by its number'
report stats -r sockets -f csv files.pillion >sockets.csv
like "$(cat sockets.csv)" ",1,0,0,1,3000,tcp 127.0.0.1:$port\$" 'a connection goes by its peer: connected, sent'
like "$(cat sockets.csv)" ',0,1,3000,0,0,tcp 127.0.0.1:[0-9]*$' 'the accepted end by its own: received'
like "$(cat sockets.csv)" ",1,0,0,0,0,tcp 127.0.0.1:$port \\(listening\\)\$" 'a listening one says so'
like "$(cat sockets.csv)" ',3100,unix socket$' 'unix sockets go by their path'
like "$(cat sockets.csv)" ',1,3200,unix pair$' 'a pair has none'
like "$(cat sockets.csv)" ',udp \[::\]:[0-9]*$' 'one without a peer goes by its own address'
like "$(report stats -r files --by process -f csv files.pillion | head -1)" '^PID,Time \(%\)' 'by process'
is "$(report stats -r files --by process -f csv files.pillion | awk -F, 'NR > 1 { print $1 }' | sort -u | wc -l)" 2 \
	'of which there are two'
pillion -t osrt -o threads "$targets/calls" 5 exit 3 >/dev/null 2>&1
is "$(report stats -r osrt_sum --by thread -f csv threads.pillion | awk -F, '$10 == "usleep" { print $4 }' |
	paste -sd' ')" '5 5 5' 'each thread has its own calls'

# A report of nsys's that has nothing to report here.
capture=$(ls -d -- *.pillion | head -1)
report stats -q -r openmp_sum -f csv "$capture" >out 2>err
is "$? $(head -1 out) $(cat err)" '1 Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),'\
'Name pillion stats: openmp_sum: pillion does not record OpenMP' \
	"openmp_sum: nsys's columns, and that it is not recorded"
done_testing
