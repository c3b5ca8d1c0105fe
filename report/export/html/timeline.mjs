// SPDX-License-Identifier: Apache-2.0
// The timeline: its view, and its control by mouse and keyboard.
import {byId, fit, make, onceAFrame, palette, rightOf} from './dom.mjs';
import {showDetails, summaryOf} from './details.mjs';
import {duration} from './format.mjs';
import {at} from './lanes.mjs';
import {paintLabels, paintRows, paintRuler} from './paint.mjs';
import {layout, LANE, rowAt} from './rows.mjs';
import {findEvent, findNames, linked, nextMatch, pick} from './search.mjs';
import {makeStyles} from './colors.mjs';

const LABELS = 220, RULER = 34, REACH = 4; // pixels

export class Timeline {
	// onChange is called when address() has changed.
	constructor(model, groups, onChange) {
		this.model = model;
		this.onChange = onChange;
		this.groups = groups;
		this.collapsed = new Set();
		this.selection = null; // {lane, i}
		this.other = null; // the other end of its link
		this.span = null; // the measured time [from, to]
		this.found = null; // by name, during a search
		this.lastMatch = null;
		this.scroller = byId('scroller');
		this.canvas = byId('lanes');
		this.ruler = byId('ruler');
		this.draw = onceAFrame(() => this.paint());
		this.extent();
		this.arrange();
		this.listen();
		new ResizeObserver(() => this.resized()).observe(this.scroller);
	}

	// The time covered by the events.
	extent() {
		let first = Infinity, last = -Infinity;

		for (const group of this.groups) {
			first = Math.min(first, group.start ?? Infinity);
			last = Math.max(last, group.end ?? -Infinity);
			for (const item of group.items)
				for (const lane of item.lanes || []) {
					first = Math.min(first, lane.start[0]);
					last = Math.max(last, lane.end[lane.count - 1]);
				}
		}
		this.first = first < Infinity ? first : 0;
		this.last = Math.max(last, this.first + 1000);
	}

	get width() {
		return Math.max(50, this.scroller.clientWidth - LABELS);
	}

	get t1() {
		return this.t0 + this.width * this.nsPerPixel;
	}

	arrange() {
		const {rows, height} = layout(this.groups, this.collapsed);

		this.rows = rows;
		byId('extent').style.height = `${height}px`;
		this.draw();
	}

	resized() {
		if (!this.scroller.clientWidth)
			return;
		if (this.t0 === undefined)
			this.fitAll();
		this.draw();
	}

	restyle() {
		this.colors = null;
		this.draw();
	}

	// ---- moving ----

	fitAll() {
		this.look(this.first, this.last);
	}

	look(from, to) {
		this.nsPerPixel = Math.max(0.01, (to - from) / (this.width - 8));
		this.t0 = from - 4 * this.nsPerPixel;
		this.draw();
	}

	pan(pixels) {
		const margin = this.width * this.nsPerPixel / 2;

		this.t0 =
			Math.min(Math.max(this.t0 + pixels * this.nsPerPixel, this.first - margin), this.last - margin);
		this.draw();
	}

	zoom(factor, x = this.width / 2) {
		const instant = this.t0 + x * this.nsPerPixel, most = 1.5 * (this.last - this.first) / this.width;

		this.nsPerPixel = Math.min(Math.max(this.nsPerPixel * factor, 0.01), most);
		this.t0 = instant - x * this.nsPerPixel;
		this.draw();
	}

	// ---- selecting ----

	select(selection) {
		this.selection = selection;
		this.other = selection && linked(this.model, selection);
		showDetails(this.model, selection, this.other, other => this.reveal(other));
		byId('measure').textContent = '';
		this.span = null;
		this.draw();
	}

	// Selects an event and brings it into view.
	reveal({lane, i}) {
		const row = this.rows.find(candidate => candidate.lane === lane);
		const long = Math.max(lane.end[i] - lane.start[i], 20);

		if (!row) {
			this.collapsed.clear();
			this.arrange();
			this.reveal({lane, i});
			return;
		}
		if (row.y < this.scroller.scrollTop ||
		    row.y + LANE > this.scroller.scrollTop + this.scroller.clientHeight)
			this.scroller.scrollTop = row.y - this.scroller.clientHeight / 3;
		if (lane.start[i] < this.t0 || lane.end[i] > this.t1 || long / this.nsPerPixel < 6)
			this.look(lane.start[i] - 12 * long, lane.end[i] + 12 * long);
		this.select({lane, i});
	}

	// The selected event's neighbour in its lane, or in the lane above or below it.
	step(sideways, down) {
		const {lane, i} = this.selection;
		const lanes = this.rows.filter(row => row.lane);
		const next = lanes[lanes.findIndex(row => row.lane === lane) + down];

		if (!down && i + sideways >= 0 && i + sideways < lane.count)
			this.reveal({lane, i: i + sideways});
		else if (down && next)
			this.reveal({lane: next.lane, i: Math.max(0, at(next.lane, lane.start[i], Infinity))});
	}

	measure(from, to) {
		this.span = [Math.min(from, to), Math.max(from, to)];
		byId('measure').textContent = `${duration(this.span[1] - this.span[0])} measured`;
		this.draw();
	}

	// ---- the address ----

	address() {
		const {selection} = this, track = selection && selection.lane.track;

		return {
			from: Math.round(this.t0),
			to: Math.round(this.t1),
			event: track && `${this.model.tracks.indexOf(track)}.${selection.lane.event[selection.i]}`,
			range: this.span && this.span.map(Math.round).join('-'),
			search: byId('search').value.trim()
		};
	}

	// Shows what an address names: a state as above, or what to look for.
	restore({from, to, event, range, search = '', ...wanted}) {
		const [, track, position] = /^(\d+)\.(\d+)$/.exec(event || '') || [];
		const [, first, last] = /^(-?\d+)-(-?\d+)$/.exec(range || '') || [];

		this.resized();
		byId('search').value = search;
		this.search(search);
		this.select(track ? pick(this.model.tracks[track] || {}, Number(position)) : null);
		if (first)
			this.measure(Number(first), Number(last));
		if (Number(to) > Number(from)) {
			this.t0 = Number(from);
			this.nsPerPixel = (to - from) / this.width;
			this.draw();
		} else if (Object.keys(wanted).some(key => key in {name: 0, pid: 0, start: 0}))
			this.seek(wanted);
		else if (search)
			this.go(1);
	}

	// Selects the event that a link names, or shows the process and the time.
	seek({name, pid, tid, in: frame, start, length}) {
		const found = name && findEvent(this.model, this.groups, {name, pid, tid, frame, start});
		const group = this.groups.find(one => pid && String(one.pid) === pid);

		if (found) {
			this.reveal(found);
			this.around(found);
			return;
		}
		if (group)
			this.scroller.scrollTop = this.rows.find(row => row.group === group).y;
		if (start !== undefined)
			this.look(Number(start) - Number(length || 0) / 8, Number(start) + Number(length || 1e6) * 9 / 8);
		else if (group)
			this.look(group.start, group.end);
	}

	// Zooms to an event with its neighbourhood.
	around({lane, i}) {
		const long = Math.max(lane.end[i] - lane.start[i], 20);

		this.look(Math.max(this.first, lane.start[i] - 2 * long), Math.min(this.last, lane.end[i] + 2 * long));
	}

	// ---- searching ----

	search(text) {
		const match = findNames(this.model, this.groups, text);

		this.found = match && match.names;
		this.lastMatch = null;
		byId('matches').textContent = match ? `${match.count.toLocaleString('en')} found` : '';
		this.draw();
	}

	go(direction) {
		const match = this.found && nextMatch(this.rows, this.found, this.lastMatch, direction);

		if (!match)
			return;
		this.lastMatch = match;
		this.reveal(match);
	}

	// ---- input ----

	place(event) {
		const box = this.canvas.getBoundingClientRect();

		return {x: event.clientX - box.left - LABELS, y: event.clientY - box.top};
	}

	instantAt(x) {
		return this.t0 + x * this.nsPerPixel;
	}

	hit({x, y}) {
		const row = this.rows[rowAt(this.rows, y + this.scroller.scrollTop)];

		if (!row || y + this.scroller.scrollTop >= row.y + row.height)
			return null;
		if (!row.lane || x < 0)
			return {row};
		const i = at(row.lane, this.instantAt(x), REACH * this.nsPerPixel);

		return {row, event: i >= 0 ? {lane: row.lane, i} : null};
	}

	listen() {
		const {canvas, scroller} = this;

		scroller.addEventListener('scroll', () => this.draw());
		scroller.addEventListener('wheel', event => this.wheel(event), {passive: false});
		canvas.addEventListener('pointerdown', event => this.press(event));
		canvas.addEventListener('pointermove', event => this.move(event));
		canvas.addEventListener('pointerup', event => this.release(event));
		canvas.addEventListener('pointerleave', () => this.tip(null));
		canvas.addEventListener('dblclick', event => {
			const hit = this.hit(this.place(event));

			if (hit && hit.event)
				this.look(hit.event.lane.start[hit.event.i], hit.event.lane.end[hit.event.i]);
		});
		scroller.addEventListener('keydown', event => this.key(event));
		byId('search').addEventListener('input', event => this.search(event.target.value.trim()));
		byId('search').addEventListener('keydown', event => {
			if (event.key === 'Enter')
				this.go(event.shiftKey ? -1 : 1);
			if (event.key === 'Escape')
				this.endSearch();
		});
		byId('next').addEventListener('click', () => this.go(1));
		byId('previous').addEventListener('click', () => this.go(-1));
		byId('zoom-in').addEventListener('click', () => this.zoom(0.5));
		byId('zoom-out').addEventListener('click', () => this.zoom(2));
		byId('fit').addEventListener('click', () => this.fitAll());
	}

	endSearch() {
		byId('search').value = '';
		this.search('');
		this.scroller.focus();
	}

	wheel(event) {
		if (event.ctrlKey || event.metaKey)
			this.zoom(Math.exp(event.deltaY * 0.004), this.place(event).x);
		else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.pan(event.deltaX || event.deltaY);
		else
			return;
		event.preventDefault();
	}

	press(event) {
		if (event.button)
			return;
		this.held = {
			...this.place(event),
			t0: this.t0,
			top: this.scroller.scrollTop,
			isMeasure: event.shiftKey,
			moved: false
		};
		this.canvas.setPointerCapture(event.pointerId);
	}

	move(event) {
		const place = this.place(event), held = this.held;

		if (!held) {
			const hit = this.hit(place);

			this.tip(hit && hit.event, event);
			this.canvas.style.cursor =
				hit && (hit.event || hit.row.kind === 'header') ? 'pointer' : 'default';
			return;
		}
		held.moved = held.moved || Math.abs(place.x - held.x) + Math.abs(place.y - held.y) > 3;
		if (!held.moved)
			return;
		if (held.isMeasure) {
			this.measure(this.instantAt(held.x), this.instantAt(place.x));
			return;
		}
		this.t0 = held.t0;
		this.pan(held.x - place.x);
		this.scroller.scrollTop = held.top + held.y - place.y;
	}

	release(event) {
		const held = this.held, hit = this.hit(this.place(event));

		this.held = null;
		if (!held || held.moved)
			return;
		if (hit && hit.row.kind === 'header')
			this.toggle(hit.row.group);
		else
			this.select(hit && hit.event);
	}

	toggle(group) {
		if (!this.collapsed.delete(group.id))
			this.collapsed.add(group.id);
		this.arrange();
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const {selection} = this, page = this.width / 6;
		const keys = {
			w: () => this.zoom(0.7),
			s: () => this.zoom(1.4),
			'+': () => this.zoom(0.7),
			'=': () => this.zoom(0.7),
			'-': () => this.zoom(1.4),
			a: () => this.pan(-page),
			d: () => this.pan(page),
			0: () => this.fitAll(),
			ArrowLeft: () => selection ? this.step(-1, 0) : this.pan(-page),
			ArrowRight: () => selection ? this.step(1, 0) : this.pan(page),
			ArrowUp: () => selection ? this.step(0, -1) : this.scroller.scrollBy(0, -3 * LANE),
			ArrowDown: () => selection ? this.step(0, 1) : this.scroller.scrollBy(0, 3 * LANE),
			f: () => selection &&
				 this.look(selection.lane.start[selection.i], selection.lane.end[selection.i]),
			m: () => selection &&
				 this.measure(selection.lane.start[selection.i], selection.lane.end[selection.i]),
			c: () => selection && this.toggle(this.groups.find(
						      group => group.items.some(
							      item => (item.lanes || []).includes(selection.lane)))),
			n: () => this.go(1),
			N: () => this.go(-1),
			Enter: () => this.selectFirst(),
			Escape: () => this.found ? this.endSearch() : this.select(null),
		};

		if (!keys[event.key])
			return;
		event.preventDefault();
		keys[event.key]();
	}

	// The first event in view: where the arrow keys start.
	selectFirst() {
		const row = this.rows.find(candidate => candidate.lane && candidate.y >= this.scroller.scrollTop);
		const i = row ? at(row.lane, this.t0 + this.width * this.nsPerPixel / 2, Infinity) : -1;

		if (i >= 0)
			this.reveal({lane: row.lane, i});
	}

	tip(event, pointer) {
		const tip = byId('tip');

		tip.hidden = !event;
		if (!event)
			return;
		const {name, lines} = summaryOf(this.model, event);

		tip.replaceChildren(make('b', {}, name), ...lines.map(line => make('div', {}, line)));
		tip.style.left = `${Math.min(pointer.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
		tip.style.top = `${Math.min(pointer.clientY + 16, window.innerHeight - tip.offsetHeight - 8)}px`;
	}

	// ---- drawing ----

	paint() {
		const height = this.scroller.clientHeight, {width} = this;

		if (!height || this.t0 === undefined)
			return;
		this.colors = this.colors || palette();
		this.styles = this.styles && this.styles.isDark === this.colors.isDark ? this.styles :
			{...makeStyles(this.model, this.colors.isDark), isDark: this.colors.isDark};
		const c = fit(this.canvas, LABELS + width, height), {colors} = this;
		const view = {t0: this.t0, nsPerPixel: this.nsPerPixel, top: this.scroller.scrollTop, height};
		const first = Math.max(0, rowAt(this.rows, view.top));

		c.fillStyle = colors.page;
		c.fillRect(0, 0, LABELS + width, height);
		rightOf(c, LABELS, width, height, () => {
			paintRows(c, this.rows, first, view, width, this.model, this.styles, this.found, colors);
			this.paintSpan(c, height);
			this.paintSelection(c, view);
		});
		paintLabels(c, this.rows, first, view, LABELS, this.collapsed, colors);
		this.paintTop(width, view);
		this.onChange();
	}

	paintTop(width, view) {
		const c = fit(this.ruler, LABELS + width, RULER), {colors} = this;
		const from = (this.t0 - this.first) / (this.last - this.first),
		      share = width * this.nsPerPixel / (this.last - this.first);

		c.fillStyle = colors.page;
		c.fillRect(0, 0, LABELS + width, RULER);
		rightOf(c, LABELS, width, RULER, () => {
			paintRuler(c, view, width, colors);
			/* The visible part of the whole. */
			c.fillStyle = colors.line;
			c.fillRect(0, RULER - 5, width, 3);
			c.fillStyle = colors.accent;
			c.fillRect(Math.max(0, from) * width, RULER - 5,
				   Math.max(3, (Math.min(1, from + share) - Math.max(0, from)) * width), 3);
		});
		byId('seen').textContent = `${duration(width * this.nsPerPixel)} seen`;
	}

	paintSpan(c, height) {
		if (!this.span)
			return;
		const from = (this.span[0] - this.t0) / this.nsPerPixel,
		      to = (this.span[1] - this.t0) / this.nsPerPixel;

		c.fillStyle = this.colors.accent;
		c.globalAlpha = 0.14;
		c.fillRect(from, 0, to - from, height);
		c.globalAlpha = 1;
		c.fillRect(from, 0, 1, height);
		c.fillRect(to, 0, 1, height);
	}

	box({lane, i}, view) {
		const row = this.rows.find(candidate => candidate.lane === lane);

		return row && {x: (lane.start[i] - this.t0) / this.nsPerPixel, y: row.y - view.top,
			width: Math.max(2, (lane.end[i] - lane.start[i]) / this.nsPerPixel)};
	}

	paintSelection(c, view) {
		const from = this.selection && this.box(this.selection, view);

		if (!from)
			return;
		c.strokeStyle = this.colors.accent;
		c.lineWidth = 2;
		c.strokeRect(Math.max(from.x, -4), from.y - 0.5,
			     Math.min(from.width, this.width + 8 - Math.max(from.x, -4)), LANE - 2);
		const {other} = this, to = other && this.box(other, view);

		if (to)
			this.paintArrow(c, other.lane.track.kind === 'stream' ? [from, to] : [to, from]);
	}

	// From the launch to the device operation.
	paintArrow(c, [launch, work]) {
		const x0 = launch.x + Math.min(launch.width, 6), y0 = launch.y + LANE - 3,
		      y1 = work.y + (work.y > launch.y ? 0 : LANE - 3);
		const bend = Math.max(24, Math.abs(work.x - x0) / 3);

		c.lineWidth = 1.5;
		c.beginPath();
		c.moveTo(x0, y0);
		c.bezierCurveTo(x0 + bend, y0, work.x - bend, y1, work.x, y1);
		c.stroke();
		c.beginPath();
		c.arc(work.x, y1, 3, 0, 7);
		c.fillStyle = this.colors.accent;
		c.fill();
	}
}
