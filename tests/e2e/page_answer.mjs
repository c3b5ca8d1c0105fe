// SPDX-License-Identifier: Apache-2.0
// page_answer.mjs CHROMIUM FOLDER: drives job.html of the folder; summary.json, processes.json and critical.json have
// what the commands say of the same capture. Prints "ok - ..." or "not ok - ..." for each check.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';

const [chromium, folder] = process.argv.slice(2);
const VISIBLE = `[...document.querySelectorAll('main > section')].find(view => !view.hidden).id`;
const read = name => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const textOf = selector => `document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`;

function check(isGood, text, ...facts) {
	console.log(`${isGood ? 'ok' : 'not ok'} - ${text}${isGood ? '' : `: ${facts.join(' | ')}`}`
		.replaceAll('\n', '\\n'));
}

async function toOverview(page) {
	await page.get(`document.getElementById('tab-overview').click()`);
	await page.frames(3);
}

async function checkFirst(page) {
	const wanted = read('summary.json').rows.find(row => row.table === 'fix_first').Text.slice(0, 40);
	const first = await page.get(textOf('[data-card=fix_first]'));

	check(await page.get(`document.querySelector('#overview').firstElementChild.dataset.card`) === 'fix_first' &&
		first.includes(wanted), 'the page opens with what the summary says to fix first', wanted, first);
	check(/saves [\d.]+ m?s/.test(first), 'and what it saves', first);
	const hot = await page.get(textOf('[data-card=fix_first] .hot'));

	check(/[\d.]+ m?s/.test(hot) && hot.length > 10, 'with its source line and what that costs', hot);
	check(!await page.get(`document.querySelectorAll('#overview b').length`), 'whose text is no markup');
	await page.press('[data-card=fix_first] .links a');
	await page.frames(3);
	check(await page.get(VISIBLE) === 'timeline' &&
		/[1-9]\d* found/.test(await page.get(textOf('#matches'))), 'it leads to its events in the timeline',
		await page.get(textOf('#matches')));
	await toOverview(page);
	await page.press('[data-card=fix_first] .links a:nth-of-type(2)');
	check(await page.becomes(`${VISIBLE} === 'flames'`), 'and to its function in the flame graphs');
	await toOverview(page);
	await page.press('[data-card=fix_first] .links button');
	await page.frames(3);
	const source = await page.get(textOf('#sheet'));

	check(await page.get(VISIBLE) === 'tables' && /def hold\(\):/.test(source) && /import threading/.test(source),
		'and to the whole source', source);
	await page.press('#sheet .body .row a');
	check(await page.becomes(`${VISIBLE} === 'timeline'`), 'whose lines lead to their events');
}

// levers.html: the time passes through several functions, as the command has them in levers.json.
async function checkFunctions(browser) {
	const page = await browser.page(), [first] = read('levers.json').rows.filter(row => row.table === 'fix_first');

	await page.open(pathToFileURL(join(folder, 'levers.html')).href);
	await page.until(`document.documentElement && 'ready' in document.documentElement.dataset`);
	const seen = await page.get(`[...document.querySelectorAll('[data-card=fix_first] .functions tr')].map(row =>
		row.firstElementChild.innerText.split(' ').pop())`);
	const wanted = first.Frames.map(frame => frame.Function);
	const words = await page.get(textOf('[data-card=fix_first] strong'));

	check(seen.length > 1 && seen.join() === wanted.join(), 'the functions through which the time passes, as the ' +
		'summary has them', seen, wanted);
	check(/^saves [\d.]+ m?s to [\d.]+ m?s, /.test(words), 'and the interval of what a change saves', words);
	check(!page.errors.length, 'no error on its console', ...page.errors);
}

async function checkRoles(page) {
	await toOverview(page);
	const roles = await page.get(textOf('[data-card=roles]'));
	const widths = await page.get(`[...document.querySelectorAll('[data-card=roles] .stacked')].map(bar =>
		[...bar.children].reduce((sum, part) => sum + parseFloat(part.style.width), 0))`);

	check(/of 2 threads/.test(roles) && widths.length > 1 && widths.every(sum => Math.abs(sum - 100) < 0.5),
		'each role is a bar of 100 %', roles, widths);
	check(/Folded: .*start-up process/.test(roles), 'what is folded is said', roles);
	await page.press('[data-card=roles] th a');
	await page.frames(3);
	check(await page.get(VISIBLE) === 'timeline', 'a role leads to its process');
}

async function checkCritical(page) {
	await toOverview(page);
	const rows = read('critical.json'), [first] = rows;
	const card = await page.get(textOf('[data-card=critical]')), count = rows.length.toLocaleString('en-US');

	check(card.includes(`${first['Time (%)'].toFixed(1)} %`) && card.includes(`all ${count}`),
		'the critical path, as the command has it', card, JSON.stringify(first));
	await page.press('[data-card=critical] button');
	await page.frames(3);
	check(await page.get(`document.querySelector('#sheet .grid').getAttribute('aria-rowcount')`) ===
		String(rows.length + 1), 'with all of its rows as a table');
	await toOverview(page);
	await page.press('[data-card=critical] a');
	check(await page.becomes(`${VISIBLE} === 'timeline'`), 'a row leads into the timeline');
}

async function checkFolded(page) {
	const all = read('processes.json').length;
	const count = `Number(document.querySelector('#sheet .grid').getAttribute('aria-rowcount')) - 1`;

	await page.get(`document.querySelector('#list [data-name=processes]').click()`);
	await page.get(`document.getElementById('tab-tables').click()`);
	await page.frames(3);
	const few = await page.get(count);

	check(few > 0 && few <= all - 3, 'a table folds the rows of start-up', few, all);
	await page.press('#sheet [data-fold]');
	await page.frames(3);
	check(await page.get(count) === all, 'and unfolds them', await page.get(count), all);
}

async function checkTables(page) {
	const shown = `[...document.querySelectorAll('#choices button:not([hidden])')].filter(button =>
		button.offsetParent).map(button => button.dataset.name)`;
	const search = text => page.get(`(field => { field.value = ${JSON.stringify(text)};
		field.dispatchEvent(new Event('input')); })(document.getElementById('find-table'))`);
	const all = await page.get(shown), topics = await page.get(textOf('#choices'));

	check(/CPU samples and source lines[^]*The run[^]*Sources/.test(topics), 'tables are listed by topic', topics);
	await search('num calls');
	const few = await page.get(shown);

	check(few.includes('osrt_sum') && !few.includes('processes'), 'are found by a column', few);
	await search('PROCESSES');
	check((await page.get(shown)).includes('processes') && !(await page.get(shown)).includes('osrt_sum'),
		'or by the title', await page.get(shown));
	await search('');
	check((await page.get(shown)).join() === all.join() && few.length < all.length, 'and all are there again');
}

// From a frame of the program to its line.
async function checkSource(page) {
	const link = `[...document.querySelectorAll('#flame-line a')].find(a => a.textContent === 'Source')`;
	const title = `document.querySelector('#flame-line .text').textContent`, hot = textOf('#sheet .row.hot');

	await page.get(`location.hash = '#flames?metric=calls&order=callees'`);
	await page.becomes(`${VISIBLE} === 'flames' && document.getElementById('flame-order').value === 'callees'`);
	await page.get(`document.getElementById('flame-scroller').focus()`);
	for (let i = 0; i < 8 && !await page.get(`Boolean(${link})`); i++) {
		await page.key('ArrowDown');
		await page.frames(3);
	}
	const frame = await page.get(title), [, line] = /\(.*job\.py:(\d+)\)/.exec(frame) || [];

	check(line && await page.get(`Boolean(${link})`), 'a frame has its source', frame);
	await page.get(`${link}?.click()`);
	check(await page.becomes(`${VISIBLE} === 'tables' && /\\b${line}\\b/.test(${hot})`),
		'to which a click leads, with its line marked', await page.get(hot), frame);
}

async function checkFlames(page) {
	const line = `document.querySelector('#flame-line .text').textContent`;

	await page.get(`document.getElementById('tab-flames').click()`);
	await page.frames(3);
	await page.get(`[...document.querySelectorAll('#metrics button')].at(-1).click()`);
	await page.frames(3);
	const few = await page.get(line);

	await page.press('#flame-fold');
	await page.frames(3);
	check(await page.get(`document.querySelector('#metrics button').textContent`) === 'CPU samples',
		'CPU samples are the first tab');
	check(/%/.test(few) && await page.get(line) !== few, 'a flame graph folds start-up, and unfolds it',
		few, await page.get(line));
	await page.press('#flame-fold');
	await page.get(`location.hash = '#flames?metric=cpu'`);
	await page.becomes(`document.getElementById('flame-order').value === 'callees'`);
	await page.frames(3);
	const legend = textOf('#flame-legend'), few2 = await page.get(legend);
	const canvas = `document.getElementById('flame').toDataURL()`, python = await page.get(canvas);

	check(await page.get(`document.getElementById('flame-frames').value`) === 'python' && /Python/.test(few2),
		'of a Python job only Python frames are shown, coloured by kind', few2);
	await page.get(`document.getElementById('flame-scroller').focus()`);
	await page.key('ArrowDown');
	check(/^\d+ /.test(await page.get(line)) && await page.becomes(`/focus=0\\.\\d+(&|$)/.test(location.hash)`),
		'a thread is a root', await page.get(line));
	await page.get(`(s => { s.value = 'all'; s.dispatchEvent(new Event('change')); })(
		document.getElementById('flame-frames'))`);
	await page.frames(3);
	check(await page.get(canvas) !== python && /Interpreter/.test(await page.get(legend)),
		'a switch shows all of them', await page.get(legend));
	await page.get(`location.hash = '#flames?metric=calls&order=sandwich&function=clock_nanosleep'`);
	await page.becomes(`/^clock_nanosleep/.test(${line})`);
	await page.get(`[...document.querySelectorAll('#flame-line a')].at(-1).click()`);
	check(await page.becomes(`${VISIBLE} === 'timeline' && /found/.test(${textOf('#matches')})`),
		'a function leads to all of its events in the timeline', await page.get(textOf('#matches')));
}

async function checkAxe(page) {
	if (!process.env.AXE)
		return;
	await page.get(readFileSync(process.env.AXE, 'utf8'));
	const found = new Set();

	for (const theme of ['light', 'dark'])
		for (const view of ['overview', 'tables', 'flames']) {
			await page.get(`document.documentElement.dataset.theme = '${theme}'`);
			await page.get(`document.getElementById('tab-${view}').click()`);
			await page.frames(3);
			(await page.get(`axe.run(document.body).then(result => result.violations.map(v =>
				v.id + ': ' + v.nodes.slice(0, 3).map(n =>
					n.target + ' ' + n.failureSummary).join(' ; ')))`))
				.forEach(text => found.add(`${view} ${theme} ${text}`));
		}
	check(!found.size, 'axe finds no violation', ...found);
}

const browser = new Browser(chromium);

try {
	const page = await browser.page(), url = pathToFileURL(join(folder, 'job.html')).href;

	await page.open(url);
	await page.until(`document.documentElement && 'ready' in document.documentElement.dataset`);
	await checkFirst(page);
	await checkRoles(page);
	await checkCritical(page);
	await checkFolded(page);
	await checkTables(page);
	await checkFlames(page);
	await checkSource(page);
	await checkAxe(page);
	if (process.env.PILLION_PICTURES) {
		await toOverview(page);
		await page.picture(join(process.env.PILLION_PICTURES, 'answer-overview.png'));
	}
	check(!page.errors.length, 'no error on the console', ...page.errors);
	await checkFunctions(browser); // the first page is hidden then, and draws no frames
	check(page.requests.length === 1, 'no request but for itself', ...page.requests);
} catch (error) {
	check(false, 'the page is driven to the end', error.stack);
} finally {
	await browser.close();
}
