// SPDX-License-Identifier: Apache-2.0
// python_calls.mjs CHROMIUM URL FUNCTION...: the page of snakeviz has a chart, and a row for each function.
import {Browser} from './browser.mjs';

const [chromium, url, ...functions] = process.argv.slice(2);
const browser = new Browser(chromium);

try {
	const page = await browser.page();

	await page.open(url);
	await page.until(`document.querySelectorAll('#chart svg rect, #chart svg path').length > 3 &&
		document.querySelectorAll('#pstats-table tbody tr').length > 1`);
	const text = await page.get(`document.getElementById('pstats-table').innerText`);
	const missing = functions.filter(name => !text.includes(`(${name})`));

	console.log(missing.length ? 'not ok -' : 'ok -', `snakeviz in Chromium: a chart, and the table's rows`);
	missing.forEach(name => console.log(`# no row of ${name} in ${text}`));
} finally {
	await browser.close();
}
