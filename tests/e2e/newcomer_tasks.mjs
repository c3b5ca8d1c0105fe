// SPDX-License-Identifier: Apache-2.0
// newcomer_tasks.mjs CHROMIUM FOLDER: the pages NAME.html of the folder, for each task of a newcomer that was recorded:
// the answer is on the first screen, and at most two clicks lead to where it happened. Prints "ok - ..." or
// "not ok - ..." for each check.
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';

const [chromium, folder] = process.argv.slice(2), pictures = process.env.PILLION_PICTURES;
const VIEW = `[...document.querySelectorAll('main > section')].find(view => !view.hidden)`;
const MOST_CLICKS = 2;

// What the first screen says, what is clicked, what that shows.
const TASKS = {
	hot: [/lines_job\.py:\d+ collate/, ['[data-card=fix_first] .links a:nth-of-type(2)'], /collate/],
	lock: [/for each other \(usleep locks\.c:\d+ work\) locks\.c:\d+ work/, ['[data-card=findings] td a'],
		/pthread_mutex_lock/],
	file: [/Files[^]*\/tmp\w+\s+[\d.]+ m?s/, ['[data-card=files] button'], /\/tmp\w+/],
	rank: [/rank 1 arrives last at MPI_Allreduce/, ['[data-card=fix_first] .links a'], /\d+ found/],
	leak: [/grows steadily[^]*job \(memory_job\.py:\d+\)/, ['[data-card=mem_alloc_sum] button'],
		/memory_job\.py:\d+/],
	diff: [/most is added by usleep at worker \([^)]*causes\.c:\d+\)/, [], /usleep/],
	deadlock: [/DEADLOCK[^]*deadlock\.c:\d+[^]*held by thread \d+[^]*deadlock\.c:\d+/,
		['[data-card=ended] a'], /pthread_mutex_lock/],
	crash: [/CRASH[^]*read_nothing \(crash\.c:\d+\)[^]*SIGSEGV/, ['#tab-ledger'], /read_nothing/],
	gap: [/host in OS call: usleep [\d.]+ m?s/, ['[data-card=findings] header a'],
		/host in OS call: usleep[^]*cuda_trouble\.c:\d+/],
	owner: [/GPU memory at its peak[^]*asks_too_much[^ ]* \(cuda_memory\.c:\d+\)/,
		['[data-card=cuda_mem_peak] button'], /asks_too_much[^]*cuda_memory\.c:\d+/],
};

function check(isGood, text, ...facts) {
	console.log(`${isGood ? 'ok' : 'not ok'} - ${text}${isGood ? '' : `: ${facts.join(' | ')}`}`
		.replaceAll('\n', '\\n'));
}

async function doTask(page, name, [first, clicks, then]) {
	const isReady = `document.documentElement && ('ready' in document.documentElement.dataset ||
		document.readyState === 'complete' && !document.getElementById('overview'))`;
	const seen = async () => page.get(`(${VIEW} ?? document.body).innerText`);

	await page.open(pathToFileURL(join(folder, `${name}.html`)).href);
	await page.until(isReady);
	await page.frames(3);
	check(first.test(await seen()), `${name}: the first screen has the answer`, await seen());
	if (pictures)
		await page.picture(join(pictures, `newcomer-${name}.png`));
	if (process.env.AXE) {
		await page.get(readFileSync(process.env.AXE, 'utf8'));
		const found = await page.get(`axe.run(document.body).then(result => result.violations.map(v => v.id))`);

		check(!found.length, `${name}: axe finds no violation`, ...found);
	}
	for (const selector of clicks) {
		await page.press(selector);
		await page.frames(3);
	}
	check(clicks.length <= MOST_CLICKS && then.test(await seen()), `${name}: clicks lead to it`, await seen());
	if (pictures && clicks.length)
		await page.picture(join(pictures, `newcomer-${name}-2.png`));
}

// The screens of the terminal as pictures.
async function drawScreen(page, path) {
	await page.get(`document.body.replaceChildren(Object.assign(document.createElement('pre'),
		{textContent: ${JSON.stringify(readFileSync(path, 'utf8'))}}))`);
	await page.picture(join(pictures, `newcomer-${basename(path, '.txt')}-terminal.png`));
}

const browser = new Browser(chromium), errors = [];

try {
	for (const [name, task] of Object.entries(TASKS))
		if (existsSync(join(folder, `${name}.html`))) {
			const page = await browser.page({width: 1280, height: 900});

			await doTask(page, name, task);
			errors.push(...page.errors);
			await page.close();
		}
	if (pictures) {
		const page = await browser.page({width: 900, height: 700});

		for (const file of readdirSync(join(folder, 'pictures')).filter(file => file.endsWith('.txt')))
			await drawScreen(page, join(folder, 'pictures', file));
	}
	check(!errors.length, 'no error on the consoles', ...errors);
} catch (error) {
	check(false, 'the pages are driven to the end', error.stack);
} finally {
	await browser.close();
}
