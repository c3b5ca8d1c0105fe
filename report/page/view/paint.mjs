// SPDX-License-Identifier: Apache-2.0
// Draws the rows and the ruler of the timeline. Rectangles are sorted by style, because changing the style is
// expensive.
import {clippedText} from './dom.mjs';
import {duration, instant} from './format.mjs';
import {busyShares, longest, lowerBound, visit} from './lanes.mjs';
import {LANE, STATES} from './rows.mjs';

const COVERS = 4; // levels of coverage of a pixel by small events
const TEXT_WIDTH = 34;

// Ticks at 1, 2 or 5 times a power of ten, about 110 pixels apart.
export function tickStep(nsPerPixel) {
	const wanted = 110 * nsPerPixel, power = 10 ** Math.floor(Math.log10(wanted));

	return Math.max(1, [1, 2, 5, 10].map(k => k * power).find(step => step >= wanted));
}

export function paintRuler(c, view, width, colors) {
	const step = tickStep(view.nsPerPixel), first = Math.ceil(view.t0 / step),
	      count = width * view.nsPerPixel / step;

	c.font = `11px ${colors.font}`;
	c.textBaseline = 'middle';
	for (let i = 0; i < count; i++) {
		const t = (first + i) * step, x = Math.round((t - view.t0) / view.nsPerPixel) + 0.5;

		c.fillStyle = colors.line;
		c.fillRect(x - 0.5, 14, 1, 10);
		c.fillStyle = colors.soft;
		c.fillText(t ? instant(t, step) : '0', x + 5, 12);
	}
}

// Rectangles of one frame, by style and cover.
class Batch {
	constructor(styles, isFaint) {
		this.styles = styles;
		this.isFaint = isFaint;
		this.lists = new Map();
	}

	add(style, cover, x, y, width, height) {
		const key = style * (COVERS + 1) + cover;
		let list = this.lists.get(key);

		if (!list)
			this.lists.set(key, list = []);
		/* Adjacent small ones become one. */
		const last = list.length - 4;

		if (last >= 0 && cover < COVERS && list[last + 1] === y && list[last] + list[last + 2] === x)
			list[last + 2] += width;
		else
			list.push(x, y, width, height);
	}

	paint(c) {
		for (const [key, list] of this.lists) {
			const cover = key % (COVERS + 1);

			c.fillStyle = this.styles.colors[(key - cover) / (COVERS + 1)];
			c.globalAlpha = (cover / COVERS * 0.5 + 0.5) * (this.isFaint ? 0.18 : 1);
			for (let i = 0; i < list.length; i += 4)
				c.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
		}
		c.globalAlpha = 1;
	}
}

// `found`: what a search found; null: there is no search. Small events have the style of the longest one in their
// pixel.
function gather(row, y, view, width, styles, found, plain, hits, texts) {
	const {lane} = row, {name: names, detail: details} = lane.track, height = LANE - 3;
	const matches = found && found.hits(lane);

	visit(lane, view.t0, view.t0 + width * view.nsPerPixel, view.nsPerPixel, (x, w, i, cover, count) => {
		const event = lane.event[count > 1 ? longest(lane, i, i + count) : i], name = names[event],
		      style = styles.byDetail[details[event]] || styles.byName[name];
		const left = Math.max(x, -2), right = Math.min(x + w, width + 2);
		const isHit = matches && matches[i + count] > matches[i];

		if (w === 1) {
			(isHit ? hits : plain)
				.add(style, Math.ceil(cover * (COVERS - 1)), left, y, right - left, height);
			return;
		}
		const gap = right - left > 3 ? 1 : 0;

		(isHit ? hits : plain).add(style, COVERS, left, y, right - left - gap, height);
		if (right - left > TEXT_WIDTH)
			texts.push(name, left + 5, y + height / 2, right - left - 10);
	});
}

function paintTexts(c, texts, strings, names, colors) {
	c.fillStyle = colors.onEvent;
	c.font = `11px ${colors.font}`;
	c.textBaseline = 'middle';
	for (let i = 0; i < texts.length; i += 4)
		clippedText(c, strings[names[2 * texts[i]]], texts[i + 1], texts[i + 2] + 0.5, texts[i + 3]);
}

export function counterPeak(track) {
	track.peak = track.peak ?? (track.value || []).reduce((most, value) => Math.max(most, value), 0);
	return track.peak;
}

// A counter keeps its value until the next one. The highest value within a pixel is drawn there, the last one after it.
export function paintCounter(c, row, y, view, width, color) {
	const {counter} = row, t1 = view.t0 + width * view.nsPerPixel, height = row.height - 8;
	const most = counterPeak(counter) || 1;
	const fill = (value, from, to) => {
		const tall = value / most * height;

		if (to > from)
			c.fillRect(from, y + 4 + height - tall, to - from, tall);
	};
	let i = Math.max(0, lowerBound(counter.start, view.t0, 0, counter.count) - 1), x = 0;

	c.fillStyle = color;
	while (i < counter.count && counter.start[i] < t1) {
		const end = Math.floor(x) + 1;
		const next = Math.max(i + 1, lowerBound(counter.start, view.t0 + end * view.nsPerPixel, i,
							counter.count));
		const from = Math.max(0, (counter.start[i] - view.t0) / view.nsPerPixel);
		const to = next < counter.count ? (counter.start[next] - view.t0) / view.nsPerPixel : width;
		let value = 0;

		for (let k = i; k < next && k < i + 256; k++)
			value = Math.max(value, counter.value[k]);
		fill(value, from, Math.max(from + 1, Math.min(to, end)));
		fill(counter.value[next - 1], Math.max(from, end), Math.min(to, width));
		x = Math.max(to, x + 1);
		i = next;
	}
}

// How busy a device is: the streams together.
function paintUse(c, row, y, view, width, colors) {
	const bins = Math.ceil(width / 2), height = row.height - 8;

	c.fillStyle = colors.running;
	busyShares(row.uses, view.t0, 2 * view.nsPerPixel, bins).forEach((share, bin) => {
		if (share > 0)
			c.fillRect(2 * bin, y + 4 + height * (1 - share), 2, Math.max(1, height * share));
	});
}

// The image of the ranks, made once for a theme, at the place of its time.
function paintRanks(c, row, y, view, colors) {
	const {ranks} = row, x = (ranks.first - view.t0) / view.nsPerPixel;
	const wide = (ranks.last - ranks.first) / view.nsPerPixel;

	if (!ranks.canvas || ranks.colors !== colors) {
		const canvas = document.createElement('canvas'), of = canvas.getContext('2d');

		[canvas.width, canvas.height] = [ranks.bins, ranks.rows];
		of.fillStyle = colors.running;
		of.fillRect(0, 0, ranks.bins, ranks.rows);
		of.fillStyle = colors.wait;
		ranks.shares.forEach((share, i) => {
			of.globalAlpha = share;
			if (share)
				of.fillRect(i % ranks.bins, Math.floor(i / ranks.bins), 1, 1);
		});
		Object.assign(ranks, {canvas, colors});
	}
	c.imageSmoothingEnabled = false;
	c.drawImage(ranks.canvas, x, y, wide, ranks.height);
}

// Shares of each interval between two samples of a thread's accounts: on a CPU, runnable without one; the rest blocked.
function paintStates(c, row, y, view, width, colors) {
	const {states} = row;

	for (let i = 1; i < states.count; i++) {
		const from = Math.max(0, (states.start[i - 1] - view.t0) / view.nsPerPixel);
		const to = Math.min(width, (states.start[i] - view.t0) / view.nsPerPixel);
		const long = states.start[i] - states.start[i - 1];

		if (to <= from || long <= 0)
			continue;
		const wide = Math.max(0.5, to - from), used = Math.min(1, states.duration[i] / long);
		const waited = Math.min(1 - used, (states.value ? states.value[i] : 0) / long);

		c.fillStyle = colors.blocked;
		c.fillRect(from, y, wide, STATES);
		c.fillStyle = colors.runnable;
		c.fillRect(from, y + STATES * (1 - used - waited), wide, STATES * waited);
		c.fillStyle = colors.running;
		c.fillRect(from, y + STATES * (1 - used), wide, STATES * used);
	}
}

function paintHeader(c, row, y, view, width, found, colors) {
	c.fillStyle = colors.panel;
	c.fillRect(0, y, width, row.height - 4);
	if (row.group.end === undefined)
		return;
	const from = Math.max(0, (row.group.start - view.t0) / view.nsPerPixel);
	const to = Math.min(width, (row.group.end - view.t0) / view.nsPerPixel);

	if (to < from)
		return;
	const isFound = found && found.places.some(place => place.group.id === row.group.id);

	c.fillStyle = isFound ? colors.accent : colors.line;
	c.fillRect(from, y + row.height - 8, Math.max(1, to - from), 3);
	c.fillStyle = colors.soft;
	c.font = `11px ${colors.font}`;
	clippedText(c, `${duration(row.group.end - row.group.start)} · ${row.group.note}`, from + 6, y + 11,
		    to - from - 12);
}

// The visible rows. view: {t0, nsPerPixel, top, height}
export function paintRows(c, rows, first, view, width, model, styles, found, colors) {
	const plain = new Batch(styles, Boolean(found)), hits = new Batch(styles, false), texts = [];

	for (let i = first; i < rows.length && rows[i].y < view.top + view.height; i++) {
		const row = rows[i], y = row.y - view.top;

		if (row.kind === 'header')
			paintHeader(c, row, y, view, width, found, colors);
		else if (row.kind === 'counter')
			paintCounter(c, row, y, view, width, styles.colors[styles.byName[row.counter.name[0]]]);
		else if (row.kind === 'use')
			paintUse(c, row, y, view, width, colors);
		else if (row.kind === 'ranks')
			paintRanks(c, row, y, view, colors);
		else if (row.kind === 'states')
			paintStates(c, row, y, view, width, colors);
		else
			gather(row, y, view, width, styles, found, plain, hits, texts);
	}
	plain.paint(c);
	hits.paint(c);
	paintTexts(c, texts, model.strings, model.names, colors);
}

// From the launch to the device operation, from one end of a message to the other: boxes {x, y, width}.
export function paintArrow(c, [from, to], css) {
	const x0 = from.x + Math.min(from.width, 6), y0 = from.y + LANE - 3, y1 = to.y + (to.y > from.y ? 0 : LANE - 3);
	const bend = Math.max(24, Math.abs(to.x - x0) / 3);

	c.strokeStyle = css;
	c.lineWidth = 1.5;
	c.beginPath();
	c.moveTo(x0, y0);
	c.bezierCurveTo(x0 + bend, y0, to.x - bend, y1, to.x, y1);
	c.stroke();
	paintHead(c, to.x, y1, css);
}

function paintHead(c, x, y, css) {
	c.beginPath();
	c.arc(x, y, 3, 0, 7);
	c.fillStyle = css;
	c.fill();
}

// At an instant, from the thread that holds what another one waits for, or releases it, to the one that waits. Labels
// of different places do not cover each other.
export function paintInstant(c, x, [from, to], label, place, colors) {
	const isDown = to.y > from.y, y0 = from.y + (isDown ? LANE - 3 : 0), y1 = to.y + (isDown ? 0 : LANE - 3);

	c.strokeStyle = colors.accent;
	c.lineWidth = 1.5;
	c.beginPath();
	c.moveTo(x, y0);
	c.lineTo(x, y1);
	c.stroke();
	paintHead(c, x, y1, colors.accent);
	c.font = `11px ${colors.font}`;
	c.textBaseline = 'middle';
	const wide = c.measureText(label).width, far = 10 + 16 * place, y = isDown ? y1 - far : y1 + far;

	c.fillStyle = colors.page;
	c.fillRect(x + 5, y - 8, wide + 8, 16);
	c.fillStyle = colors.accent;
	c.fillText(label, x + 9, y);
}
