// SPDX-License-Identifier: Apache-2.0
// Checks of what can be done on the timeline and the flame graphs: selecting time, stack charts, searching stacks and
// pids, arranging tracks, the way back, wheel and minimap; then other screens, paper, and axe.
// `context`: {browser, page, url, check, table}.
import {readFileSync} from 'node:fs';

const SEEN = `document.getElementById('seen').textContent`;
const HEIGHT = `document.getElementById('extent').offsetHeight`;
// With the ruler: a part of the time may be without events.
const PICTURE = `['ruler', 'lanes'].map(id => document.getElementById(id).toDataURL()).join()`;
const DETAILS = `(d => d.hidden ? '' : d.innerText)(document.getElementById('details'))`;
const OVERFLOW = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;
const VIEWS = ['overview', 'timeline', 'tables', 'flames', 'findings', 'ledger'];
const LABELS = `[...document.querySelectorAll('#labels .label .name')]
	.map(e => e.textContent.replace(/^[▾▸] /, ''))`;

async function press(page, ...keys) {
	for (const key of keys) {
		await page.key(key);
		await page.frames(3);
	}
}

async function toTimeline(page) {
	await page.get(`document.getElementById('tab-timeline').click()`);
	await press(page, 'Escape', 'Escape', '0');
	await page.get(`document.getElementById('scroller').scrollTop = 0`);
	await page.frames(3);
	return page.get(`(({left, top, width, height}) => ({left, top, width, height}))(
		document.getElementById('scroller').getBoundingClientRect())`);
}

async function type(page, id, text) {
	await page.get(`document.getElementById('${id}').value = '', document.getElementById('${id}').focus()`);
	await page.type(text);
	await page.frames(4);
}

const rangeRows = name => `[...document.querySelectorAll('#range-tables [data-table=${name}] .body .row')]
	.map(row => [...row.children].map(cell => cell.className !== 'number' ? cell.textContent
		: (cell.title || cell.textContent).replace(/,| (ns|MB)$/g, '')))`;

// Dragging over everything must show the sums of the tables.
async function checkRange({page, check, table}, kind) {
	/* the tables count idle helpers and start-up, too */
	await page.get(`(b => b.hidden || b.getAttribute('aria-pressed') === 'true' || b.click())(
		document.getElementById('show-idle'))`);
	const box = await toTimeline(page), y = box.top + 60;

	await page.drag(box.left + 221, y, box.left + box.width - 1, y);
	await page.frames(4);
	check(!await page.get(`document.getElementById('range').hidden`), 'dragging selects time');
	const rows = await page.get(rangeRows('range_names')), [first] = table('osrt_sum');
	const shown = rows.find(([name]) => name === first.Name);

	check(shown && (kind === 'large' || Number(shown[3]) >= Number(first['Num Calls'])) &&
		(kind !== 'job' || Math.abs(Number(shown[2]) - Number(first['Total Time (ns)'])) <
			0.001 * Number(first['Total Time (ns)'])),
		'and shows the time by name, as in the tables', shown, JSON.stringify(first));
	const threads = await page.get(rangeRows('range_threads'));

	check(threads.length, 'with its threads', threads.length);
	if (kind !== 'large') {
		const states = threads.map(cells => cells.slice(3, 6).map(Number));
		const wall = Math.max(...table('processes').map(row => Number(row['Duration (ns)'])));

		check(Math.max(...states.map(([a, b, c]) => a + b + c)) > 0.9 * wall,
			'whose states add up to their life', wall, JSON.stringify(states));
	}
	if (kind === 'cuda')
		check((await page.get(rangeRows('range_kernels'))).some(([name]) => /add\(float/.test(name)),
			'with its kernels');
	const line = `document.getElementById('range-line').textContent`;

	check(/100\.0 %/.test(await page.get(line)), 'with a flame graph', await page.get(line));
	await page.get(`document.getElementById('range-scroller').focus()`);
	await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown');
	check(!/^(CPU samples|Time in calls|GPU time) —/.test(await page.get(line)), 'which keys navigate',
		await page.get(line));
	await page.get(`document.getElementById('scroller').focus()`);
	await page.drag(box.left + 500, y, box.left + 560, y);
	await page.frames(4);
	const part = await page.get(`document.getElementById('range-title').textContent`);

	await page.get(`document.getElementById('range-zoom').click()`);
	await page.frames(3);
	check(parseFloat(await page.get(SEEN)) <= 1.05 * parseFloat(part), 'a part of it can be zoomed to', part,
		await page.get(SEEN));
	check(await page.becomes(`/range=/.test(location.hash)`), 'and is in the address');
	await page.get(`document.getElementById('range-close').click()`);
	check(await page.get(`document.getElementById('range').hidden`), 'and closed');
}

async function checkStackChart({page, check}) {
	await toTimeline(page);
	const before = await page.get(HEIGHT), picture = await page.get(PICTURE);

	await press(page, 'k');
	const tall = await page.get(HEIGHT);

	check(tall > before + 100 && await page.get(PICTURE) !== picture, 'k shows stacks over time', before, tall);
	await press(page, '/');
	await page.type('burn (');
	await press(page, 'Enter', 'Escape', 'k', '0');
	check(await page.get(HEIGHT) < tall, 'and hides those of the selected track, or all');
	await page.get(`document.getElementById('stack-charts').getAttribute('aria-pressed') === 'true' &&
		document.getElementById('stack-charts').click()`);
}

async function checkSearch({page, check, table}, kind) {
	const found = `document.getElementById('matches').textContent`;
	const [{PID: pid}] = table('processes');

	await toTimeline(page);
	await type(page, 'search', pid);
	check(/process/.test(await page.get(found)), 'a pid is found', await page.get(found));
	await page.get(`document.getElementById('search').value = ''`);
	if (kind !== 'job')
		return;
	await type(page, 'search', '_bootstrap');
	await press(page, 'Enter');
	const details = await page.get(DETAILS);

	check(parseFloat(await page.get(found)) > 0 && /_bootstrap/i.test(details.replace(/^.*\n/, '')),
		'the search looks into stacks', await page.get(found), details);
	await press(page, 'Escape');
}

async function checkTracks({page, check, table}) {
	const box = await toTimeline(page), labels = await page.get(LABELS), tall = await page.get(HEIGHT);
	const [{PID: pid}] = table('processes');

	check(labels.filter(label => label.startsWith(`${pid} `)).length > 1, 'ids are first in labels', labels);
	await page.get(`document.querySelector('#labels .header [data-act=hide]').click()`);
	await page.frames(3);
	check(await page.get(HEIGHT) < tall && !(await page.get(LABELS)).includes(labels[0]),
		'a process can be hidden');
	await page.get(`document.getElementById('show-hidden').click()`);
	await page.frames(3);
	check(await page.get(HEIGHT) === tall, 'and shown again');
	await page.get(`document.querySelectorAll('#labels .label:not(.header) [data-act=pin]')[0].click()`);
	await page.frames(3);
	check(await page.get(`document.querySelectorAll('#labels .label.pinned').length`) > 0 &&
		await page.get(HEIGHT) > tall, 'a track can be pinned');
	await page.get(`document.getElementById('scroller').scrollTop = 400`);
	await page.frames(3);
	check(await page.get(`document.querySelector('#labels .label.pinned').getBoundingClientRect().top`) <
		box.top + 20, 'and stays in view');
	await page.get(`document.querySelector('#labels .label.pinned [data-act=pin]').click()`);
	await type(page, 'filter', pid);
	check((await page.get(LABELS)).every(label => label.includes(pid) || label.length), 'tracks are filtered');
	await type(page, 'filter', 'no such track');
	check(await page.get(HEIGHT) === 0, 'down to none', await page.get(LABELS));
	await page.get(`(field => { field.value = ''; field.dispatchEvent(new Event('input')); })(
		document.getElementById('filter'))`);
	await page.frames(3);
	check(await page.get(HEIGHT) === tall, 'and shown again');
}

async function checkMoving({page, check}) {
	const box = await toTimeline(page), middle = box.left + 220 + (box.width - 220) / 2;
	const seen = await page.get(SEEN);

	await page.wheel(middle, box.top + 50, 0, -300);
	check(await page.becomes(`${SEEN} !== ${JSON.stringify(seen)}`), 'the wheel zooms, without a key');
	const near = await page.get(SEEN), picture = await page.get(PICTURE);

	await page.wheel(middle, box.top + 50, 300, 0);
	check(await page.becomes(`${PICTURE} !== ${JSON.stringify(picture)}`) && await page.get(SEEN) === near,
		'turned sideways it moves');
	await page.get(`document.getElementById('scroller').focus()`);
	await press(page, 'w', 'z');
	check(await page.get(SEEN) === near, 'z undoes a zoom', near, await page.get(SEEN));
	for (let step = 0; step < 400 && !await page.get(`document.getElementById('undo').disabled`); step++) {
		await page.get(`document.getElementById('undo').click()`);
		await page.frames(1);
	}
	check(await page.get(`document.getElementById('undo').disabled`), 'the button undoes them all');
	await press(page, '0', 'w', 'w', 'w', 'w');
	const window = await page.get(SEEN), before = await page.get(PICTURE);
	const map = await page.get(`(({left, top, width}) => ({left, top, width}))(
		document.querySelector('#minimap canvas').getBoundingClientRect())`);

	await page.drag(map.left + map.width / 2, map.top + 12, map.left + map.width / 2 + 150, map.top + 12);
	await page.frames(3);
	check(await page.get(PICTURE) !== before && await page.get(SEEN) === window, 'the minimap drags the window',
		window, await page.get(SEEN));
	await page.get(`document.getElementById('minimap').focus()`);
	await press(page, 'Home');
	check(await page.get(SEEN) === seen, 'and has keys', seen, await page.get(SEEN));
}

async function checkGraphs({page, check}) {
	const line = `document.querySelector('#flame-line .text').textContent`;
	const canvas = `document.getElementById('flame').toDataURL()`;
	const choose = async (id, value) => {
		await page.get(`(s => { s.value = '${value}'; s.dispatchEvent(new Event('change')); })(
			document.getElementById('${id}'))`);
		await page.frames(4);
		return page.get(canvas);
	};

	await page.get(`document.getElementById('tab-flames').click()`);
	await page.frames(4);
	const pictures = new Set([await page.get(canvas), await choose('flame-order', 'callers'),
		await choose('flame-processes', 'merged'), await choose('flame-order', 'callees')]);
	const all = parseFloat(/([\d.]+) %/.exec(await page.get(line))[1]);

	check(pictures.size === 4 && all === 100, 'graphs are inverted and merged', pictures.size,
		await page.get(line));
	await choose('flame-order', 'sandwich');
	check(await page.becomes(`/order=sandwich&by=merged&function=./.test(location.hash)`),
		'and shown for one function', await page.get('location.hash'));
	await choose('flame-order', 'callees');
	await choose('flame-processes', 'process');
	if (await page.get(`document.getElementById('flame-compare').hidden`))
		return;
	const other = await page.get(`document.getElementById('flame-compare').options[1].value`);

	await choose('flame-compare', other);
	check(await page.becomes(`/more there/.test(document.getElementById('flame-legend').textContent)`) &&
		/ in \d+ /.test(await page.get(line)), 'and of a process compared with another one',
		await page.get(line));
	await choose('flame-compare', '');
	await choose('flame-processes', 'process');
}

async function checkScreens({page, check}, kind) {
	const size = (width, height) => page.call('Emulation.setDeviceMetricsOverride',
		{width, height, deviceScaleFactor: 1, mobile: false});
	const wide = [];

	await size(390, 780);
	for (const view of VIEWS) {
		await page.get(`document.getElementById('tab-${view}').click()`);
		await page.frames(4);
		const over = await page.get(OVERFLOW), tall = await page.get(`Math.min(...[...document.querySelectorAll(
			'#scroller, #flame-scroller, #sheet .grid')].filter(e => e.clientWidth)
			.map(e => e.clientHeight))`);

		if (over > 0 || tall < 200)
			wide.push(`${view} ${over} ${tall}`);
		if (process.env.PILLION_PICTURES)
			await page.picture(`${process.env.PILLION_PICTURES}/${kind}-phone-${view}.png`);
	}
	check(!wide.length, 'on a phone every view fits', ...wide);
	await size(1400, 900);
	await page.get(`document.getElementById('tab-tables').click()`);
	await page.get(`document.querySelector('#list [data-name=osrt_sum]').click()`);
	const {data} = await page.call('Page.printToPDF', {printBackground: true});

	check(Buffer.from(data, 'base64').subarray(0, 5).toString() === '%PDF-', 'a view is printed');
	await page.call('Emulation.setEmulatedMedia', {media: 'print'});
	await page.get(`window.dispatchEvent(new Event('beforeprint'))`);
	await page.frames(3);
	const [shown, rows] = await page.get(`[document.querySelectorAll('#sheet .body .row').length,
		Number(document.querySelector('#sheet .grid').getAttribute('aria-rowcount')) - 1]`);

	const navigation = await page.get(`getComputedStyle(document.querySelector('nav')).display`);

	check(shown === Math.min(500, rows) && navigation === 'none', 'with its table, without the controls',
		shown, rows);
	await page.get(`window.dispatchEvent(new Event('afterprint'))`);
	await page.call('Emulation.setEmulatedMedia',
		{media: '', features: [{name: 'prefers-color-scheme', value: 'light'}]});
}

// Every view with a selection; the dark theme differs in its colours. AXE names axe-core's program; without it there is
// nothing to do.
async function checkAxe({page, check}) {
	if (!process.env.AXE)
		return;
	const violations = new Set();

	await page.get(readFileSync(process.env.AXE, 'utf8'));
	for (const [theme, rules] of [['light', {}], ['dark', {runOnly: ['color-contrast']}]])
		for (const view of VIEWS) {
			await page.get(`document.documentElement.dataset.theme = '${theme}'`);
			await page.get(`document.getElementById('tab-${view}').click()`);
			await page.frames(3);
			if (view === 'timeline')
				await press(page, '0', 'Enter', 'm');
			const found = await page.get(`axe.run(document.body, ${JSON.stringify(rules)}).then(result =>
				result.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n =>
					n.target + ' ' + n.failureSummary).join(' ; ')))`);

			found.forEach(text => violations.add(`${view} ${theme} ${text}`));
		}
	check(!violations.size, 'axe finds no violation', ...violations);
	await page.get(`document.documentElement.dataset.theme = 'auto'`);
	await toTimeline(page);
}

export async function checkActions(context, kind) {
	await checkRange(context, kind);
	if (kind === 'job')
		await checkStackChart(context);
	await checkSearch(context, kind);
	await checkTracks(context);
	await checkMoving(context);
	await checkGraphs(context);
	await checkScreens(context, kind);
	if (kind === 'job')
		await checkAxe(context);
}
