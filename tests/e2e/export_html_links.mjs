// SPDX-License-Identifier: Apache-2.0
// Checks of the page's links, its address, and copying: rows of tables, findings and flame boxes select and zoom, and
// the address restores what was seen. `context`: {browser, page, url, check, table}.
import {mkdtempSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {duration} from '../../report/page/view/format.mjs';

const VISIBLE = `[...document.querySelectorAll('main > section')].find(view => !view.hidden).id`;
const SEEN = `document.getElementById('seen').textContent`;
const DETAILS = `(d => d.hidden ? '' : d.innerText)(document.getElementById('details'))`;
const READY = `document.documentElement && 'ready' in document.documentElement.dataset`;

export async function showTable(page, name) {
	await page.get(`document.querySelector('#list [data-name="${name}"]').click()`);
	await page.frames(3);
}

// The address after the page has kept it current, which it does with a delay.
async function address(page, wanted) {
	await page.becomes(`${wanted}.test(location.hash)`);
	return page.get('location.hash');
}

// A new page with that address.
async function reopened({browser, url}, hash) {
	const page = await browser.page();

	await page.open(url + hash);
	await page.until(READY);
	await page.frames(4);
	return page;
}

async function closed(page, other) {
	const {errors} = other;

	await other.close();
	await page.call('Page.bringToFront');
	return errors;
}

async function checkRows(context) {
	const {page, check, table} = context;
	const [row] = table('osrt_sum'), name = row.Name;

	await page.get(`document.getElementById('tab-tables').click()`);
	await showTable(page, 'osrt_sum');
	await page.press('#sheet .body .row a');
	check(await page.get(VISIBLE) === 'timeline', 'a row of a table leads to the timeline');
	const details = await page.get(DETAILS);

	/* The tables do not count a call in progress. */
	check(details.startsWith(name) && (details.includes(duration(Number(row['Max (ns)']))) ||
		details.includes('still in this call')),
		'and selects the longest call of that name', details, row['Max (ns)']);
	const hash = await address(page, '/event=/'), seen = await page.get(SEEN);

	check(/^#timeline\?.*from=.*event=/.test(hash), 'the address has what is seen', hash);
	const other = await reopened(context, hash);

	check(await other.becomes(`${SEEN} === ${JSON.stringify(seen)}`) && await other.get(DETAILS) === details,
		'and restores it', await other.get(SEEN), seen, await other.get(DETAILS), details);
	check(!(await closed(page, other)).length, 'without an error');
	await page.get('history.back()');
	check(await page.becomes(`${VISIBLE} === 'tables'`), 'the browser goes back to the table');
	await page.key('2');
	await page.key('Escape');
	await page.key('0');
}

// Of a text as duration() makes it.
function nanoseconds(text) {
	const [value, unit] = text.trim().split(' ');

	return Number(value) * {s: 1e9, ms: 1e6, '\u00b5s': 1e3, us: 1e3, ns: 1}[unit];
}

async function checkProcessRow({page, check, table}) {
	const [row] = table('processes');

	await page.get(`document.getElementById('tab-tables').click()`);
	await showTable(page, 'processes');
	await page.get(`document.querySelector('#sheet .body .row [role=cell]:last-child').click()`);
	await page.frames(3);
	const seen = nanoseconds(await page.get(SEEN)), whole = nanoseconds(duration(Number(row['Duration (ns)'])));

	check(await page.get(VISIBLE) === 'timeline' && seen >= whole,
		'a click anywhere in the row of a process shows its life', seen, whole);
	await page.key('0');
}

async function checkSticky({page, check}) {
	await page.get(`document.getElementById('tab-tables').click()`);
	await showTable(page, 'osrt_sum');
	const place = `(({left, width}) => [left, width].join())(
		document.querySelector('#sheet .body .row :first-child').getBoundingClientRect())`;
	const moved = `(grid => { grid.scrollLeft = 1e6; return grid.scrollLeft; })(
		document.querySelector('#sheet .grid'))`;
	const size = (width, height) => page.call('Emulation.setDeviceMetricsOverride',
		{width, height, deviceScaleFactor: 1, mobile: false});
	const before = await page.get(place);

	await size(800, 700);
	await page.frames(4);
	const far = await page.get(moved), after = await page.get(place);

	check(far > 50 && after === await page.get(`document.querySelector('#sheet .grid').scrollLeft = 0, ${place}`),
		'the name column is first and stays in view', far, before, after);
	await size(1400, 900);
	await page.frames(4);
}

async function checkSaving({browser, page, check, table}) {
	const folder = mkdtempSync(join(tmpdir(), 'pillion-downloads-')), file = join(folder, 'processes.csv');

	await browser.keepDownloads(folder);
	await showTable(page, 'processes');
	await page.get(`document.querySelector('#sheet button[aria-label^=Save]').click()`);
	for (const end = Date.now() + 60000; Date.now() < end && !readdirSync(folder).includes('processes.csv');)
		await page.frames(5);
	const saved = readdirSync(folder).includes('processes.csv') ? readFileSync(file, 'utf8') : '';
	const rows = table('processes'), [head, ...lines] = saved.trimEnd().split('\n');

	check(head === Object.keys(rows[0]).join() && lines.length === rows.length,
		'a table is saved as csv, as stats writes it', saved.slice(0, 300));
	rmSync(folder, {recursive: true, force: true});
	/* What arrives at the clipboard, without the permission to read it. */
	await page.get(`navigator.clipboard && (navigator.clipboard.writeText =
		text => Promise.resolve(window.copied = text))`);
	await page.get(`document.addEventListener('copy', () => window.copied = String(getSelection()))`);
	await page.get(`document.querySelector('#sheet button[aria-label^=Copy]').click()`);
	check(await page.becomes(`window.copied !== undefined`) && (await page.get('window.copied')).split('\n')[0] ===
		Object.keys(rows[0]).join('\t'), 'and copied, separated by tabs', await page.get('window.copied'));
}

async function checkFindingLink({page, check}) {
	await page.get(`document.getElementById('tab-findings').click()`);
	if (!await page.get(`document.querySelectorAll('#findings [data-verdict=found]').length`))
		return;
	check(await page.get(`[...document.querySelectorAll('#findings [data-verdict=found]')]
		.every(found => found.querySelector('h2 a, .row a'))`), 'each finding has a link');
	await page.press('#findings [data-verdict=found] h2 a');
	check(await page.get(`['timeline', 'flames'].includes(${VISIBLE})`), 'which leads to where it was',
		await page.get(VISIBLE));
	await page.key('2');
	await page.key('Escape');
	await page.key('0');
}

async function checkBoxes(context) {
	const {page, check} = context, line = `document.querySelector('#flame-line .text').textContent`;

	await page.get(`document.getElementById('tab-flames').click()`);
	await page.frames(4);
	const box = await page.get(`(({left, top}) => ({left, top}))(
		document.getElementById('flame').getBoundingClientRect())`);

	await page.click(box.left + 20, box.top + 3 * 20 + 8);
	await page.frames(3);
	const text = await page.get(line), hash = await address(page, '/focus=/');

	check(/focus=0\./.test(hash), 'a flame box goes into the address', hash);
	const other = await reopened(context, hash);

	check(await other.get(line) === text, 'which restores it', await other.get(line), text);
	await closed(page, other);
	await page.get(`document.getElementById('flame-scroller').focus()`);
	await page.key('Escape');
}

export async function checkLinks(context, kind) {
	if (kind !== 'hostile') {
		await checkRows(context);
		await checkProcessRow(context);
		await checkSticky(context);
		await checkSaving(context);
		await checkBoxes(context);
	}
	await checkFindingLink(context);
}
