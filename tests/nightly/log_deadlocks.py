# SPDX-License-Identifier: Apache-2.0
"""Programs of log.py whose threads or processes wait for each other."""
import os
import shutil
import subprocess
import sys

import log_programs as programs

HEAD = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static void ready(void) { (void)!write(1, "ready\\n", 6); }
static pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_t threads[4];
static sem_t s[2];
static int ways[2][2];
static void *shared(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }
static int opened(int i) /* by a child */
{
	char name[32];
	snprintf(name, sizeof(name), "%d.%d", getppid(), i);
	return open(name, O_RDWR | O_CREAT, 0600);
}
static int started(int n, void *(*run)(void *))
{
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	ready();
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
static int forked(int n, void (*run)(int))
{
	for (int i = 0; i < n; i++)
		if (!fork()) {
			run(i);
			_exit(0);
		}
	ready();
	while (wait(NULL) > 0)
		;
	return 0;
}
"""
# name -> source of its functions, the last of which is main(); each line that a thread waits in ends with "waits */"
IN_C = {
    "mutexes": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[(long)i]);
	usleep(200000);
	pthread_mutex_lock(&m[1 - (long)i]); /* waits */
	return i;
}
int main(void) { return started(2, run); }
""",
    "mutexes3": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[(long)i]);
	usleep(200000);
	pthread_mutex_lock(&m[((long)i + 1) % 3]); /* waits */
	return i;
}
int main(void) { return started(3, run); }
""",
    "upgrade": """
static void *run(void *i)
{
	pthread_rwlock_rdlock(&rw);
	usleep(200000);
	pthread_rwlock_wrlock(&rw); /* waits */
	return i;
}
int main(void) { return started(2, run); }
""",
    "barrier": """
static void *run(void *i)
{
	pthread_barrier_wait(&barrier); /* waits */
	return i;
}
int main(void)
{
	pthread_barrier_init(&barrier, NULL, 4);
	return started(3, run);
}
""",
    "semaphores": """
static void *run(void *i)
{
	sem_wait(&s[(long)i]); /* waits */
	sem_post(&s[1 - (long)i]);
	return i;
}
int main(void) { return started(2, run); }
""",
    "lost_wakeup": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[0]);
	if (i) {
		pthread_cond_signal(&changed);
	} else {
		usleep(200000); /* it was signaled before */
		pthread_cond_wait(&changed, &m[0]); /* waits */
	}
	pthread_mutex_unlock(&m[0]);
	return i;
}
int main(void)
{
	pthread_create(&threads[0], NULL, run, (void *)1);
	pthread_join(threads[0], NULL);
	return started(1, run);
}
""",
    "joins": """
static pthread_t first;
static void *run(void *i)
{
	pthread_join(first, NULL); /* waits */
	return i;
}
int main(void)
{
	first = pthread_self();
	pthread_create(&threads[0], NULL, run, NULL);
	usleep(200000);
	ready();
	pthread_join(threads[0], NULL); /* waits */
	return 0;
}
""",
    "forked_lock": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[0]);
	usleep(500000);
	pthread_mutex_unlock(&m[0]);
	return i;
}
int main(void)
{
	pid_t child;
	pthread_create(&threads[0], NULL, run, NULL);
	usleep(200000);
	child = fork();
	if (!child) {
		pthread_mutex_lock(&m[0]); /* waits */
		_exit(0);
	}
	pthread_join(threads[0], NULL);
	ready();
	waitpid(child, NULL, 0);
	return 0;
}
""",
    "full_pipes": """
static char block[1 << 20];
static void run(int i)
{
	(void)!write(ways[i][1], block, sizeof(block)); /* waits */
	(void)!read(ways[1 - i][0], block, sizeof(block));
}
int main(void)
{
	(void)!pipe(ways[0]);
	(void)!pipe(ways[1]);
	return forked(2, run);
}
""",
    "socketpair": """
static void run(int i)
{
	char byte;
	close(ways[0][1 - i]);
	(void)!read(ways[0][i], &byte, 1); /* waits */
	(void)!write(ways[0][i], "x", 1);
}
int main(void)
{
	socketpair(AF_UNIX, SOCK_STREAM, 0, ways[0]);
	return forked(2, run);
}
""",
    "polls": """
static void run(int i)
{
	struct pollfd one = {.fd = ways[i][0], .events = POLLIN};
	poll(&one, 1, -1); /* waits */
	(void)!write(ways[1 - i][1], "x", 1);
}
int main(void)
{
	(void)!pipe(ways[0]);
	(void)!pipe(ways[1]);
	return forked(2, run);
}
""",
    "flocks": """
static void run(int i)
{
	int a = opened(i), b = opened(1 - i);
	flock(a, LOCK_EX);
	usleep(300000);
	flock(b, LOCK_EX); /* waits */
}
int main(void) { return forked(2, run); }
""",
    "ofd_locks": """
static void run(int i)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int fd = opened(0);
	lock.l_start = i;
	fcntl(fd, F_OFD_SETLKW, &lock);
	usleep(300000);
	lock.l_start = 1 - i;
	fcntl(fd, F_OFD_SETLKW, &lock); /* waits */
}
int main(void) { return forked(2, run); }
""",
    "shared_mutexes": """
static pthread_mutex_t *two;
static void run(int i)
{
	pthread_mutex_lock(&two[i]);
	usleep(300000);
	pthread_mutex_lock(&two[1 - i]); /* waits */
}
int main(void)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	two = shared(2 * sizeof(*two));
	pthread_mutex_init(&two[0], &a);
	pthread_mutex_init(&two[1], &a);
	return forked(2, run);
}
""",
    "shared_semaphores": """
static sem_t *two;
static void run(int i)
{
	sem_wait(&two[i]); /* waits */
	sem_post(&two[1 - i]);
}
int main(void)
{
	two = shared(2 * sizeof(*two));
	sem_init(&two[0], 1, 0);
	sem_init(&two[1], 1, 0);
	return forked(2, run);
}
""",
    "system_v": """
static int set;
static void run(int i)
{
	struct sembuf take = {.sem_num = i, .sem_op = -1}, give = {.sem_num = 1 - i, .sem_op = 1};
	semop(set, &take, 1); /* waits */
	semop(set, &give, 1);
}
int main(void)
{
	set = semget(IPC_PRIVATE, 2, 0600);
	return forked(2, run);
}
""",
}
IN_CPP = {
    "futures": """
int main()
{
	std::promise<int> one, two;
	std::thread t([&] {
		two.set_value(one.get_future().get()); // waits
	});
	std::future<int> answer = two.get_future();
	ready();
	one.set_value(answer.get()); // waits
	t.join();
}
""",
    "conditions": """
static std::mutex lock;
static std::condition_variable changed;
static bool is_done;
static void run()
{
	std::unique_lock<std::mutex> held(lock);
	changed.wait(held, [] { return is_done; }); // waits
}
int main()
{
	std::thread t(run), u(run);
	ready();
	t.join();
	u.join();
}
""",
    "scoped": """
static std::recursive_mutex one, two;
static void both(std::recursive_mutex &a, std::recursive_mutex &b)
{
	std::lock_guard<std::recursive_mutex> first(a);
	std::this_thread::sleep_for(std::chrono::milliseconds(200));
	std::lock_guard<std::recursive_mutex> second(b); // waits
}
int main()
{
	auto t = std::async(std::launch::async, [] { both(one, two); });
	ready();
	both(two, one);
}
""",
    "shared_mutex": """
static std::shared_mutex lock;
int main()
{
	std::shared_lock<std::shared_mutex> reads(lock);
	ready();
	std::thread t([] {
		std::unique_lock<std::shared_mutex> writes(lock); // waits
	});
	t.join();
}
""",
}
CPP_HEAD = """
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unistd.h>
static void ready() { (void)!write(1, "ready\\n", 6); }
"""
PYTHON_HEAD = """
import concurrent.futures, fcntl, logging, multiprocessing as mp, os, queue, socket, sqlite3, subprocess, sys
import threading, time
def ready():
    print("ready", flush=True)
def started(*functions):
    threads = [threading.Thread(target=f) for f in functions]
    for thread in threads:
        thread.start()
    ready()
    for thread in threads:
        thread.join()
def both(a, b):
    with a:
        time.sleep(0.3)
        with b:  # waits
            pass
"""
IN_PYTHON = {
    "locks": "a, b = threading.Lock(), threading.Lock()\nstarted(lambda: both(a, b), lambda: both(b, a))",
    "rlocks": "a, b = threading.RLock(), threading.RLock()\nstarted(lambda: both(a, b), lambda: both(b, a))",
    "lock_alone": "a = threading.Lock()\na.acquire()\nready()\na.acquire()  # waits",
    "condition": """
changed = threading.Condition()
def wait():
    with changed:
        changed.wait()  # waits
started(wait, wait)""",
    "event": """
one, two = threading.Event(), threading.Event()
def run(a, b):
    a.wait()  # waits
    b.set()
started(lambda: run(one, two), lambda: run(two, one))""",
    "queues": """
one, two = queue.Queue(), queue.Queue()
def run(a, b):
    b.put(a.get())  # waits
started(lambda: run(one, two), lambda: run(two, one))""",
    "queue_join": """
jobs = queue.Queue()
jobs.put(1)
def work():
    jobs.get()
threading.Thread(target=work).start()
ready()
jobs.join()  # waits""",
    "full_queue": """
results = queue.Queue(1)
def work():
    for i in range(3):
        results.put(i)  # waits
started(work)""",
    "py_joins": """
main = threading.current_thread()
def work():
    main.join()  # waits
worker = threading.Thread(target=work)
worker.start()
ready()
worker.join()  # waits""",
    "py_barrier": """
barrier = threading.Barrier(3)
def come():
    barrier.wait()  # waits
started(come, come)""",
    "py_semaphore": """
places = threading.BoundedSemaphore(1)
def enter():
    with places:
        with places:  # waits
            pass
started(enter)""",
    "executor": """
pool = concurrent.futures.ThreadPoolExecutor(1)
def outer():
    return pool.submit(int).result()  # waits
future = pool.submit(outer)
ready()
future.result()  # waits""",
    "mp_locks": """
if __name__ == "__main__":
    a, b = mp.Lock(), mp.Lock()
    children = [mp.Process(target=both, args=locks) for locks in ((a, b), (b, a))]
    for child in children:
        child.start()
    ready()
    for child in children:
        child.join()""",
    "mp_queue": """
def child(q):
    q.put(b"x" * 10_000_000)
if __name__ == "__main__":
    q = mp.Queue()
    p = mp.Process(target=child, args=(q,))
    p.start()
    ready()
    p.join()  # waits""",
    "mp_pipe": """
def child(c):
    c.send(b"x" * 1_000_000)  # waits
    c.recv()
if __name__ == "__main__":
    a, b = mp.Pipe()
    p = mp.Process(target=child, args=(b,))
    p.start()
    ready()
    child(a)""",
    "mp_event": """
def child(one, two):
    one.wait()  # waits
    two.set()
if __name__ == "__main__":
    one, two = mp.Event(), mp.Event()
    p = mp.Process(target=child, args=(one, two))
    p.start()
    ready()
    two.wait()  # waits
    one.set()""",
    "mp_pool": """
def work(i):
    with lock:
        return i
def begin(l):
    global lock
    lock = l
if __name__ == "__main__":
    lock = mp.Lock()
    with mp.Pool(2, begin, (lock,)) as pool:
        with lock:
            ready()
            pool.map(work, range(4))  # waits""",
    "forked_lock_py": """
lock = threading.Lock()
def hold():
    with lock:
        time.sleep(0.5)
threading.Thread(target=hold).start()
time.sleep(0.2)
child = os.fork()
if not child:
    with lock:  # waits
        os._exit(0)
ready()
os.waitpid(child, 0)""",
    "child_output": """
child = subprocess.Popen([sys.executable, "-c", "print('x' * 1000000)"], stdout=subprocess.PIPE)
ready()
child.wait()  # waits""",
    "child_input": """
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
ready()
child.stdout.read()  # waits""",
    "tcp": """
server = socket.create_server(("127.0.0.1", 0))
def client():
    with socket.create_connection(server.getsockname()) as c:
        c.recv(1)  # waits
p = mp.get_context("fork").Process(target=client)
p.start()
connection, _ = server.accept()
server.close()
ready()
connection.recv(1)  # waits""",
    "py_flocks": """
def enter(one, two):
    with open(one, "w") as f, open(two, "w") as g:
        fcntl.flock(f, fcntl.LOCK_EX)
        time.sleep(0.3)
        fcntl.flock(g, fcntl.LOCK_EX)  # waits
one, two = f"p{os.getpid()}", f"q{os.getpid()}"
child = os.fork()
ready()
enter(*((one, two) if child else (two, one)))""",
    "sqlite": """
files = [f"{name}{os.getpid()}.db" for name in ("one", "two")]
for name in files:
    sqlite3.connect(name).execute("create table if not exists t (x)")
def enter(one, two):
    a, b = sqlite3.connect(one, timeout=1000), sqlite3.connect(two, timeout=1000)
    a.execute("begin immediate")
    time.sleep(0.3)
    b.execute("begin immediate")  # waits
started(lambda: enter(*files), lambda: enter(*files[::-1]))""",
}


def written(name, text):
    os.makedirs("deadlocks", exist_ok=True)
    return programs.write(os.path.join("deadlocks", name), text)


def compiled(compiler, name, head, source, comment):
    # the line numbers are those of a file of its own, which includes the rest
    path = written(name, f'#include "{head}"' + source)
    program = path.rsplit(".", 1)[0]
    subprocess.run([compiler, "-g", "-w", "-pthread", "-o", program, path], check=True)
    return programs.Kind([program], ("DEADLOCK",), (programs.places(name, f'#include "{head}"' + source, comment),),
                         False)


def kinds():
    ret = {}
    if shutil.which("gcc"):
        written("all.h", HEAD)
        for name, source in IN_C.items():
            ret[name] = compiled("gcc", f"{name}.c", "all.h", source, "/* waits */")
    if shutil.which("g++"):
        written("all.hpp", CPP_HEAD)
        for name, source in IN_CPP.items():
            ret[name] = compiled("g++", f"{name}.cpp", "all.hpp", source, "// waits")
    for name, source in IN_PYTHON.items():
        source = PYTHON_HEAD + source
        ret[name] = programs.Kind([sys.executable, written(f"{name}.py", source)], ("DEADLOCK",),
                                  (programs.places(f"{name}.py", source, "# waits"),), False)
    return ret
