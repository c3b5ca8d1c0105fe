// SPDX-License-Identifier: Apache-2.0
// export_readers.mjs CHROMIUM MODULES NAME: opens NAME.speedscope.json, NAME.folded and NAME.json in speedscope, holds
// the first against speedscope's schema, and decodes NAME.pb.gz with pprof-format. Prints "ok - ..." or "not ok - ..."
// for each check. PILLION_PICTURES names a folder for pictures.
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {gunzipSync} from 'node:zlib';
import {Browser} from './browser.mjs';

const ROW = 20; // pixels of a row in speedscope's list of frames
const [chromium, modules, name] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), 'node_modules/'));
const release = join(resolve(modules), 'node_modules/speedscope/dist/release');

function check(isGood, text, ...facts) {
	console.log(`${isGood ? 'ok' : 'not ok'} - ${text}${isGood ? '' : `: ${facts.join(' | ')}`}`.replaceAll('\n',
		'\\n'));
}

const flame = JSON.parse(readFileSync(`${name}.speedscope.json`, 'utf8'));
const folded = readFileSync(`${name}.folded`, 'utf8').trimEnd().split('\n');
const total = folded.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);

function checkSchema() {
	const {default: Ajv} = require('ajv');
	const validate = new Ajv({strict: false}).compile(JSON.parse(readFileSync(join(release,
		'file-format-schema.json'), 'utf8')));

	check(validate(flame), 'our file is valid by the schema of speedscope', JSON.stringify(validate.errors));
	check(!validate(JSON.parse(readFileSync(`${name}.json`, 'utf8'))), 'another file is invalid by it');
}

function checkPprof() {
	const {Profile} = require('pprof-format');
	const profile = Profile.decode(gunzipSync(readFileSync(`${name}.pb.gz`)));
	const known = new Set(profile.location.map(location => Number(location.id)));
	const sum = profile.sample.reduce((all, sample) => all + Number(sample.value[1]), 0);
	const lost = profile.sample.flatMap(sample => sample.locationId).filter(id => !known.has(Number(id)));

	check(profile.sample.length === folded.length && sum === total && !lost.length,
		`pprof-format reads the ${folded.length} stacks and their sum`, profile.sample.length, sum, total,
			lost.length);
	check(profile.sampleType.map(type => profile.stringTable.strings[Number(type.type)]).join() === 'calls,time',
		'and what they are');
}

// ---- speedscope in a browser ----

// The first profile's frames as speedscope lists them.
async function show(page, file) {
	const script = resolve(`${file}.js`);

	writeFileSync(script,
		`speedscope.loadFileFromBase64(${JSON.stringify(file)}, "${readFileSync(file).toString('base64')}")`);
	await page.open('about:blank');
	await page.until(`location.href === 'about:blank'`);
	await page.open(`${pathToFileURL(join(release, 'index.html'))}#localProfilePath=${script.slice(1)}`);
	await page.until(`document.readyState === 'complete' && / - speedscope$/.test(document.title)`);
	await page.frames(3);
	await page.key('3');
	await page.until(`document.querySelectorAll('tr').length > 1`);
	await page.frames(3);
	if (process.env.PILLION_PICTURES)
		await page.picture(join(process.env.PILLION_PICTURES,
			`speedscope-${file.replace(/^.*\./, '')}-${name}.png`));
	return {
		frames: await page.get(`Math.max(...[...document.querySelectorAll('div')]
			.map(div => parseInt(div.style.height) || 0))`) / ROW,
		profiles: Number((await page.get(`document.body.innerText`)).match(/\(\d+\/(\d+)\)/)?.[1] ?? 1),
	};
}

async function checkSpeedscope(browser) {
	const page = await browser.page();
	const frame = id => JSON.stringify(flame.shared.frames[id]);
	const first = await show(page, `${name}.speedscope.json`);
	const wanted = new Set(flame.profiles[flame.activeProfileIndex].samples.flat().map(frame)).size;

	check(first.frames === wanted && first.profiles === flame.profiles.length,
		`speedscope shows ${flame.profiles.length} profiles, at first one of ${wanted} frames`, first.frames,
			first.profiles);
	const plain = await show(page, `${name}.folded`);
	const texts = new Set(folded.flatMap(line => line.slice(0, line.lastIndexOf(' ')).split(';'))).size;

	check(plain.frames === texts && plain.profiles === 1, `the ${texts} frames of folded stacks`, plain.frames,
		plain.profiles);
	const trace = await show(page, `${name}.json`);
	const events = JSON.parse(readFileSync(`${name}.json`, 'utf8')).traceEvents;
	const lanes = new Set(events.filter(event => event.ph === 'X').map(event => `${event.pid} ${event.tid}`)).size;

	check(trace.profiles === lanes, `the ${lanes} threads and streams of the timeline`, trace.profiles);
	/* It warns of ends that its sums of us put out of order. */
	const errors = page.errors.filter(error => /Error|exception/.test(error));

	check(!errors.length, 'no error on the console', ...errors);
	check(page.requests.every(url => /^(file|about|data|blob):/.test(url)), 'no request but for files',
		...page.requests);
}

checkSchema();
checkPprof();
const browser = new Browser(chromium);

try {
	await checkSpeedscope(browser);
} catch (error) {
	check(false, 'speedscope is driven to the end', error.stack);
} finally {
	await browser.close();
}
