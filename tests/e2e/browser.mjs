// SPDX-License-Identifier: Apache-2.0
// A headless Chromium that is driven over a pipe: pages, their messages and requests, keys, pointers, pictures.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
	'--hide-scrollbars',
	'--disable-background-networking', '--disable-component-update', '--disable-sync', '--remote-debugging-pipe',
	'--force-color-profile=srgb', 'about:blank'];

export class Browser {
	constructor(program) {
		this.home = mkdtempSync(join(tmpdir(), 'pillion-chromium-'));
		this.process = spawn(program, [`--user-data-dir=${this.home}`, ...FLAGS],
			{stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true});
		this.waiting = new Map();
		this.number = 0;
		this.text = '';
		this.listeners = [];
		this.process.stdio[4].setEncoding('utf8').on('data', text => this.take(text));
		this.process.on('exit', () => this.waiting.forEach(({reject}) => reject(new Error('Chromium ended'))));
	}

	take(text) {
		const parts = (this.text + text).split('\0');

		this.text = parts.pop();
		for (const part of parts) {
			const message = JSON.parse(part), waiting = this.waiting.get(message.id);

			this.waiting.delete(message.id);
			if (waiting && message.error)
				waiting.reject(new Error(`${waiting.method}: ${message.error.message}`));
			else if (waiting)
				waiting.resolve(message.result);
			else
				this.listeners.forEach(listener => listener(message));
		}
	}

	call(method, params = {}, sessionId = undefined) {
		const id = ++this.number;

		this.process.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
		return new Promise((resolve, reject) => this.waiting.set(id, {resolve, reject, method}));
	}

	// A new blank page. Its `errors` and `requests` are collected from then on.
	async page({width = 1400, height = 900, isDark = false, hasScript = true} = {}) {
		const {targetId} = await this.call('Target.createTarget', {url: 'about:blank'});
		const {sessionId} = await this.call('Target.attachToTarget', {targetId, flatten: true});
		const page = new Page(this, sessionId, targetId);

		await Promise.all(['Page', 'Runtime', 'Network', 'Log'].map(domain => page.call(`${domain}.enable`)));
		await page.call('Emulation.setDeviceMetricsOverride',
			{width, height, deviceScaleFactor: 1, mobile: false});
		await page.call('Emulation.setEmulatedMedia',
			{features: [{name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light'}]});
		await page.call('Emulation.setScriptExecutionDisabled', {value: !hasScript});
		return page;
	}

	// Saves what pages download in that folder.
	async keepDownloads(folder) {
		await this.call('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: folder});
	}

	async close() {
		await this.call('Browser.close').catch(() => {});
		await new Promise(resolve => this.process.exitCode === null ? this.process.on('exit', resolve)
			: resolve());
		rmSync(this.home, {recursive: true, force: true, maxRetries: 5});
	}
}

class Page {
	constructor(browser, session, target) {
		this.browser = browser;
		this.session = session;
		this.target = target;
		this.errors = [];
		this.requests = [];
		this.isLoaded = false;
		browser.listeners.push(message => message.sessionId === session && this.hear(message));
	}

	hear({method, params}) {
		if (method === 'Page.loadEventFired')
			this.isLoaded = true;
		else if (method === 'Runtime.exceptionThrown')
			this.errors.push(params.exceptionDetails.exception?.description ||
				params.exceptionDetails.text);
		else if (method === 'Runtime.consoleAPICalled' && /error|warning|assert/.test(params.type))
			this.errors.push(params.args.map(arg => arg.value ?? arg.description).join(' '));
		else if (method === 'Log.entryAdded' && params.entry.level !== 'verbose' &&
			params.entry.level !== 'info')
			this.errors.push(params.entry.text);
		else if (method === 'Network.requestWillBeSent')
			this.requests.push(params.request.url);
		else if (method === 'Page.javascriptDialogOpening')
			this.errors.push(`dialog: ${params.message}`);
	}

	call(method, params) {
		return this.browser.call(method, params, this.session);
	}

	async open(url) {
		this.isLoaded = false;
		await this.call('Page.navigate', {url});
	}

	async close() {
		await this.browser.call('Target.closeTarget', {targetId: this.target});
	}

	// The value of an expression, or of its promise.
	async get(expression) {
		const {result, exceptionDetails} = await this.call('Runtime.evaluate',
			{expression, awaitPromise: true, returnByValue: true});

		if (exceptionDetails)
			throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
		return result.value;
	}

	async until(expression, seconds = 120) {
		for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
			if (await this.get(expression))
				return;
			await new Promise(resolve => setTimeout(resolve, 50));
		}
		throw new Error(`never came: ${expression}`);
	}

	// Waits until the expression is true: the effect of an input event may be delayed.
	async becomes(expression) {
		return this.until(expression, 60).then(() => true, () => false);
	}

	// Waits until the page is parsed; also for pages that run no script.
	async loaded(seconds = 120) {
		for (const end = Date.now() + 1000 * seconds; !this.isLoaded;) {
			if (Date.now() > end)
				throw new Error('never loaded');
			await new Promise(resolve => setTimeout(resolve, 50));
		}
	}

	async frames(count = 2) {
		await this.get(`new Promise(done => { let n = ${count};
			const step = () => n-- ? requestAnimationFrame(step) : done(); step(); })`);
	}

	async key(key, text = key.length === 1 ? key : undefined) {
		await this.call('Input.dispatchKeyEvent', {type: 'keyDown', key, text});
		await this.call('Input.dispatchKeyEvent', {type: 'keyUp', key});
	}

	async type(text) {
		await this.call('Input.insertText', {text});
	}

	async click(x, y) {
		await this.call('Input.dispatchMouseEvent', {type: 'mouseMoved', x, y});
		await this.drag(x, y, x, y);
	}

	// Presses the button at one place and releases it at another.
	async drag(x0, y0, x1, y1, modifiers = 0) {
		const send = (type, x, y) => this.call('Input.dispatchMouseEvent',
			{type, x, y, button: 'left', buttons: type === 'mouseReleased' ? 0 : 1, clickCount: 1,
				modifiers});

		await send('mousePressed', x0, y0);
		await send('mouseMoved', (x0 + x1) / 2, (y0 + y1) / 2);
		await send('mouseMoved', x1, y1);
		await send('mouseReleased', x1, y1);
	}

	// Moves the pointer into the middle of an element and clicks there.
	async press(selector) {
		const place = await this.get(`(element => {
			element.scrollIntoView({block: 'nearest'});
			const {left, top, width, height} = element.getBoundingClientRect();
			return {x: left + width / 2, y: top + height / 2};
		})(document.querySelector(${JSON.stringify(selector)}))`);

		await this.click(place.x, place.y);
		await this.frames(3);
	}

	async wheel(x, y, deltaX, deltaY) {
		await this.call('Input.dispatchMouseEvent', {type: 'mouseWheel', x, y, deltaX, deltaY});
		await this.frames(3);
	}

	async picture(path) {
		const {data} = await this.call('Page.captureScreenshot', {format: 'png'});

		writeFileSync(path, Buffer.from(data, 'base64'));
	}
}
