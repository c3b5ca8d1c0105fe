#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""asyncio_block.py planted|clean: a crawler that asks a local service about 240 documents and digests the answers.

Planted: the coroutine calls the blocking urllib, so that the event loop stands still and requests follow one another.
Clean: the call runs in the loop's threads, 32 at a time."""
import asyncio
import hashlib
import http.server
import multiprocessing
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

    def log_message(self, *arguments):
        pass


def serve(port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    port.send(server.server_port)
    threading.Thread(target=server.serve_forever).start()
    port.recv()
    server.shutdown()


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
    parent, child = multiprocessing.Pipe()
    service = multiprocessing.Process(target=serve, args=(child,))
    service.start()
    texts = asyncio.run(crawl(parent.recv(), sys.argv[1] == "planted"))
    parent.send("stop")
    service.join()
    digest = hashlib.sha256()
    for text in texts:
        digest.update(hashlib.pbkdf2_hmac("sha256", text[:64], b"crawl", 16000))
    print(digest.hexdigest()[:16])


main()
