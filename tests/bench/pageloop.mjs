// SPDX-License-Identifier: Apache-2.0
// pageloop.mjs CHROMIUM PAGE: opens a page of export -t html and moves its timeline. Prints, in ms, the time of the
// first paint and the CPU time of the page's thread per frame at three zoom levels. CPU time excludes other load on the
// machine and waiting for a display.
import {pathToFileURL} from 'node:url';
import {Browser} from '../e2e/browser.mjs';

const FRAMES = 60;
const [chromium, file] = process.argv.slice(2);

// Makes one move and waits for its frame: the page draws in the next animation frame callback, and a task queued after
// it runs when the frame is committed.
const PAN = `(async zoom => {
	document.getElementById('tab-timeline').click();
	const target = document.getElementById('scroller');
	document.getElementById('fit').click();
	for (let i = 0; i < zoom; i++)
		document.getElementById('zoom-in').click();
	for (let i = 0; i < ${FRAMES}; i++) {
		target.dispatchEvent(new WheelEvent('wheel', {deltaX: i < ${FRAMES / 2} ? 25 : -25,
			bubbles: true, cancelable: true}));
		await new Promise(done => requestAnimationFrame(() => {
			const {port1, port2} = new MessageChannel();
			port1.onmessage = done;
			port2.postMessage(0);
		}));
	}
})`;

async function cpuMs(page) {
	const {metrics} = await page.call('Performance.getMetrics');

	return metrics.find(metric => metric.name === 'TaskDuration').value * 1000;
}

const browser = new Browser(chromium);

try {
	const page = await browser.page();

	await page.open(pathToFileURL(file).href);
	await page.until(`document.documentElement && 'ready' in document.documentElement.dataset`);
	await page.until(`performance.getEntriesByName('first-contentful-paint').length`);
	const paint = await page.get(`performance.getEntriesByName('first-contentful-paint')[0].startTime`);
	const frames = [];

	await page.call('Performance.enable', {timeDomain: 'threadTicks'});
	for (const zoom of [0, 3, 8]) {
		await page.get(`${PAN}(${zoom})`); /* one warm-up frame */
		const before = await cpuMs(page);

		await page.get(`${PAN}(${zoom})`);
		frames.push((await cpuMs(page) - before) / FRAMES);
	}
	console.log(`paint=${paint} frame_all=${frames[0]} frame_near=${frames[1]} frame_close=${frames[2]}`);
} finally {
	await browser.close();
}
