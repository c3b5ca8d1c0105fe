#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""asyncio_block.py planted|clean: a crawler that asks a service about 240 documents and digests the answers.

Planted: the coroutine calls the blocking urllib, so that the event loop stands still and requests follow one another.
Clean: the call runs in the loop's threads, 32 at a time. asyncio_block.py serve is the service: it writes its port into
the file port, and ends when it is asked to."""
import asyncio
import hashlib
import http.server
import os
import sys
import threading
import time
import urllib.request

REQUESTS = 240


class Service(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.02)  # the latency of a data base
        body = (self.path * 4096).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if self.path == "/stop":
            threading.Thread(target=self.server.shutdown).start()

    def log_message(self, *arguments):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    with open("port.new", "w", encoding="ascii") as file:
        file.write(str(server.server_port))
    os.replace("port.new", "port")
    server.serve_forever()


def fetch(url):
    with urllib.request.urlopen(url) as answer:  # PLANT
        return answer.read()


async def document(url, planted, limit):
    async with limit:
        return fetch(url) if planted else await asyncio.to_thread(fetch, url)  # PLANT


async def crawl(port, planted):
    limit = asyncio.Semaphore(32)
    urls = ["http://127.0.0.1:%d/document/%d" % (port, number) for number in range(REQUESTS)]
    return await asyncio.gather(*[document(url, planted, limit) for url in urls])


def main():
    with open("port", encoding="ascii") as file:
        port = int(file.read())
    texts = asyncio.run(crawl(port, sys.argv[1] == "planted"))
    digest = hashlib.sha256()
    for text in texts:
        digest.update(hashlib.pbkdf2_hmac("sha256", text[:64], b"crawl", 16000))
    fetch("http://127.0.0.1:%d/stop" % port)
    print(digest.hexdigest()[:16])


if sys.argv[1] == "serve":
    serve()
else:
    main()
