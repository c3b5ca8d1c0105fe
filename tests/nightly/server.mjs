// SPDX-License-Identifier: Apache-2.0
// An HTTP server and its clients, threads, children, files and signals.
import { createServer, request } from 'node:http';
import { Worker } from 'node:worker_threads';
import { execFile, fork } from 'node:child_process';
import { promises as fs } from 'node:fs';
import { createHash } from 'node:crypto';

if (process.argv[2] === 'child') {
	process.on('message', (n) => process.send(n * 2, () => process.disconnect()));
} else {
	const server = createServer((q, r) => r.end(createHash('sha256').update(q.url).digest('hex')));
	await new Promise((go) => server.listen(0, '127.0.0.1', go));
	const get = (path) => new Promise((go, no) => request({ port: server.address().port, host: '127.0.0.1', path },
		(r) => {
		let text = '';
		r.on('data', (d) => (text += d)).on('end', () => go(text));
	}).on('error', no).end());
	const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => get('/' + i)));
	console.log(createHash('sha256').update(answers.join()).digest('hex'));
	server.close();

	const job = "const { parentPort, workerData } = require('node:worker_threads'); let n = 0; " +
	"for (let i = 0; i < 2e6; i++) n += i % workerData; parentPort.postMessage(n)";
	console.log(await Promise.all([3, 5, 7].map((d) =>
		new Promise((go, no) => new Worker(job, { eval: true, workerData: d }).on('message', go).on('error',
		no)))));
	console.log(await Promise.all([1, 2, 3].map((n) => new Promise((go) => {
		const c = fork(process.argv[1], ['child']);
		let got;
		c.on('message', (m) => (got = m)).on('exit', (code) => go([code, got]));
		c.send(n);
	}))));
	console.log(await new Promise((go) => execFile('sh', ['-c', 'echo out; echo err >&2; exit 3'], (e, out, err) =>
		go([e.code, out, err]))));
	await Promise.all(Array.from({ length: 50 }, (_, i) => fs.writeFile('f' + i, 'x'.repeat(i * 1000))));
	console.log((await Promise.all(Array.from({ length: 50 }, async (_, i) =>
		(await fs.stat('f' + i)).size))).reduce((a, b) => a + b));
	process.on('SIGUSR2', () => { console.log('signal'); clearInterval(alive); });
	const alive = setInterval(() => {}, 1000);
	process.kill(process.pid, 'SIGUSR2');
}
