// SPDX-License-Identifier: Apache-2.0
// diff_page.mjs CHROMIUM KIND PAGE ROWS: opens a page of diff -f html, drives it, and prints "ok - ..." or "not ok -
// ..." for each check. ROWS: the table of the same comparison as JSON. PILLION_PICTURES names a folder for pictures.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';

const [chromium, kind, file, rowsFile] = process.argv.slice(2);
const [total, ...rows] = JSON.parse(readFileSync(rowsFile, 'utf8'));
const NAMES = `[...document.querySelectorAll('.body [role=row]')].map(row => row.firstChild.textContent)`;
const LINE = `document.getElementById('flame-line').textContent`;
const CHANGED = ['slower', 'faster', 'new', 'vanished'];
const WHOLE = ['wall time', 'CPU time']; // of the run: no functions

function check(isGood, text, ...facts) {
	console.log(`${isGood ? 'ok' : 'not ok'} - ${kind}: ${text}${isGood ? '' : `: ${facts.join(' | ')}`}`
		.replaceAll('\n', '\\n'));
}

async function open(page, url) {
	await page.open(url);
	await page.until(`document.documentElement && 'ready' in document.documentElement.dataset`);
	await page.frames(3);
}

async function checkVerdict(page) {
	const text = await page.get(`document.getElementById('verdict').innerText`);
	const tiles = await page.get(`document.getElementById('tiles').innerText`);

	check(text.includes(total.Verdict) && /gate 3\.0 %/.test(text), 'the verdict is on top, with its reason', text);
	check(/Before\n/.test(tiles) && /After\n/.test(tiles) && /Gate\n3\.0 %/.test(tiles), 'its figures', tiles);
}

// Scrolls through the table: cells by title, in the order of the page.
async function readRows(page) {
	return page.get(`(async () => {
		const grid = document.querySelector('[role=table]'), rows = new Map();
		const frame = () => new Promise(requestAnimationFrame);
		const titles = [...grid.querySelectorAll('[role=columnheader]')].map(head => head.firstChild.title);
		for (let top = 0; ; top += grid.clientHeight - 60) {
			grid.scrollTop = top;
			await frame(); await frame();
			for (const row of grid.querySelectorAll('.body [role=row]'))
				rows.set(Number(row.getAttribute('aria-rowindex')), Object.fromEntries(
					[...row.children].map((cell, i) => [titles[i], / \\(ns\\)$/.test(titles[i])
						? {shown: cell.textContent, exact: cell.title} : cell.textContent])));
			if (top + grid.clientHeight >= grid.scrollHeight)
				break;
		}
		grid.scrollTop = 0;
		return [...rows].sort((a, b) => a[0] - b[0]).map(([, cells]) => cells);
	})()`);
}

async function checkRows(page) {
	const shown = await readRows(page), isSure = row => CHANGED.includes(row.Verdict);
	const wanted = [...rows.filter(isSure), ...rows.filter(row => !isSure(row))];
	const text = ({Name: name, Verdict: verdict, 'Change (%)': change}) =>
		`${name} ${verdict} ${Number(String(change ?? 0).replaceAll(',', '')).toFixed(1)}`;

	check(shown.length === wanted.length && shown.every((row, i) => text(row) === text(wanted[i])),
		`${wanted.length} rows, changed ones first`, shown.length, shown.slice(0, 3).map(text),
		wanted.slice(0, 3).map(text));
	const times = shown.map(row => row['After (ns)']), facts = JSON.stringify(times.slice(0, 3));
	const isRight = ({exact}, i) => / ns$/.test(exact) &&
		Math.abs(parseFloat(exact.replaceAll(',', '')) - wanted[i]['After (ns)']) <= 0.6;

	check(times.every(isRight), 'times with all of their digits', facts);
	check(times.every(time => time.shown === '0' || /^[\d.]+ (n|µ|m)?s$/.test(time.shown)),
		'and with a unit that suits each', facts);
}

async function checkSorting(page) {
	const titles = await page.get(`[...document.querySelectorAll('[role=columnheader]')].map(h => h.textContent)`);
	const column = titles.findIndex(title => title.startsWith('After'));
	const most = rows.reduce((a, b) => b['After (ns)'] > a['After (ns)'] ? b : a);

	await page.press(`[role=columnheader]:nth-child(${column + 1}) button`);
	const [first] = await page.get(NAMES);

	check(first === most.Name, 'sorted by the time after', first, most.Name);
	await page.get(`document.querySelector('.sheet input').focus()`);
	await page.type(rows[0].Name);
	await page.frames(3);
	const kept = await page.get(NAMES);

	check(kept.length && kept.every(name => name.includes(rows[0].Name)), 'filtered by a name', kept);
	await page.get(`(field => { field.value = ''; field.dispatchEvent(new Event('input')); })(
		document.querySelector('.sheet input'))`);
	await page.frames(3);
}

// A row's link shows its function; both sides, by pointer and by keys.
async function checkFlame(page) {
	const name = rows.find(row => CHANGED.includes(row.Verdict) && !WHOLE.includes(row.Name)).Name;
	const quoted = JSON.stringify(name);

	await page.get(`[...document.querySelectorAll('.body a')].find(a => a.textContent === ${quoted}).click()`);
	check(await page.becomes(`!document.getElementById('flames').hidden &&
		document.getElementById('flame-search').value === ${quoted}`), 'a row leads to the flame graph');
	await page.frames(3);
	const whole = await page.get(LINE), picture = `document.getElementById('flame').toDataURL()`;

	check(/ before, .* after: [+−].* %, [+−].* % of all/.test(whole), 'all of both sides', whole);
	await page.get(`document.getElementById('flame-scroller').focus()`);
	await page.key('ArrowDown');
	await page.frames(3);
	const down = await page.get(LINE), after = await page.get(picture);

	check(down !== whole && / before, /.test(down), 'the arrow keys go to what was called', down);
	await page.key('Escape');
	await page.press('#before');
	check(await page.get(picture) !== after && (await page.get(LINE)) === whole,
		'the other side has the same figures', await page.get(LINE));
	await page.press('#tab-changes');
	check(await page.get(`document.getElementById('flames').hidden`), 'and back');
}

async function checkScreens(browser, url) {
	const page = await browser.page({width: 390, height: 800, isDark: true});
	const wide = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;

	await open(page, url);
	check(await page.get(wide) <= 0, 'nothing is cut on a phone', await page.get(wide));
	if (process.env.PILLION_PICTURES)
		await page.picture(join(process.env.PILLION_PICTURES, `diff-${kind}-phone.png`));
	await page.close();
}

async function checkWithoutScript(browser, url) {
	const page = await browser.page({hasScript: false});

	await page.open(url);
	await page.loaded();
	const {root} = await page.call('DOM.getDocument', {depth: 0});
	const {nodeId} = await page.call('DOM.querySelector', {nodeId: root.nodeId, selector: 'noscript'});
	const {outerHTML} = await page.call('DOM.getOuterHTML', {nodeId});

	check(outerHTML.includes(`${total.Verdict}: `), 'without script: the verdict as text', outerHTML.slice(0, 200));
	await page.close();
}

async function checkAxe(page) {
	if (!process.env.AXE)
		return;
	const violations = new Set();

	await page.get(readFileSync(process.env.AXE, 'utf8'));
	for (const [theme, rules] of [['light', {}], ['dark', {runOnly: ['color-contrast']}]])
		for (const view of ['changes', 'flames']) {
			await page.get(`document.documentElement.dataset.theme = '${theme}'`);
			await page.get(`document.getElementById('tab-${view}').click()`);
			await page.frames(3);
			const found = await page.get(`axe.run(document.body, ${JSON.stringify(rules)}).then(result =>
				result.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n =>
					n.target + ' ' + n.failureSummary).join(' ; ')))`);

			found.forEach(text => violations.add(`${view} ${theme} ${text}`));
		}
	check(!violations.size, 'axe finds no violation', ...violations);
	await page.get(`document.documentElement.dataset.theme = 'auto'`);
}

async function pictures(page) {
	if (!process.env.PILLION_PICTURES)
		return;
	for (const view of ['changes', 'flames']) {
		await page.get(`document.getElementById('tab-${view}').click()`);
		await page.frames(4);
		await page.picture(join(process.env.PILLION_PICTURES, `diff-${kind}-${view}.png`));
	}
}

async function run(browser) {
	const url = pathToFileURL(file).href;

	await checkWithoutScript(browser, url);
	await checkScreens(browser, url);
	const page = await browser.page();

	await open(page, url);
	await checkVerdict(page);
	await checkRows(page);
	await checkSorting(page);
	if (kind === 'worse' || kind === 'three')
		await checkFlame(page);
	if (kind === 'worse')
		await checkAxe(page);
	if (kind === 'hostile')
		check(!await page.get(`document.querySelectorAll('img, iframe').length`), 'names are text');
	await pictures(page);
	check(!page.errors.length, 'no error on the console', ...page.errors);
	check(page.requests.every(request => request.split('#')[0] === url), 'no request but for itself',
		...page.requests);
}

const browser = new Browser(chromium);

try {
	await run(browser);
} catch (error) {
	check(false, 'the page is driven to the end', error.stack);
} finally {
	await browser.close();
}
