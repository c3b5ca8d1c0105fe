// SPDX-License-Identifier: Apache-2.0
// The whole time in a strip, with a window on what is seen, which can be dragged and resized.
import {fit} from './dom.mjs';
import {duration} from './format.mjs';
import {lowerBound} from './lanes.mjs';
import {eachLane} from './search.mjs';

const HEIGHT = 26, BIN = 2, EDGE = 6, MOST_LANES_READ = 3000, TELL_MS = 200;

// How busy each bin of the time is: of all lanes together, and 1 in the busiest.
export function density(groups, first, last, bins) {
	const sums = new Float64Array(bins), lanes = [];

	eachLane(groups, lane => lanes.push(lane));
	const stride = Math.ceil(lanes.length / MOST_LANES_READ), width = (last - first) / bins;

	for (let k = 0; k < lanes.length; k += stride) {
		const {start, end, busy, count} = lanes[k];
		let i = 0;

		for (let bin = 0; bin < bins && i < count; bin++) {
			const from = first + bin * width, to = from + width;

			i = lowerBound(end, from, i, count);
			const next = lowerBound(start, to, i, count);

			if (next <= i)
				continue;
			const outside = Math.max(0, from - start[i]) + Math.max(0, end[next - 1] - to);

			sums[bin] += Math.min(width, busy[next] - busy[i] - outside + 0.02 * width);
		}
	}
	const most = sums.reduce((a, b) => Math.max(a, b), 0) || 1;

	return sums.map(sum => sum / most);
}

export class Minimap {
	constructor(element, groups, camera) {
		this.element = element;
		this.canvas = element.querySelector('canvas');
		this.groups = groups;
		this.camera = camera;
		element.addEventListener('pointerdown', event => this.press(event));
		element.addEventListener('pointermove', event => this.move(event));
		element.addEventListener('pointerup', () => this.held = null);
		element.addEventListener('keydown', event => this.key(event));
	}

	// Pixels from the start of the whole time.
	x(instant) {
		const {first, last, width} = this.camera;

		return (instant - first) / (last - first) * width;
	}

	instant(event) {
		const {first, last, width} = this.camera;

		return first + (event.clientX - this.canvas.getBoundingClientRect().left) / width * (last - first);
	}

	press(event) {
		const {camera} = this, at = this.instant(event), long = camera.t1 - camera.t0;
		const near = EDGE / camera.width * (camera.last - camera.first);
		const isFrom = Math.abs(at - camera.t0) < near, isTo = Math.abs(at - camera.t1) < near;

		if (event.button)
			return;
		event.preventDefault();
		this.element.focus();
		this.held = {gesture: {}, edge: long <= 2 * near ? '' : isFrom ? 'from' : isTo ? 'to' : ''};
		/* Outside of the window it jumps there. */
		this.held.offset = at < camera.t0 || at > camera.t1 ? long / 2 : at - camera.t0;
		this.element.setPointerCapture(event.pointerId);
		this.move(event);
	}

	move(event) {
		const {camera, held} = this;

		if (!held)
			return;
		const at = this.instant(event), {t0, t1} = camera;

		if (held.edge === 'from')
			camera.show(Math.min(at, t1 - 1), t1, held.gesture);
		else if (held.edge === 'to')
			camera.show(t0, Math.max(at, t0 + 1), held.gesture);
		else
			camera.show(at - held.offset, at - held.offset + t1 - t0, held.gesture);
	}

	key(event) {
		const {camera} = this, page = camera.width / 6;
		const act = {ArrowLeft: () => camera.pan(-page), ArrowRight: () => camera.pan(page),
			ArrowUp: () => camera.zoom(0.7), ArrowDown: () => camera.zoom(1.4),
			Home: () => camera.all()}[event.key];

		if (!act)
			return;
		event.preventDefault();
		act();
	}

	// How busy the time is, drawn once for a width and a theme.
	background(colors) {
		const {camera} = this, bins = Math.max(1, Math.floor(camera.width / BIN));

		if (this.drawn && this.drawn.bins === bins && this.drawn.colors === colors)
			return this.drawn.canvas;
		const canvas = document.createElement('canvas'), c = fit(canvas, camera.width, HEIGHT);

		c.fillStyle = colors.panel;
		c.fillRect(0, 0, camera.width, HEIGHT);
		c.fillStyle = colors.soft;
		c.globalAlpha = 0.55;
		density(this.groups, camera.first, camera.last, bins).forEach((share, bin) => {
			const tall = share ? 1 + share * (HEIGHT - 5) : 0;

			c.fillRect(bin * BIN, HEIGHT - 1 - tall, BIN, tall);
		});
		this.drawn = {canvas, bins, colors};
		return canvas;
	}

	paint(colors) {
		const {camera} = this, {width} = camera, c = fit(this.canvas, width, HEIGHT);
		const from = Math.max(0, this.x(camera.t0));
		const to = Math.max(from + 3, Math.min(width, this.x(camera.t1)));

		c.drawImage(this.background(colors), 0, 0, width, HEIGHT);
		c.fillStyle = colors.accent;
		c.globalAlpha = 0.16;
		c.fillRect(from, 0, to - from, HEIGHT);
		c.globalAlpha = 1;
		c.fillRect(from, 0, to - from, 2);
		c.fillRect(from, 0, 2, HEIGHT);
		c.fillRect(to - 2, 0, 2, HEIGHT);
		clearTimeout(this.telling);
		this.telling = setTimeout(() => this.tell(), TELL_MS);
	}

	// For those who do not see it, when it rests.
	tell() {
		const {camera, element} = this, now = Math.min(Math.max(camera.t0, camera.first), camera.last);
		const words = {min: camera.first, max: camera.last, now};

		for (const [word, value] of Object.entries(words))
			element.setAttribute(`aria-value${word}`, String(Math.round(value)));
		element.setAttribute('aria-valuetext',
			`${duration(camera.t1 - camera.t0)} from ${duration(now - camera.first)}`);
	}
}
