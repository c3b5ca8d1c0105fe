#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The whole OS runtime: calls behave as without pillion and all are recorded; bytes are attributed to the file or the
# peer to which the descriptor referred at the time of the call.
set -u
. "$(dirname "$0")/lib.sh"

mkdir bare recorded
rounds=5
bare=$(cd bare && "$targets/osrt" $rounds 2>&1)
recorded=$(cd recorded && pillion -t osrt --osrt-threshold=0 -o "$work/all" "$targets/osrt" $rounds 2>"$work/errors")
is "$?" 0 'the status of a program that calls everything'
is "$recorded" "$bare" 'its calls return the same results as without pillion'
is "$(grep -v "^$capture_line" errors)" '' 'its stderr is empty'

report stats -r osrt_sum -f csv all.pillion >sum.csv
calls() { # NAME: number of calls by its plain or its 64-bit name
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
	# The target does not make calls that this machine's kernel lacks.
	[ "$(calls $name)" -ge $rounds ] || missed="$missed $name:$(calls $name)"
done
is "$missed" '' 'every call of the program is in osrt_sum'
is "$(calls nanosleep) $(calls semtimedop) $(calls getdelim)$(calls getline)" "$rounds $rounds 100" \
	'the numbers of calls are exact'
all=$(report stats -q -r processes -f csv all.pillion | awk -F, 'NR > 1 && $6 > n { n = $6 } END { print n }')
is "$(awk -F, -v all="$all" '$9 == "usleep" { print ($6 >= 3000000 && $2 < all) }' sum.csv)" 1 \
	'sleeps last at least the requested time, and no longer than the process'

# Short calls are counted and summed by file, whatever the threshold is: over descriptors that are closed, opened again
# and duplicated, and after SIGKILL.
head -c 4096 /dev/zero >"$work/input"
for threshold in 60000000000 1000; do
	pillion -f -t osrt --osrt-threshold=$threshold -o short "$targets/short_io" 20000 "$work/input" "$work/output" \
		>out 2>&1
	is "$?" 137 "threshold $threshold: short calls, then SIGKILL"
	report stats -r files -f csv short.pillion >files.csv
	is "$(awk -F, -v OFS=, '$10 ~ /(in|out)put$/ { sub(".*/", "", $10); print $10, $6, $7, $8, $9 }' files.csv |
		sort | paste -sd' ')" 'input,40000,260000,0,0 output,40000,60000,20000,140000' \
		"threshold $threshold: reads and writes of each file, and their bytes"
	is "$(report stats -r ledger -f csv short.pillion | grep -c 'without a file')" 0 \
		"threshold $threshold: no call is missing"
done

mkdir files
port=$(cd files && pillion -t osrt --osrt-threshold=0 -o "$work/files" "$targets/descriptors" 2>"$work/errors")
is "$?" 0 'the status of a program that reuses descriptors'
port=${port#port }
report stats -r files -f csv files.pillion >files.csv
is "$(awk -F, '$10 ~ /files\/[0-9]+$/ { n = $10; sub(".*/", "", n); print n, $9 }' files.csv | sort -n | paste -sd,)" \
	'100 100,200 200,300 300,400 400,500 500,600 600,700 700,800 0,900 900,1000 1000,'\
'1100 2200,1200 1200,1300 1300,2000 2000,2100 0,2200 2200' \
	'each file has the bytes written to it'
like "$(cat files.csv)" ',2100,\(not known\),' \
	'bytes written by the child of a vfork have an unknown file'
is "$(awk -F, '$10 ~ /files\/(100|600|1200)$/ { print $5 }' files.csv | paste -sd' ')" '1 1 1' \
	'each file was opened once'
like "$(cat files.csv)" ',1,3300,pipe:' 'a pipe has its number'
report stats -r sockets -f csv files.pillion >sockets.csv
like "$(cat sockets.csv)" ",1,0,0,1,3000,tcp 127.0.0.1:$port\$" 'a connection has its peer: connected, sent'
like "$(cat sockets.csv)" ',0,1,3000,0,0,tcp 127.0.0.1:[0-9]*$' 'an accepted connection has its peer: received'
like "$(cat sockets.csv)" ",1,0,0,0,0,tcp 127.0.0.1:$port \\(listening\\)\$" 'a listening socket is marked'
like "$(cat sockets.csv)" ',3100,unix socket$' 'a bound unix socket'
like "$(cat sockets.csv)" ',1,3200,unix pair$' 'a pair of unix sockets'
like "$(cat sockets.csv)" ',udp \[::\]:[0-9]*$' 'a socket without a peer has its own address'
like "$(report stats -r files --by process -f csv files.pillion | head -1)" '^PID,Time \(%\)' 'by process'
is "$(report stats -r files --by process -f csv files.pillion | awk -F, 'NR > 1 { print $1 }' | sort -u | wc -l)" 2 \
	'files by process: two processes'
# A shell flushes its streams in each subshell. A file is described if there is something to write to it.
for commands in '0 (:); (:)' '1 (echo text); (:)'; do
	pillion -f -t osrt --osrt-threshold=0 -o flushed bash -c "${commands#* }" >written 2>errors
	is "$(report stats -r files -f csv flushed.pillion | grep -c '/written,')" "${commands%% *}" \
		"${commands#* }: flushes of an empty stream use no file"
done
pillion -t osrt -o threads "$targets/calls" 5 exit 3 >/dev/null 2>&1
is "$(report stats -r osrt_sum --by thread -f csv threads.pillion | awk -F, '$10 == "usleep" { print $4 }' |
	paste -sd' ')" '5 5 5' 'each thread has its own calls'

# A report of nsys for what is recorded on request only.
capture=$(ls -d -- *.pillion | head -1)
report stats -q -r openmp_sum -f csv "$capture" >out 2>err
is "$? $(head -1 out) $(cat err)" '1 Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),'\
'Name,Line pillion stats: openmp_sum: no OpenMP was recorded: -t openmp records it' \
	"openmp_sum: nsys's columns and a message that it is not recorded"
done_testing
