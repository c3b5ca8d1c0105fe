#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In a batch job an existing capture never prevents COMMAND from running: requeued jobs, array tasks and later steps
# with a fixed -o. The variables are those that schedulers set; tests/nightly/slurm.sh uses a real scheduler.
set -u
. "$(dirname "$0")/lib.sh"
unset RANK MASTER_ADDR MASTER_PORT PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK \
	"${!SLURM_@}" PBS_JOBID LSB_JOBID FLUX_JOB_ID

launches() { cat "$1"/*.index | grep -c '^launch	'; }
keys() { cat "$1"/*.index | sed -n 's/^launch.*	key=\([^	]*\).*/\1/p' | sort -u | wc -l; }
captures() { ls -d "$1".*pillion | sed 's/\.pillion//' | LC_ALL=C sort | tr '\n' ' '; }

# step RANKS VARIABLE=VALUE... -- ARG...: starts RANKS ranks of one Slurm step at once; each appends its rank to ran.
step() {
	local ranks=$1 rank pids='' failed=0 variables=()
	shift
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	shift
	for ((rank = 0; rank < ranks; rank++)); do
		(export SLURM_STEP_ID=0 "${variables[@]}" SLURM_PROCID=$rank && pillion "$@" \
			sh -c 'echo $SLURM_PROCID >>ran') 2>"err.$rank" &
		pids="$pids $!"
	done
	for rank in $pids; do
		wait "$rank" || failed=1
	done
	return $failed
}
ran() { sort -n ran | tr '\n' ' '; rm -f ran; }

# ---- one requeued step, its ranks all at once ----
ok 'a first attempt' step 4 SLURM_JOB_ID=7 -- -o job
rm ran
ok 'a requeued attempt' step 8 SLURM_JOB_ID=7 SLURM_RESTART_COUNT=1 -- -o job
is "$(ran)" '0 1 2 3 4 5 6 7 ' 'a requeued attempt: each rank runs'
is "$(captures job)" 'job job.1 ' 'a requeued attempt: the next free capture is used'
is "$(launches job.pillion) $(launches job.1.pillion) $(keys job.1.pillion)" '4 8 1' \
	'a requeued attempt: all ranks are in the new capture'
told="exists already: this run of the batch job is recorded in $work/job.1.pillion"
is "$(cat err.? | grep -c "^pillion: $work/job.pillion $told$")" 1 \
	'a requeued attempt: one message'
for attempt in 2 3 4 5 6 7 8; do
	step 8 SLURM_JOB_ID=7 SLURM_RESTART_COUNT=$attempt -- -o job || fail "attempt $attempt failed"
	is "$(launches job.$attempt.pillion) $(keys job.$attempt.pillion)" '8 1' "attempt $attempt"
done
is "$(ls -d job*.pillion | wc -l)" 9 'nine captures of nine attempts'
is "$(report stats -q -r jobs -f csv job.8.pillion | cut -d, -f1-5,8 | tail -n +2)" 'slurm,7,,0,8,8' \
	'the report jobs names job, step and attempt'
rm -f ran

# ---- an array: five tasks of four ranks, all at once ----
tasks=''
for task in 1 2 3 4 5; do
	mkdir task$task
	(cd task$task && step 4 SLURM_JOB_ID=2$task SLURM_ARRAY_JOB_ID=20 SLURM_ARRAY_TASK_ID=$task -- -o ../array) &
	tasks="$tasks $!"
done
failed_tasks=0
for task in $tasks; do
	wait "$task" || failed_tasks=$((failed_tasks + 1))
done
is "$failed_tasks $(cat task?/ran | sort | uniq -c | tr -s ' \n' ' ')" '0  5 0 5 1 5 2 5 3 ' \
	'array tasks at once: every rank ran'
is "$(for c in array*.pillion; do echo "$(launches "$c") $(keys "$c")"; done | uniq -c | tr -s ' ')" ' 5 4 1' \
	'array tasks: each has a capture with its four ranks'
is "$(report stats -q -r jobs -f csv array*.pillion | cut -d, -f3 | tail -n +2 | sort | tr '\n' ' ')" '1 2 3 4 5 ' \
	'array tasks: the report jobs names the tasks'

# -f true replaces older captures, but not one that another task is writing.
(export SLURM_JOB_ID=31 SLURM_ARRAY_JOB_ID=30 SLURM_ARRAY_TASK_ID=1 &&
	exec "$PILLION" --stats=false -f true -o force sh -c 'while [ ! -e enough ]; do sleep 0.1; done') 2>err.1 &
first=$!
written() { grep -q '^launch' force.pillion/*.index; }
eventually written 2>/dev/null
SLURM_JOB_ID=32 SLURM_ARRAY_JOB_ID=30 SLURM_ARRAY_TASK_ID=2 pillion -f true -o force true 2>err
is "$? $(captures force)" '0 force force.1 ' '-f true keeps a capture that another task is writing'
touch enough
wait "$first"
SLURM_JOB_ID=31 SLURM_ARRAY_JOB_ID=30 SLURM_ARRAY_TASK_ID=1 SLURM_RESTART_COUNT=1 pillion -f true -o force true 2>err
is "$? $(captures force)" '0 force force.1 ' '-f true replaces the capture of an earlier attempt'
ok '-f true with several ranks at once' step 6 SLURM_JOB_ID=40 -- -f true -o force
is "$(launches force.pillion) $(keys force.pillion)" '6 1' '-f true with several ranks at once: they share the capture'
rm ran

# ---- other schedulers and their variables ----
for variables in PBS_JOBID=1.server LSB_JOBID=1 FLUX_JOB_ID=1 COBALT_JOBID=1 OAR_JOB_ID=1 PJM_JOBID=1 \
	'JOB_ID=1 SGE_ROOT=/opt/sge'; do
	name=${variables%%=*}
	for run in 1 2 3; do
		# shellcheck disable=SC2086,SC2163
		(export $variables && pillion -o "$name" sh -c 'echo >>ran') 2>err ||
			fail "$variables: run $run" "$(cat err)"
	done
	is "$(captures "$name") $(wc -l <ran)" "$name $name.1 $name.2  3" "$variables: three runs, three captures"
	rm ran
done
JOB_ID=1 pillion -o JOB_ID true 2>err
is $? 2 'JOB_ID alone is no batch job'

# ---- other files with the capture's name ----
batch() { SLURM_JOB_ID=7 pillion "$@"; }
mkdir foreign.pillion closed.pillion damaged.pillion
touch foreign.pillion/mine file.pillion
ln -s nowhere link.pillion
mkfifo pipe.pillion damaged.pillion/capture
chmod 0 closed.pillion
touch -d '1 hour ago' foreign.pillion # a new one might be a capture that another rank is making
: >empty.pillion
for what in foreign closed damaged file link pipe empty; do
	for force in false true; do
		batch -f $force -o $what echo ran >out 2>err
		is "$? $(cat out)" '0 ran' "$what: COMMAND runs, -f $force"
		like "$(cat err)" "^pillion: $work/$what.pillion exists already: .* $work/$what.[12].pillion$" \
			"$what: the message names the new capture, -f $force"
	done
	is "$(captures $what)" "$what $what.1 $what.2 " "$what: it is not replaced"
done
ok 'a foreign file is kept' test -e foreign.pillion/mine
touch -d '1 hour ago' foreign.pillion
batch --append -o foreign echo ran >out 2>err
is "$? $(cat out) $(test -d foreign.3.pillion && echo new)" '0 ran new' \
	'--append to a directory that is not a capture makes a new capture'
ok 'several ranks at once, a file has the name' step 6 SLURM_JOB_ID=50 -- -o file
is "$(launches file.3.pillion) $(keys file.3.pillion)" '6 1' \
	'several ranks at once, a file has the name: they share one capture'
rm -f ran

batch -o 'a-%q{SLURM_JOB_ID}.%p' true 2>err
batch -o 'b-%q{SLURM_JOB_ID}-%h' true 2>err
batch -o 'b-%q{SLURM_JOB_ID}-%h' true 2>err
is "$? $(ls -d b-7-*.1.pillion | wc -l)" '0 1' 'the number is appended to the expanded name'
batch -o suffix.pillion true 2>err
batch -o suffix.pillion true 2>err
is "$? $(captures suffix)" '0 suffix suffix.1 ' 'the number precedes the suffix'
mkdir unnamed
ok 'without -o a requeued step' eval \
	'cd unnamed && step 4 SLURM_JOB_ID=7 -- && step 4 SLURM_JOB_ID=7 SLURM_RESTART_COUNT=1 --'
is "$(ls -d unnamed/report*) $(launches unnamed/report2.pillion)" 'unnamed/report1.pillion
unnamed/report2.pillion 4' 'without -o a requeued step uses the next report'

# ---- outside batch jobs the behaviour is unchanged ----
pillion -o suffix touch touched 2>err
is $? 2 'outside a batch job an existing capture is status 2'
not_ok 'and COMMAND is not started' test -e touched
pillion -o no/such/directory/c touch touched 2>err
is "$? $(test -e touched; echo $?)" '2 1' 'outside a batch job a missing directory is status 2'

# ---- no capture can be made: COMMAND runs ----
mkdir local
local_batch() { # ARG...: node-local storage is a directory of the test's own
	TMPDIR=$work/local SLURM_JOB_ID=7 pillion "$@"
}
node_local=$work/local/pillion-$(id -u)
local_batch -o no/such/directory/c sh -c 'echo ran; exit 3' >out 2>err
is "$? $(cat out)" '3 ran' 'a missing directory: COMMAND runs'
like "$(cat err)" "^pillion: cannot create the capture $work/no/such/directory/c.pillion: No such file" \
	'a missing directory: the reason'
like "$(cat err)" "^pillion: recorded in $node_local/c.pillion on .* instead" \
	'a missing directory: what is used instead'
is "$(launches "$node_local/c.pillion") $(stat -c %a "$node_local")" '1 700' \
	'a missing directory: it is recorded in node-local storage'
local_batch -f true -o no/such/directory/c true 2>err
is "$? $(launches "$node_local/c.pillion") $(launches "$node_local/c.1.pillion")" '0 1 1' \
	'a missing directory again: the next free name'
chmod 777 local/pillion-*
local_batch -o no/such/directory/d true 2>err
is "$? $(ls -d local/pillion-*/d.pillion 2>/dev/null)" '0 ' 'a directory that others may write to is not used'
like "$(cat err)" "^pillion: recorded in /.*/d.pillion on .* instead" 'the next local directory is used'
next=$(sed -n 's/^pillion: recorded in \(.*\.pillion\) on .*/\1/p' err)
rm -rf "$next"
rmdir "${next%/*}" 2>/dev/null
chmod 700 local/pillion-*
(cd local && mkdir gone && cd gone && rmdir ../gone && local_batch echo ran) >out 2>err
is "$? $(cat out)" '0 ran' 'a working directory that was removed: COMMAND runs'
local_batch --spool="$work/no/spool" -o spooled echo ran >out 2>err
is "$? $(cat out) $(launches "$node_local/spooled.pillion")" '0 ran 1' 'a missing --spool: COMMAND runs'
local_batch --no-such-option -o usage echo ran >out 2>err
is "$? $(cat out)" '2 ' 'wrong usage is status 2'
local_batch -o ran/c no-such-program >out 2>err
is "$? $(cat out)" '127 ' 'a missing COMMAND is 127'
mkdir small
if mount -t tmpfs -o size=4k none small 2>/dev/null; then
	for ((pages = 1; pages <= 24; pages++)); do
		mount -o remount,size=$((pages * 4))k none small
		rm -rf small/*
		local_batch -o small/c echo ran >out 2>err
		is "$? $(cat out)" '0 ran' "a disk of $pages pages: COMMAND runs"
		[ -d small/c.pillion ] || like "$(cat err)" "^pillion: recorded in $node_local/" \
			"a disk of $pages pages: it is recorded in node-local storage"
	done
	mount -o remount,ro none small
	(export TMPDIR=$work/local && step 4 SLURM_JOB_ID=70 -- -o small/ranks)
	is "$? $(launches "$node_local/ranks.pillion") $(keys "$node_local/ranks.pillion")" '0 4 1' \
		'a read-only directory: the ranks of a node share a capture'
	umount small
else
	skip 'a full disk' 'no mount allowed here'
fi
# No local directory has room: not even $TMPDIR and /tmp.
why=$(unshare -m true 2>&1)
case :$PILLION:$PILLION_BUILD_DIR in
*:/tmp/*) why='the build is below /tmp' ;;
esac
if [ -z "$why" ]; then
	nowhere() { # COMMAND...
		unshare -m sh -c 'for d in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o size=16k,ro none $d || exit
		done
			TMPDIR=/tmp SLURM_JOB_ID=7 "$@"' sh "$@"
	}
	export PILLION_STATS=false
	nowhere "$PILLION" -o /tmp/c -e A=1 sh -c 'echo $A $PILLION_OUTPUT$LD_PRELOAD; exit 4' >out 2>err
	is "$? $(cat out)" '4 1' 'no storage at all: COMMAND runs, without the recorder'
	is "$(tail -n 1 err)" 'pillion: COMMAND runs without being recorded' 'no storage at all: the message'
	nowhere "$PILLION" -o /tmp/c sh -c 'kill -TERM $$' >out 2>err
	is $? 143 'no storage at all: a signal'
	# Not a pipeline: while the shell starts one, it has descriptors of it.
	inherited='grep -E "^Sig(Ign|Blk)" /proc/self/status; set -- /proc/$$/fd/*; echo $#'
	nowhere "$PILLION" -o /tmp/c bash -c "$inherited" >out 2>err
	is "$(cat out)" "$(bash -c "$inherited" 2>err)" \
		'no storage at all: signals and descriptors are those of a bare run'
	unset PILLION_STATS
else
	skip 'no storage at all' "$why"
fi

# ---- steps in one capture ----
export PILLION_OSRT_THRESHOLD=0
both() { for step in 0 1; do step 2 SLURM_JOB_ID=60 "SLURM_STEP_ID=$step" -- --append -o both || return; done; }
ok 'two steps with --append' both
is "$(captures both)$(launches both.pillion)" 'both 4' 'two steps with --append share a capture'
is "$(report stats -q -r processes -f csv both.pillion | cut -d, -f4 | tail -n +2 | sort -u | tr '\n' ' ')" \
	'0@60.0 0@60.1 1@60.0 1@60.1 ' \
	'processes: ranks of two steps are distinct'
is "$(report stats -q -r osrt_sum --by rank -f csv both.pillion | cut -d, -f1 | tail -n +2 | sort -u | tr '\n' ' ')" \
	'0@60.0 0@60.1 1@60.0 1@60.1 ' '--by rank: ranks of two steps are distinct'
is "$(report stats -q -r processes -f csv job.1.pillion | cut -d, -f4 | tail -n +2 | sort -un | tr '\n' ' ')" \
	'0 1 2 3 4 5 6 7 ' \
	'processes: ranks of one step are plain numbers'
is "$(report stats -q -r processes -f csv both.pillion | head -n 1 | cut -d, -f1-8)" \
	'PID,PPID,Host,Rank,Start (ns),Duration (ns),Ended,Command' \
	'processes: the list of columns'
like "$(SLURM_JOB_ID=7 SLURMD_NODENAME=n17 pillion -o node true 2>err; report info node.pillion)" \
	'^ *slurm  *7 .* n17 ' 'info names the node'
unlike "$(report info foreign.pillion 2>&1; pillion -o plain true 2>err; report info plain.pillion)" 'Batch Jobs' \
	'info has no section on jobs outside of batch jobs'

# LSF and SGE set the task variable also without an array.
task_of() { # VARIABLE=VALUE...
	rm -rf task.pillion
	# shellcheck disable=SC2163
	(export "$@" && pillion -o task true 2>err)
	report stats -q -r jobs -f csv task.pillion | sed 1d | cut -d, -f1-3
}
is "$(task_of LSB_JOBID=5 LSB_JOBINDEX=0) $(task_of LSB_JOBID=5 LSB_JOBINDEX=2)" 'lsf,5, lsf,5,2' \
	'task 0 of LSF is not an array task'
is "$(task_of JOB_ID=5 SGE_ROOT=/ SGE_TASK_ID=undefined) $(task_of JOB_ID=5 SGE_ROOT=/ SGE_TASK_ID=2)" \
	'sge,5, sge,5,2' 'an undefined task of SGE is not an array task'
is "$(task_of SLURM_JOB_ID=6 SLURM_ARRAY_JOB_ID=5 SLURM_ARRAY_TASK_ID=0)" 'slurm,5,0' \
	"task 0 of Slurm is an array task, shown with the array's id"

# Ranks started by ssh do not have the job's variables.
(export MASTER_ADDR=n1 MASTER_PORT=29500 && SLURM_JOB_ID=7 RANK=0 pillion -o ssh true 2>err &&
	RANK=1 pillion -o ssh true 2>err)
is "$? $(launches ssh.pillion)" '0 2' 'ranks without the variables of the job join those that have them'
(export MASTER_ADDR=n1 MASTER_PORT=29500 SLURM_JOB_ID=8 RANK=2 && pillion -o ssh true 2>err)
is "$? $(captures ssh)" '0 ssh ssh.1 ' 'ranks of another job do not join'
done_testing
