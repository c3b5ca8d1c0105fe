#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gunicorn_config.py: a service that computes shipping rates: gunicorn 'gunicorn_config:make("planted")'.

Planted: each request reads and parses the table of rates. Clean: it is read once, when a worker starts. As a program,
gunicorn_config.py client PIDFILE sends it requests over the socket rates.sock and ends it by SIGTERM."""
import hashlib
import http.client
import json
import os
import signal
import socket
import sys
import threading
import time

REQUESTS, CLIENTS = 400, 2


def write_table():
    rates = {"%05d" % code: [code % 97 / 7, code % 13, "zone %d" % (code % 5)] for code in range(20000)}
    with open("rates.json.%d" % os.getpid(), "w", encoding="ascii") as file:
        json.dump(rates, file)
    os.replace(file.name, "rates.json")


def read_table():
    with open("rates.json", encoding="ascii") as file:
        return json.load(file)  # PLANT


def make(variant):
    write_table()
    kept = None if variant == "planted" else read_table()

    def application(environ, start_response):
        table = read_table() if kept is None else kept  # PLANT
        code = environ["PATH_INFO"].strip("/")
        price, days, zone = table[code]
        token = hashlib.pbkdf2_hmac("sha256", code.encode(), b"rates", 9000).hex()[:8]
        body = ("%.2f %d %s %s\n" % (price, days, zone, token)).encode()
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
        return [body]

    return application


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect("rates.sock")


def send_requests(first, answers):
    for number in range(first, REQUESTS, CLIENTS):
        connection = Connection("localhost")
        connection.request("GET", "/%05d" % (number * 37))
        answers[number] = connection.getresponse().read()
        connection.close()


def client(pid_file):
    while not (os.path.exists("rates.sock") and os.path.exists(pid_file)):
        time.sleep(0.05)
    answers = [b""] * REQUESTS
    threads = [threading.Thread(target=send_requests, args=(first, answers)) for first in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(hashlib.sha256(b"".join(answers)).hexdigest()[:16])
    with open(pid_file, encoding="ascii") as file:
        os.kill(int(file.read()), signal.SIGTERM)


if __name__ == "__main__":
    client(sys.argv[2])
