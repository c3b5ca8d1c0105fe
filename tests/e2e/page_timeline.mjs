// SPDX-License-Identifier: Apache-2.0
// page_timeline.mjs CHROMIUM KIND PAGE: drives the timeline of a page; KIND: waits, ranks, steps or cuda. Prints
// "ok - ..." or "not ok - ..." for each check.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';

const [chromium, kind, file] = process.argv.slice(2);
const DETAILS = `(d => d.hidden ? '' : d.innerText)(document.getElementById('details'))`;
const TIP = `(t => t.hidden ? '' : t.innerText)(document.getElementById('tip'))`;
const HEIGHT = `document.getElementById('extent').offsetHeight`;
const LABELS = `[...document.querySelectorAll('#labels .label')].map(label => ({top: label.getBoundingClientRect().top,
	kind: label.className, text: label.querySelector('.name').textContent.replace(/^[▾▸] /, '')}))`;

function check(isGood, text, ...facts) {
	console.log(`${isGood ? 'ok' : 'not ok'} - ${kind}: ${text}${isGood ? '' : `: ${facts.join(' | ')}`}`
		.replaceAll('\n', '\\n'));
}

async function press(page, ...keys) {
	for (const key of keys) {
		await page.key(key);
		await page.frames(3);
	}
}

// Moves the pointer along a row until `isWanted` is true of the tooltip; returns the place, or null.
async function point(page, y, isWanted) {
	const {left, width} = await page.get(`(({left, width}) => ({left, width}))(
		document.getElementById('lanes').getBoundingClientRect())`);

	for (let x = left + 240; x < left + width; x += 24) {
		await page.call('Input.dispatchMouseEvent', {type: 'mouseMoved', x, y});
		await page.frames(1);
		if (isWanted(await page.get(TIP)))
			return {x, y, tip: await page.get(TIP)};
	}
	return null;
}

async function search(page, text) {
	await press(page, 'Escape', 'Escape', '0', '/');
	await page.get(`document.getElementById('search').value = ''`);
	await page.type(text);
	await press(page, 'Enter');
	return page.get(DETAILS);
}

async function checkLegend(page, ...wanted) {
	const legend = await page.get(`document.getElementById('legend').innerText`);

	check(wanted.every(word => legend.includes(word)), 'a legend says what the colours mean', legend);
	await page.press('#legend-button');
	check(await page.get(`document.getElementById('legend').hidden`), 'and can be hidden');
	await page.press('#legend-button');
}

// Every row that tells something tells it to a pointer, and with a click in the panel.
async function checkRow(page, label, wanted, more = '') {
	await page.get(`document.getElementById('scroller').scrollTop = 0`);
	await press(page, 'Escape', '0');
	const row = (await page.get(LABELS)).find(one => one.kind.includes(label) || one.text.includes(label));
	const at = row && await point(page, row.top + 8, tip => wanted.test(tip));

	check(at, `${more || label}: a tooltip`, JSON.stringify(row));
	if (!at)
		return;
	await page.click(at.x, at.y);
	check(await page.becomes(`${wanted}.test(${DETAILS})`), `${more || label}: a click`, await page.get(DETAILS));
}

async function checkWaits(page) {
	await checkLegend(page, 'OS call', 'Thread on a CPU', 'Runnable', 'Blocked');
	await checkRow(page, 'states', /On a CPU: ?\d+ %|On a CPU\s+\d+ %/, 'the states of a thread');
	await checkRow(page, 'header', /Ended/, 'a process');
	const few = await page.get(HEIGHT);

	await page.press('#show-idle');
	await page.frames(3);
	check(await page.get(HEIGHT) > few, 'start-up is folded, and unfolds');
	await page.press('#show-idle');
	await page.frames(3);
	check(await page.get(HEIGHT) === few, 'and folds');
	const written = await search(page, 'fsync');

	check(/file\s+\S*written\.bin/.test(written), 'a call names its file', written);
	const canvas = `document.getElementById('lanes').toDataURL()`;
	const waiting = await search(page, 'pthread_mutex_lock');

	check(/held by thread/.test(waiting) && /Held by \d+/.test(waiting) && /Released by \d+/.test(waiting),
		'a wait for a lock has its holder and what ended it',
		waiting);
	const [, holder] = /held by thread\s+(\d+)/.exec(waiting) || [], before = await page.get(canvas);

	await page.get(`[...document.querySelectorAll('#details button')]
		.find(b => /Held by/.test(b.textContent)).click()`);
	await page.frames(3);
	check((await page.get(DETAILS)).includes(`On\t${holder} `) || new RegExp(`On\\s+${holder} `).test(
		await page.get(DETAILS)), 'which it leads to', await page.get(DETAILS));
	check(await page.get(canvas) !== before, 'and draws');
	await page.call('Emulation.setDeviceMetricsOverride', {width: 900, height: 900, deviceScaleFactor: 1,
		mobile: false});
	await page.frames(3);
	check(await page.get(`[...document.querySelectorAll('#timeline .tools button:not([hidden])')].every(button =>
		button.getBoundingClientRect().right <= innerWidth)`), 'all buttons are on a narrow screen');
	await page.call('Emulation.setDeviceMetricsOverride', {width: 1400, height: 900, deviceScaleFactor: 1,
		mobile: false});
	await page.frames(3);
	const box = await page.get(`(({left, top, width}) => ({left, top, width}))(
		document.getElementById('lanes').getBoundingClientRect())`);

	await press(page, 'Escape', '0');
	await page.drag(box.left + 221, box.top + 60, box.left + box.width - 1, box.top + 60);
	check(await page.becomes(`[...document.querySelectorAll('#range-tables [data-table=range_files] .row')]
		.some(row => /written\\.bin/.test(row.textContent))`), 'a selected time has its files');
	await page.get(`document.getElementById('range-close').click()`);
}

async function checkOrder(page) {
	const titles = async () => (await page.get(LABELS)).filter(one => one.kind.includes('header'))
		.map(one => one.text);
	const active = (await titles()).join();

	await page.get(`(s => { s.value = 'start'; s.dispatchEvent(new Event('change')); })(
		document.getElementById('sort'))`);
	await page.frames(3);
	const starts = (await titles()).filter(title => /^\d/.test(title)).map(title => parseInt(title, 10));

	check(starts.every((pid, i) => !i || pid > starts[i - 1]) && active, 'tracks are in the order of their starts',
		starts.join());
	check(await page.becomes(`/sort=start/.test(location.hash)`), 'which is in the address');
	await page.get(`(s => { s.value = 'active'; s.dispatchEvent(new Event('change')); })(
		document.getElementById('sort'))`);
	await page.frames(3);
	check((await titles()).join() === active, 'and the most active first again');
}

async function checkRanks(page) {
	await checkLegend(page, 'Rank in MPI or NCCL', 'Rank elsewhere');
	const [first] = await page.get(LABELS);

	check(/^Ranks/.test(first.text), 'ranks are an image above all', JSON.stringify(first));
	await checkRow(page, '4 ranks', /Rank \d[^]*In MPI and NCCL/, 'a rank');
	await press(page, 'w', 'w');
	const near = await page.get(`document.getElementById('seen').textContent`);

	await page.get(`document.querySelector('#details button').click()`);
	check(await page.becomes(`document.getElementById('seen').textContent !== ${JSON.stringify(near)}`),
		'leads to its process');
	await checkOrder(page);
}

// Steps 9 and 25 of 40 are slow.
async function checkSteps(page) {
	await checkLegend(page, 'Step', 'Slow step', 'Kernel');
	for (const [number, isSlow] of [[9, true], [10, false]]) {
		await page.get(`document.getElementById('tab-tables').click()`);
		await page.get(`document.querySelector('#list [data-name=steps]').click()`);
		await page.frames(3);
		await page.press(`#sheet .body .row[aria-rowindex="${number + 2}"] a`);
		await page.becomes(`${DETAILS} !== ''`);
		const details = await page.get(DETAILS);

		check(details.startsWith(`step ${number}\n`) && /state\s+slow/.test(details) === isSlow &&
			/usual duration\s+[\d.]+ (µ|m)?s/.test(details), `the row of step ${number} leads to it`,
		details);
		await press(page, 'Escape', '0');
	}
}

async function checkCuda(page) {
	await checkLegend(page, 'Kernel', 'Copy');
	const labels = (await page.get(LABELS)).map(one => one.text);

	check(labels[1] === 'Utilisation', 'the device is first, with how busy it was', labels.join());
	await checkRow(page, 'Utilisation', /utilisation/, 'the utilisation');
	await checkRow(page, 'Memory in use', /Value/, 'a counter');
}

async function checkAxe(page) {
	if (!process.env.AXE)
		return;
	await page.get(readFileSync(process.env.AXE, 'utf8'));
	const found = new Set();

	for (const theme of ['light', 'dark']) {
		await page.get(`document.documentElement.dataset.theme = '${theme}'`);
		await press(page, '0', 'Enter');
		(await page.get(`axe.run(document.body).then(result => result.violations.map(v => v.id + ': ' +
			v.nodes.slice(0, 3).map(n => n.target + ' ' + n.failureSummary).join(' ; ')))`))
			.forEach(text => found.add(`${theme} ${text}`));
	}
	check(!found.size, 'axe finds no violation', ...found);
}

const browser = new Browser(chromium);

try {
	const page = await browser.page();

	await page.open(pathToFileURL(file).href);
	await page.until(`document.documentElement && 'ready' in document.documentElement.dataset`);
	await page.get(`document.getElementById('tab-timeline').click()`);
	await page.frames(4);
	const checks = {waits: checkWaits, ranks: checkRanks, steps: checkSteps, cuda: checkCuda};

	await checks[kind](page);
	await checkAxe(page);
	if (process.env.PILLION_PICTURES)
		await page.picture(join(process.env.PILLION_PICTURES, `timeline-${kind}.png`));
	check(!page.errors.length, 'no error on the console', ...page.errors);
	check(page.requests.length === 1, 'no request but for itself', ...page.requests);
} catch (error) {
	check(false, 'the page is driven to the end', error.stack);
} finally {
	await browser.close();
}
