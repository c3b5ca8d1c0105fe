// SPDX-License-Identifier: Apache-2.0
// export_html_firefox.mjs FIREFOX PAGE: drives the page of export -t html in headless Firefox through Marionette: loads
// it, and draws, zooms and searches the timeline. Prints "ok - ..." or "not ok - ...".
import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {connect} from 'node:net';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const [program, file] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), 'pillion-firefox-'));
const wait = ms => new Promise(done => setTimeout(done, ms));

// Waits until the condition is true.
async function becomes(isSo, seconds = 60) {
	for (const end = Date.now() + 1000 * seconds; !await isSo();) {
		if (Date.now() > end)
			return false;
		await wait(100);
	}
	return true;
}

function check(isGood, text, ...facts) {
	console.log(`${isGood ? 'ok' : 'not ok'} - firefox: ${text}${isGood ? '' : `: ${facts.join(' | ')}`}`
		.replaceAll('\n', '\\n'));
}

// A message of Marionette is LENGTH:[type, id, error or command, result or parameters].
class Marionette {
	constructor(socket) {
		this.socket = socket;
		this.text = Buffer.alloc(0);
		this.waiting = new Map();
		this.number = 0;
		socket.on('data', data => this.take(data));
	}

	take(data) {
		this.text = Buffer.concat([this.text, data]);
		for (;;) {
			const colon = this.text.indexOf(':'), size = Number(this.text.subarray(0, colon));

			if (colon < 0 || this.text.length < colon + 1 + size)
				return;
			const message = JSON.parse(this.text.subarray(colon + 1, colon + 1 + size));

			this.text = this.text.subarray(colon + 1 + size);
			if (!Array.isArray(message))
				continue;
			const [, id, error, result] = message, {done, fail} = this.waiting.get(id);

			if (error)
				fail(new Error(error.message));
			else
				done(result && 'value' in result ? result.value : result);
		}
	}

	call(command, parameters = {}) {
		const text = JSON.stringify([0, ++this.number, command, parameters]);

		this.socket.write(`${Buffer.byteLength(text)}:${text}`);
		return new Promise((done, fail) => this.waiting.set(this.number, {done, fail}));
	}

	get(script) {
		return this.call('WebDriver:ExecuteScript', {script: `return ${script}`, args: []});
	}

	async key(key) {
		const actions = [{type: 'key', id: 'keys', actions: [{type: 'keyDown', value: key}, {type: 'keyUp',
			value: key}]}];

		await this.call('WebDriver:PerformActions', {actions});
		await this.call('WebDriver:ExecuteAsyncScript', {args: [],
			script: `const done = arguments[0];
				requestAnimationFrame(() => requestAnimationFrame(() => done()))`});
	}
}

// Firefox chooses a free port and writes it to a file.
async function open() {
	const path = join(home, 'MarionetteActivePort');

	if (!await becomes(() => existsSync(path) && readFileSync(path, 'utf8').trim()))
		throw new Error('Firefox does not answer');
	const socket = connect(Number(readFileSync(path, 'utf8')), '127.0.0.1');

	await new Promise((done, fail) => socket.once('connect', done).once('error', fail));
	return new Marionette(socket);
}

async function run() {
	const firefox = await open(), canvas = `document.getElementById('lanes').toDataURL()`;

	await firefox.call('WebDriver:NewSession', {capabilities: {}});
	await firefox.call('WebDriver:Navigate', {url: pathToFileURL(resolve(file)).href});
	check(await becomes(() => firefox.get(`'ready' in document.documentElement.dataset`)), 'the page is loaded',
		await firefox.get(`document.getElementById('overview').textContent`));
	await firefox.key('2');
	const whole = await firefox.get(canvas);

	await firefox.key('w');
	check(await becomes(async () => await firefox.get(canvas) !== whole), 'w zooms');
	const seen = () => firefox.get(`document.getElementById('seen').textContent`), near = await seen();

	await firefox.key('0');
	check(await becomes(async () => await seen() !== near), '0 shows the whole timeline again', near);
	await firefox.key('/');
	for (const letter of 'a')
		await firefox.key(letter);
	let found;

	check(await becomes(async () =>
		/^[1-9].* found/.test(found = await firefox.get(`document.getElementById('matches').textContent`))),
		'a search finds', found);
	if (process.env.PILLION_PICTURES)
		writeFileSync(join(process.env.PILLION_PICTURES, 'firefox-timeline.png'),
			Buffer.from(await firefox.call('WebDriver:TakeScreenshot', {full: false}), 'base64'));
}

writeFileSync(join(home, 'user.js'), `user_pref("marionette.port", 0);\n`);
const browser = spawn(program, ['--headless', '--no-remote', '--profile', home, '--marionette'],
	{stdio: 'ignore', env: {...process.env, HOME: home, MOZ_HEADLESS_WIDTH: '1400', MOZ_HEADLESS_HEIGHT: '900'}});
const ended = new Promise(done => browser.on('exit', done));

try {
	await run();
} catch (error) {
	check(false, 'driven to the end', error.stack);
} finally {
	browser.kill('SIGTERM');
	await ended;
	rmSync(home, {recursive: true, force: true, maxRetries: 5});
	process.exit();
}
