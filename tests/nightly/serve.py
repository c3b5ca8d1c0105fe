# SPDX-License-Identifier: Apache-2.0
"""serve.py CLASS: gunicorn with workers of this class, which serves many clients, is reloaded, and ends."""
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request

PATH = os.path.join(os.getcwd(), 'socket')


def app(environ, start_response):
    body = (hashlib.sha256(environ['PATH_INFO'].encode()).hexdigest() * 20).encode()
    time.sleep(0.001)
    start_response('200 OK', [('Content-Length', str(len(body)))])
    return [body]


def ask(port, name):
    for _ in range(3):  # a worker that is being reloaded may close the connection
        try:
            with urllib.request.urlopen('http://127.0.0.1:%d/%s' % (port, name), timeout=30) as answer:
                return answer.read()
        except OSError:
            time.sleep(0.2)
    return b'none'


def ask_all(port, answers):
    def some(first):
        for i in range(first, first + 25):
            answers[i] = ask(port, i)
    threads = [threading.Thread(target=some, args=(25 * k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return hashlib.sha256(b''.join(answers[i] for i in range(200))).hexdigest()


def port_of(log):
    for line in log:
        if 'Listening at' in line:
            port = int(line.split('127.0.0.1:')[1].split()[0])
            threading.Thread(target=log.read, daemon=True).start()
            return port
    sys.exit('it did not start')


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    server = subprocess.Popen([sys.executable, '-B', '-m', 'gunicorn', '-k', sys.argv[1], '-w', '3', '-b',
        '127.0.0.1:0', '--threads', '2', '--no-control-socket',
                               '--chdir', os.path.dirname(os.path.abspath(__file__)), 'serve:app'],
                               stderr=subprocess.PIPE, text=True)
    port = port_of(server.stderr)
    print(ask_all(port, {}))
    server.send_signal(signal.SIGHUP)
    time.sleep(1)
    print(ask_all(port, {}))
    server.send_signal(signal.SIGTERM)
    print('status', server.wait(60))
