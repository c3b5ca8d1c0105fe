/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in two forms: causes FORM slow, and causes FORM fixed, in which the thing to fix is repaired. Their time is
 * that of sleeps, so that it does not depend on the machine. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_fixed;

static void rest(unsigned ms)
{
	usleep(ms * 1000);
}

static void *worker(void *argument)
{
	if (!is_fixed)
		usleep(600000); /* slow worker */
	rest(100);
	return argument;
}

/* The worker is slow, but the main thread takes half of its time anyway. */
static void form_join(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, worker, NULL);
	rest(300);
	pthread_join(thread, NULL);
	rest(100);
}

/* The child makes its parent wait for a message, and then for its end. */
static void form_pipe(void)
{
	int ends[2];
	char byte;
	pid_t child;

	if (pipe(ends))
		return;
	child = fork();
	if (!child) {
		if (!is_fixed)
			usleep(500000); /* slow message */
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		rest(300);
		_exit(0);
	}
	if (read(ends[0], &byte, 1) != 1)
		return;
	rest(100);
	waitpid(child, NULL, 0);
}

/* Children that could run side by side. */
static void form_serial(void)
{
	pid_t children[4];

	for (int i = 0; i < 4; i++) {
		children[i] = fork();
		if (!children[i]) {
			rest(200); /* child */
			_exit(0);
		}
		if (!is_fixed)
			waitpid(children[i], NULL, 0); /* one after another */
	}
	for (int i = 0; is_fixed && i < 4; i++)
		waitpid(children[i], NULL, 0);
	rest(100);
}

/* A pool of two workers, or of four. */
static void form_pool(void)
{
	int workers = is_fixed ? 4 : 2;

	for (int i = 0; i < workers; i++)
		if (!fork()) {
			for (int k = 0; k < 24 / workers; k++)
				rest(50);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	rest(100);
}

/* What is slow is not on the path: to repair it saves nothing. */
static void form_slack(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, worker, NULL);
	rest(1000); /* longest */
	pthread_join(thread, NULL);
}

/* A server answers over a socket. */
static void form_socket(void)
{
	int ends[2];
	char byte = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	if (!fork()) {
		for (int i = 0; i < 3 && recv(ends[1], &byte, 1, 0) == 1; i++) {
			if (!is_fixed)
				usleep(200000); /* slow answer */
			rest(50);
			if (send(ends[1], &byte, 1, 0) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < 3; i++)
		if (send(ends[0], &byte, 1, 0) != 1 || recv(ends[0], &byte, 1, 0) != 1)
			return;
	wait(NULL);
}

/* A queue of a mutex and a condition between two threads. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *producer(void *argument)
{
	for (int i = 0; i < 5; i++) {
		if (!is_fixed)
			usleep(120000); /* slow producer */
		rest(20);
		pthread_mutex_lock(&mutex);
		items++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&mutex);
	}
	return argument;
}

static void form_queue(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, producer, NULL);
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&mutex);
		while (!items)
			pthread_cond_wait(&filled, &mutex);
		items--;
		pthread_mutex_unlock(&mutex);
		rest(10);
	}
	pthread_join(thread, NULL);
}

/* Calls that are too short for a stack. */
static void form_opens(void)
{
	for (int i = 0; i < 200000 && !is_fixed; i++)
		close(open("/dev/null", O_RDONLY)); /* short calls */
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} forms[] = {{"join", form_join},   {"pipe", form_pipe},     {"serial", form_serial},
		     {"slack", form_slack}, {"socket", form_socket}, {"queue", form_queue},
		     {"pool", form_pool},   {"opens", form_opens}};

	is_fixed = argc > 2 && !strcmp(argv[2], "fixed");
	for (size_t i = 0; argc > 1 && i < sizeof(forms) / sizeof(*forms); i++)
		if (!strcmp(forms[i].name, argv[1])) {
			forms[i].run();
			return 0;
		}
	fprintf(stderr, "usage: causes join|pipe|serial|slack|socket|queue|pool|opens [slow|fixed]\n");
	return 2;
}
