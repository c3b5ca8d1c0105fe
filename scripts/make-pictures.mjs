#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// make-pictures.mjs [PYTHON]: makes docs/pictures/summary.svg and page.webp from a recording of
// examples/pytorch/train.py by a Python that has PyTorch. Needs a build in build/, Node, and Chromium
// (CHROMIUM=PROGRAM).
import {execFileSync, spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {delimiter, dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {Browser} from '../tests/e2e/browser.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url))), pictures = join(root, 'docs/pictures');
const python = process.argv[2] ?? 'python3', work = mkdtempSync(join(tmpdir(), 'pillion-pictures-'));
const command = ['-s', 'cpu', '-o', 'train', 'python3', 'train.py'];
const LIMIT = 150000, LINE = 19, CHARACTER = 8.43, MARGIN = 16, COLUMNS = 118;

// The lines of a terminal as an SVG; the typed line and FIX FIRST are coloured.
function terminal(lines) {
	const escape = text => text.replace(/[&<>]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[c]);
	const cut = lines.map(line => line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line);
	const width = Math.round(COLUMNS * CHARACTER + 2 * MARGIN), height = lines.length * LINE + 2 * MARGIN;
	const rows = cut.map((line, i) => {
		const text = escape(line).replace(/^FIX FIRST/, '<tspan fill="#e5c07b" font-weight="bold">$&</tspan>')
			.replace(/^\$ .*/, '<tspan fill="#98c379">$&</tspan>');

		return `<text x="${MARGIN}" y="${MARGIN + 14 + i * LINE}" xml:space="preserve">${text}</text>`;
	});

	return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
		`viewBox="0 0 ${width} ${height}" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, monospace" ` +
		`font-size="14" fill="#dcdfe4">\n<title>The summary at the end of a run</title>\n` +
		`<rect width="100%" height="100%" rx="8" fill="#282c34"/>\n${rows.join('\n')}\n</svg>\n`;
}

async function picture(address, path) {
	const browser = new Browser(process.env.CHROMIUM ?? 'chromium');

	try {
		const page = await browser.page({width: 1280, height: 760});

		await page.open(address);
		await page.loaded();
		await page.frames(20);
		const {data} = await page.call('Page.captureScreenshot', {format: 'webp', quality: 80});

		writeFileSync(path, Buffer.from(data, 'base64'));
	} finally {
		await browser.close();
	}
}

const pillion = join(root, 'scripts/pillion'), job = join(work, 'pytorch');
const env = {...process.env, PYTHONWARNINGS: 'ignore', PILLION_BUILD_DIR: join(root, 'build'),
	PATH: (python.includes('/') ? dirname(python) + delimiter : '') + process.env.PATH};

// Without paths of this machine: the job is copied, and named as in the picture.
for (const folder of ['pytorch', 'python']) {
	mkdirSync(join(work, folder));
	cpSync(join(root, 'examples', folder), join(work, folder), {recursive: true});
}
const ran = spawnSync(pillion, command, {cwd: job, encoding: 'utf8', env});

if (ran.status !== 0)
	throw new Error(`${ran.stdout}${ran.stderr}`);
const shown = (ran.stdout + ran.stderr).replaceAll(`${job}/`, '').replaceAll(/\/\S*\/(site-packages\/)/g, '$1');

writeFileSync(join(pictures, 'summary.svg'),
	terminal([`$ pillion ${command.join(' ')}`, ...shown.trimEnd().split('\n')]));
// The first epoch, a little before and after it.
const epoch = execFileSync(pillion, ['stats', '-q', '-r', 'nvtx_pushpop_trace', '-f', 'csv', 'train.pillion'],
	{cwd: job, env, encoding: 'utf8'}).split('\n').map(line => line.split(',')).find(row => row[5] === 'epoch 0');
const from = Math.round(epoch[0] - epoch[2] * 0.2), to = Math.round(epoch[1] - -epoch[2] * 0.2);

execFileSync(pillion, ['export', '-t', 'html', '-o', 'train.html', 'train.pillion'], {cwd: job, env});
await picture(`${pathToFileURL(join(job, 'train.html')).href}#timeline?from=${from}&to=${to}`,
	join(pictures, 'page.webp'));
for (const name of ['summary.svg', 'page.webp']) {
	const {size} = statSync(join(pictures, name));

	console.log(`docs/pictures/${name}: ${size} bytes`);
	if (size > LIMIT)
		process.exitCode = 1;
}
rmSync(work, {recursive: true});
