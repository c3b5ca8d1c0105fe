// SPDX-License-Identifier: Apache-2.0
// export_html.mjs CHROMIUM KIND PAGE TABLES: opens a page of export -t html, drives it, and prints "ok - ..." or
// "not ok - ..." for each check. KIND: job, cuda, hostile or large. TABLES: a folder with the same capture's tables as
// csv. PILLION_PICTURES names a folder for pictures of the views.
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';
import {checkActions} from './export_html_actions.mjs';
import {checkLinks} from './export_html_links.mjs';

const [chromium, kind, file, folder] = process.argv.slice(2);
const HOSTILE = '<img src=x onerror=alert(1)>';

function check(isGood, text, ...facts) {
	console.log(`${isGood ? 'ok' : 'not ok'} - ${kind}: ${text}${isGood ? '' : `: ${facts.join(' | ')}`}`
		.replaceAll('\n', '\\n'));
}

// The rows of a csv text.
function parse(text) {
	const records = [[]];

	for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)) {
		records.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
		if (end === '\n')
			records.push([]);
		else if (end === '')
			break;
	}
	return records.filter(record => record.length > 1 || record[0]);
}

// ---- the tables ----

// A table of stats: records by title.
function table(name) {
	const [titles, ...rows] = parse(readFileSync(join(folder, `${name}.csv`), 'utf8'));

	return rows.map(row => Object.fromEntries(titles.map((title, i) => [title, row[i]])));
}

// Shows a table and scrolls through all of it: its cells by row number, in a common format.
const READ_TABLE = `(async name => {
	document.querySelector('#list [data-name="' + name + '"]').click();
	document.querySelector('#sheet [data-fold]')?.click();
	const grid = document.querySelector('#sheet [role=table]'), rows = new Map();
	const frame = () => new Promise(requestAnimationFrame);
	await frame(); await frame();
	for (let top = 0; ; top += grid.clientHeight - 60) {
		grid.scrollTop = top;
		await frame(); await frame();
		for (const row of grid.querySelectorAll('.body [role=row]'))
			rows.set(Number(row.getAttribute('aria-rowindex')), [...row.children].map(cell =>
				cell.className !== 'number' ? cell.textContent
					: (cell.title || cell.textContent).replace(/,| (ns|MB)$/g, '')));
		if (top + grid.clientHeight >= grid.scrollHeight)
			break;
	}
	return {titles: [...grid.querySelectorAll('[role=columnheader]')].map(head => head.firstChild.title),
		cells: [...rows].sort((a, b) => a[0] - b[0]).map(([, cells]) => cells)};
})`;

async function checkTables(page) {
	const names = readdirSync(folder).map(name => name.replace(/\.csv$/, ''));
	/* page_answer.mjs drives the critical path and the sources. */
	const shown = await page.get(`[...document.querySelectorAll('#list button')].map(b => b.dataset.name)
		.filter(name => name !== 'critical' && !name.startsWith('source:'))`);
	const wrong = [];

	await page.get(`document.getElementById('tab-tables').click()`);
	for (const name of names) {
		const [titles, ...wanted] = parse(readFileSync(join(folder, `${name}.csv`), 'utf8'));
		const table = shown.includes(name) ? await page.get(`${READ_TABLE}(${JSON.stringify(name)})`)
			: {titles: [], cells: []};
		/* in the page the name is first */
		const rows = table.cells.map(cells => titles.map(title => cells[table.titles.indexOf(title)]));

		/* sizes are exact in csv, and have three decimals in the page */
		for (const row of wanted)
			titles.forEach((title, i) => {
				if (/\(MB(\/s)?\)$/.test(title) && row[i])
					row[i] = Number(row[i]).toFixed(3);
			});
		if (JSON.stringify(rows) !== JSON.stringify(wanted))
			wrong.push(`${name}: ${rows.length} rows for ${wanted.length}, ` +
				`e.g. ${rows[0]} for ${wanted[0]}`);
	}
	check(shown.length > 2 && names.length === shown.length && !wrong.length,
		`${shown.length} tables, row by row those of stats`,
		`${names.length} wanted`, ...wrong);
}

async function checkSortAndFilter(page) {
	await page.get(`document.querySelector('#list [data-name=osrt_sum]').click()`);
	await page.frames(3);
	const column = `[...document.querySelectorAll('#sheet .body [role=row]')]
		.map(row => row.firstChild.textContent)`;
	const before = await page.get(column);

	await page.get(`document.querySelector('#sheet [role=columnheader]:first-child button').click()`);
	await page.frames(3);
	const after = await page.get(column);

	// Only the rows in view exist: those of a long table are others after it is sorted.
	check(JSON.stringify(after) === JSON.stringify([...after].sort()) &&
		JSON.stringify(before) !== JSON.stringify([...before].sort()), 'a table sorts by name', after);
	await page.get(`document.querySelector('#sheet input').focus()`);
	await page.type(before[0]);
	await page.frames(3);
	const kept = await page.get(column);

	check(kept.length && kept.every(name => name.includes(before[0])), 'a table filters', kept);
}

// ---- the timeline ----

// With the ruler: a part of the time may be without events.
const PICTURE = `['ruler', 'lanes'].map(id => document.getElementById(id).toDataURL()).join()`;
const HEIGHT = `document.getElementById('extent').offsetHeight`;
const SEEN = `document.getElementById('seen').textContent`;

async function press(page, ...keys) {
	for (const key of keys) {
		await page.key(key);
		await page.frames(3);
	}
}

async function checkTimeline(page) {
	const calls = parse(readFileSync(join(folder, 'osrt_sum.csv'), 'utf8')).slice(1).map(row =>
		[row[8], Number(row[2])]);
	const [name] = calls[0], wanted = calls.filter(([other]) => other.toLowerCase().includes(name.toLowerCase()))
		.reduce((sum, [, count]) => sum + count, 0);

	await page.get(`document.getElementById('tab-timeline').click()`);
	await page.frames(5);
	const whole = await page.get(PICTURE), seen = await page.get(SEEN);

	await press(page, 'w', 'w', 'w');
	const near = await page.get(PICTURE), nearSeen = await page.get(SEEN);

	check(near !== whole && nearSeen !== seen, 'w zooms', seen, nearSeen);
	await press(page, 'd');
	check(await page.get(PICTURE) !== near, 'd moves');
	await press(page, '0');
	check(await page.get(SEEN) === seen, '0 shows the whole timeline again', seen, await page.get(SEEN));
	await press(page, '/');
	check(await page.get(`document.activeElement.id`) === 'search', '/ focuses the search');
	await page.type(name);
	await page.frames(3);
	const found = await page.get(`document.getElementById('matches').textContent`);

	check(Number(found.replace(/\D/g, '')) >= wanted, `the search finds the ${wanted} calls of ${name}`, found);
	await press(page, 'Enter');
	const first = await page.get(`document.getElementById('details').innerText`);

	check(first.includes(name) && await page.get(SEEN) !== seen, 'Enter goes to the first', first);
	await press(page, 'Enter');
	check(wanted < 2 || await page.get(`document.getElementById('details').innerText`) !== first,
		'Enter goes to the next');
	await press(page, 'Escape', 'ArrowRight', 'm');
	check(/selected/.test(await page.get(`document.getElementById('measure').textContent`)),
		'm selects the time of an event');
	if (process.env.PILLION_PICTURES)
		await page.picture(join(process.env.PILLION_PICTURES, `${kind}-timeline.png`));
	const tall = await page.get(HEIGHT);

	await press(page, 'c');
	check(await page.get(HEIGHT) < tall, 'c folds');
	await press(page, 'c');
	check(await page.get(HEIGHT) === tall, 'c unfolds');
	await press(page, 'Escape', '0');
	check(await page.get(`document.getElementById('details').hidden`), 'Escape selects nothing');
	await press(page, '?');
	check(await page.get(`document.getElementById('help').open`), '? shows the keys');
	await page.get(`document.getElementById('help').close()`);
}

async function checkDevices(page) {
	await page.get(`document.getElementById('tab-timeline').click()`);
	await page.frames(3);
	await press(page, '/');
	await page.type('add(');
	await press(page, 'Enter');
	const kernel = await page.get(`document.getElementById('details').innerText`);

	check(/Kernel/.test(kernel) && /stream \d/.test(kernel) && /256 × 1 × 1/.test(kernel),
		'a kernel is found on its stream', kernel);
	check(/Go to its call/.test(kernel), 'a kernel links to its launch', kernel);
	await page.get(`document.querySelector('#details button').click()`);
	await page.frames(3);
	const call = await page.get(`document.getElementById('details').innerText`);

	check(/LaunchKernel/.test(call) && /add\(float\*, int\)/.test(call) && /Go to its work/.test(call),
		'and leads to it', call);
	await page.get(`document.querySelector('#details button').click()`);
	await page.frames(3);
	check(await page.get(`document.getElementById('details').innerText`) === kernel, 'a launch links back');
	await press(page, 'Escape');
	const tiles = await page.get(`document.querySelector('.tiles').textContent`);

	const wall = Math.max(...parse(readFileSync(join(folder, 'processes.csv'), 'utf8')).slice(1).map(row =>
		+row[4] + +row[5])) / 1e6;
	const shown = Number(/Wall time([\d.]+) ms/.exec(tiles)?.[1]);

	check(Math.abs(shown - wall) < wall / 900, 'the wall time, as in the summary', tiles, wall);
	check(/GPU busy\d+\.\d %/.test(tiles) && /Device memory1\.1 MB/.test(tiles),
		'how busy the GPU was, and its memory', tiles);
}

async function checkPointer(page) {
	/* What was found last may have been further down: which process was the next to do it is chance. */
	await page.get(`document.getElementById('scroller').scrollTop = 0`);
	await page.frames(3);
	const box = await page.get(`(({left, top, width}) => ({left, top, width}))(
		document.getElementById('lanes').getBoundingClientRect())`);
	const middle = box.left + 220 + (box.width - 220) / 2;
	const tall = await page.get(HEIGHT), before = await page.get(PICTURE);

	await page.drag(middle, box.top + 60, middle - 200, box.top + 60, 8);
	await page.frames(3);
	check(await page.get(PICTURE) !== before, 'Shift and dragging moves');
	await page.click(box.left + 60, box.top + 12);
	check(await page.becomes(`${HEIGHT} < ${tall}`), 'a click on a process folds it');
	const folded = await page.get(HEIGHT);

	await page.click(box.left + 60, box.top + 12);
	check(await page.becomes(`${HEIGHT} === ${tall}`) && folded < tall, 'another click unfolds it');
	await page.get(`document.getElementById('fit').click()`);
	await page.frames(3);
	/* Along one of the first lanes there is something to point at. */
	for (let y = 37; y < 130; y += 19)
		for (let x = box.left + 230; x < box.left + box.width &&
			!/ · /.test(await page.get(`document.getElementById('tip').innerText`)); x += 12) {
			await page.call('Input.dispatchMouseEvent', {type: 'mouseMoved', x, y: box.top + y});
			await page.frames(1);
		}
	check(/ · /.test(await page.get(`document.getElementById('tip').innerText`)),
		'a pointer is told what it is on');
}

// tests/bench/run page measures the speed.
async function checkPanning(page) {
	await page.get(`document.getElementById('tab-timeline').click(); document.getElementById('fit').click()`);
	for (let zoom = 0; zoom < 9; zoom++) {
		await page.frames(2);
		const before = await page.get(PICTURE);

		await page.get(`document.getElementById('scroller').dispatchEvent(new WheelEvent('wheel',
			{deltaX: 200, bubbles: true, cancelable: true}))`);
		await page.frames(2);
		if (zoom % 4 === 3)
			check(await page.get(PICTURE) !== before, `the wheel moves at zoom ${zoom}`);
		await page.get(`document.getElementById('zoom-in').click()`);
	}
}

// ---- the rest ----

async function checkFlames(page) {
	await page.get(`document.getElementById('tab-flames').click()`);
	await page.frames(4);
	const line = `document.getElementById('flame-line').textContent`, all = await page.get(line);

	await page.get(`document.getElementById('flame-scroller').focus()`);
	await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown');
	const inner = await page.get(line);

	check(all.includes('100.0 %') && inner !== all, 'keys navigate the flame graph', all, inner);
}

// Samples show the program's own function with its stack.
async function checkSamples(page) {
	await page.get(`document.getElementById('tab-timeline').click()`);
	await page.frames(3);
	await press(page, '/');
	await page.type('burn (');
	await press(page, 'Enter');
	const details = await page.get(`document.getElementById('details').innerText`);

	check(/CPU sample/.test(details) && /Stack/.test(details) &&
		/work \(/.test(details), 'samples are on the timeline, with their stacks', details);
	await press(page, 'Escape');
}

async function checkTheme(page) {
	const color = `getComputedStyle(document.body).backgroundColor`, colors = new Set();

	for (let i = 0; i < 3; i++) {
		colors.add(await page.get(color));
		await page.get(`document.getElementById('theme').click()`);
		await page.frames(2);
	}
	check(colors.size === 2, 'dark and light', [...colors]);
}

async function checkHostile(page) {
	const text = await page.get(`document.getElementById('overview').innerText + document.title +
		document.querySelector('h1').textContent`);
	const strange = await page.get(`[...document.querySelectorAll('img, script:not(:last-of-type), iframe, object')]
		.length`);

	check(text.split(HOSTILE).length > 4 && !strange, 'names with markup are shown as text', strange, text);
	await page.get(`document.getElementById('tab-timeline').click()`);
	await page.frames(3);
	await press(page, '/');
	await page.type(HOSTILE);
	await press(page, 'Enter');
	check((await page.get(`document.querySelector('#details h2').textContent`)).includes(HOSTILE),
		'in the timeline, too');
}

async function checkWithoutScript(browser, url) {
	const page = await browser.page({hasScript: false});

	await page.open(url);
	await page.loaded();
	const {root} = await page.call('DOM.getDocument', {depth: 1});
	const {nodeId} = await page.call('DOM.querySelector', {nodeId: root.nodeId, selector: 'noscript pre'});
	const {outerHTML} = nodeId ? await page.call('DOM.getOuterHTML', {nodeId}) : {outerHTML: ''};

	check(/\d m?s, \d+ process/.test(outerHTML) && !outerHTML.includes('<img'), 'a summary without JavaScript',
		outerHTML);
}

// Each rule once, with the same verdict and number of rows as in `analyze`.
async function checkFindings(page) {
	const wanted = Object.entries(JSON.parse(readFileSync(file.replace(/\.html$/, '.findings.json'), 'utf8')))
		.map(([rule, rows]) => `${rule} ${rows[0].Verdict.split(':')[0]} ` +
			`${rows[0].Verdict === 'found' ? rows.length : 0}`).sort();

	await page.get(`document.getElementById('tab-findings').click()`);
	await page.frames(2);
	const shown = await page.get(`[...document.querySelectorAll('#findings .finding')]
		.map(e => e.dataset.rule + ' ' +
		{found: 'found', clean: 'clean', unchecked: 'could not check'}[e.dataset.verdict] + ' ' +
		(e.querySelector('[role=table]') ?
			Number(e.querySelector('[role=table]').getAttribute('aria-rowcount')) - 1 : 0)).sort()`);

	check(JSON.stringify(shown) === JSON.stringify(wanted), `${shown.length} rules as in analyze`,
		shown.join(), wanted.join());
}

// Each row with an intensity is a point, and one ceiling and one line of the memory are above them.
async function checkRoofline(page) {
	const names = table('roofline').map(row => row.Name);

	await page.get(`document.getElementById('tab-overview').click()`);
	await page.frames(2);
	const points = await page.get(`[...document.querySelectorAll('.roofline .point title')]
		.map(e => e.textContent)`);
	const shown = await page.get(`document.querySelector('.roofline').textContent`);

	check(points.length === names.length && names.every(name => points.some(text => text.startsWith(`${name}: `))),
		'a point for each kernel', points, names);
	check(/fp32 30\.7 TFLOP\/s/.test(shown) && /memory 1638 GB\/s/.test(shown), 'the peak rate and the bandwidth',
		shown);
	check(await page.get(`document.querySelectorAll('.roofline .roof').length`) === 2, 'as lines above the points');
	const inside = await page.get(`[...document.querySelectorAll('.roofline .point')].every(e =>
		e.cx.baseVal.value >= 84 && e.cx.baseVal.value <= 980 && e.cy.baseVal.value >= 26 &&
		e.cy.baseVal.value <= 372)`);

	check(inside, 'the points are within the axes');
	await page.get(`[...document.querySelectorAll('#overview .card')].find(e => e.querySelector('.roofline'))
		.querySelector('button').click()`);
	await page.frames(2);
	check(await page.get(`document.querySelector('#list [aria-pressed=true]').dataset.name`) === 'roofline',
		'its button shows the table');
	await page.get(`document.getElementById('tab-overview').click()`);
	await page.get(`document.querySelector('.roofline a').dispatchEvent(new MouseEvent('click', {bubbles: true}))`);
	await page.frames(3);
	check(await page.get(`location.hash`).then(hash => hash.startsWith('#timeline?name=simgpu_')),
		'a point leads to its kernels in the timeline');
}

async function pictures(page) {
	if (!process.env.PILLION_PICTURES)
		return;
	for (const view of ['overview', 'tables', 'flames', 'findings', 'ledger']) {
		await page.get(`document.getElementById('tab-${view}').click()`);
		await page.frames(4);
		await page.picture(join(process.env.PILLION_PICTURES, `${kind}-${view}.png`));
	}
}

async function run(browser) {
	const url = pathToFileURL(file).href;

	/* First: only the last page that was made draws. */
	await checkWithoutScript(browser, url);
	const page = await browser.page();

	await page.open(url);
	await page.until(`document.documentElement && 'ready' in document.documentElement.dataset`);
	await checkTables(page);
	await checkFindings(page);
	if (kind === 'gemm')
		await checkRoofline(page);
	const context = {browser, page, url, check, table};

	if (kind !== 'gemm')
		await checkLinks(context, kind);
	if (kind === 'hostile') {
		await checkHostile(page);
	} else if (kind !== 'gemm') {
		await checkSortAndFilter(page);
		await checkTimeline(page);
		await checkPointer(page);
		await checkFlames(page);
		await checkTheme(page);
		await checkActions(context, kind);
	}
	if (kind === 'job')
		await checkSamples(page);
	if (kind === 'cuda')
		await checkDevices(page);
	if (kind === 'large')
		await checkPanning(page);
	await pictures(page);
	check(!page.errors.length, 'no error on the console', ...page.errors);
	check(page.requests.length === 1 && page.requests[0] === url, 'no request but for itself', ...page.requests);
}

const browser = new Browser(chromium);

try {
	await run(browser);
} catch (error) {
	check(false, 'the page is driven to the end', error.stack);
} finally {
	await browser.close();
}
