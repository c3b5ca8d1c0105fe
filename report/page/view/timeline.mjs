// SPDX-License-Identifier: Apache-2.0
// The timeline: what is shown, selected, searched and measured, and how it is drawn.
import {Camera} from './camera.mjs';
import {makeStyles} from './colors.mjs';
import {rowFacts, showDetails, showRow, summaryOf} from './details.mjs';
import {byId, fit, make, onceAFrame, palette, rightOf} from './dom.mjs';
import {duration, whole} from './format.mjs';
import {listenInput} from './input.mjs';
import {Labels} from './labels.mjs';
import {at} from './lanes.mjs';
import {fillLegend} from './legend.mjs';
import {Minimap} from './minimap.mjs';
import {paintArrow, paintInstant, paintRows, paintRuler} from './paint.mjs';
import {RangePanel} from './rangeview.mjs';
import {lanesOf, layout, LANE, makeChoice, rowAt, sortGroups} from './rows.mjs';
import {eachLane, findEvent, findMatches, matchSpan, nextMatch, pick, related} from './search.mjs';

const RULER = 28, REACH = 4; // pixels
const WIDE = 760; // a page narrower than this has short labels

// The time covered by the events.
function extentOf(groups) {
	let first = Infinity, last = -Infinity;

	for (const group of groups) {
		first = Math.min(first, group.start ?? Infinity);
		last = Math.max(last, group.end ?? -Infinity);
	}
	eachLane(groups, lane => {
		first = Math.min(first, lane.start[0]);
		last = Math.max(last, lane.end[lane.count - 1]);
	});
	first = first < Infinity ? first : 0;
	return {first, last: Math.max(last, first + 1000)};
}

export class Timeline {
	// onChange is called when address() has changed.
	constructor(model, groups, onChange) {
		const {first, last} = extentOf(groups);

		this.model = model;
		this.unsorted = groups;
		this.groups = sortGroups(groups, 'active');
		this.onChange = onChange;
		this.choice = makeChoice();
		this.selection = null; // {lane, i}
		this.others = []; // what it is related to, see related()
		this.span = null; // the selected time [from, to]
		this.found = null; // during a search
		this.lastMatch = null;
		this.scroller = byId('scroller');
		this.canvas = byId('lanes');
		this.ruler = byId('ruler');
		this.draw = onceAFrame(() => this.paint());
		this.camera = new Camera(first, last, this.draw);
		this.labels = new Labels(byId('labels'), (what, id) => this.act(what, id));
		this.minimap = new Minimap(byId('minimap'), groups, this.camera);
		this.countIdle();
		fillLegend(byId('legend'), model, this.groups);
		this.range = new RangePanel(model, () => this.visibleGroups(), (from, to) => this.camera.look(from, to),
			() => this.selectTime(null));
		this.arrange();
		this.listen();
		listenInput(this);
		new ResizeObserver(() => this.resized()).observe(this.scroller);
	}

	listen() {
		const on = (id, event, act) => byId(id).addEventListener(event, act);

		this.scroller.addEventListener('scroll', () => this.draw());
		on('search', 'input', event => this.search(event.target.value.trim()));
		on('search', 'keydown', event => {
			if (event.key === 'Enter')
				this.go(event.shiftKey ? -1 : 1);
			if (event.key === 'Escape')
				this.endSearch();
		});
		on('next', 'click', () => this.go(1));
		on('previous', 'click', () => this.go(-1));
		on('zoom-in', 'click', () => this.camera.zoom(0.5));
		on('zoom-out', 'click', () => this.camera.zoom(2));
		on('undo', 'click', () => this.camera.undo());
		on('fit', 'click', () => this.camera.all());
		on('filter', 'input', event => {
			this.choice.filter = event.target.value.trim();
			this.scroller.scrollTop = 0;
			this.arrange();
		});
		on('show-hidden', 'click', () => {
			this.choice.hidden.clear();
			this.arrange();
		});
		on('show-idle', 'click', () => {
			this.choice.hasIdle = !this.choice.hasIdle;
			this.arrange();
		});
		on('sort', 'change', event => {
			this.choice.order = event.target.value;
			this.arrange();
		});
		on('legend-button', 'click', () => {
			byId('legend').hidden = !byId('legend').hidden;
			byId('legend-button').setAttribute('aria-pressed', String(!byId('legend').hidden));
		});
		on('stack-charts', 'click', () => this.toggleStacks());
		byId('stack-charts').hidden = !this.groups.some(group => group.items.some(item => item.samples));
	}

	// The button that shows what is folded.
	countIdle() {
		const idle = this.groups.reduce((sum, group) =>
			sum + (group.isIdle ? 1 : group.items.filter(item => item.isIdle).length), 0);

		byId('show-idle').hidden = !idle;
		byId('show-idle').textContent = `${whole(idle)} idle or of start-up`;
	}

	arrange() {
		this.groups = sortGroups(this.unsorted, this.choice.order);
		byId('sort').value = this.choice.order;
		byId('show-idle').setAttribute('aria-pressed', String(this.choice.hasIdle));
		const {rows, height, pinned, pinnedHeight} = layout(this.model, this.groups, this.choice);
		const {size} = this.choice.hidden;

		Object.assign(this, {rows, pinned, pinnedHeight});
		byId('extent').style.height = `${height + pinnedHeight}px`;
		byId('show-hidden').hidden = !size;
		byId('show-hidden').textContent = `Show ${size} hidden`;
		this.draw();
	}

	resized() {
		if (!this.scroller.clientWidth)
			return;
		this.labelWidth = window.innerWidth < WIDE ? 118 : 220;
		byId('labels').style.width = byId('minimap').style.marginLeft = `${this.labelWidth}px`;
		this.camera.resize(Math.max(50, this.scroller.clientWidth - this.labelWidth));
		this.draw();
	}

	restyle() {
		this.colors = null;
		this.range.restyle();
		fillLegend(byId('legend'), this.model, this.groups);
		this.draw();
	}

	// ---- tracks ----

	// Folds, pins, hides a group or an item, or shows the stacks of its samples; or undoes that.
	act(what, id) {
		const set = this.choice[{fold: 'folded', pin: 'pinned', hide: 'hidden', stacks: 'stacks'}[what]];

		if (!set.delete(id))
			set.add(id);
		this.arrange();
		if (this.selection && what === 'hide')
			this.select(null);
	}

	toggleStacks() {
		const items = this.groups.flatMap(group => group.items.filter(item => item.samples));

		if (this.choice.stacks.size)
			this.choice.stacks.clear();
		else
			items.forEach(item => this.choice.stacks.add(item.id));
		byId('stack-charts').setAttribute('aria-pressed', String(this.choice.stacks.size > 0));
		this.arrange();
	}

	visibleGroups() {
		const items = new Set([...this.rows, ...this.pinned].map(row => row.item && row.item.id));

		return this.groups.filter(group => !this.choice.hidden.has(group.id)).map(group => ({...group,
			items: group.items.filter(item => items.has(item.id) ||
				(this.choice.folded.has(group.id) && !this.choice.hidden.has(item.id)))}));
	}

	// The group and the item of a lane; a lane of stacks has a row, if it is seen.
	ownerOf(lane) {
		for (const group of this.groups)
			for (const item of group.items)
				if (lanesOf(item).includes(lane))
					return {group, item};
		return this.rowOf(lane) || null;
	}

	rowOf(lane) {
		return this.pinned.find(row => row.lane === lane) || this.rows.find(row => row.lane === lane);
	}

	// Where a row is on the canvas.
	yOf(row) {
		return this.pinned.includes(row) ? row.y : row.y + this.pinnedHeight - this.scroller.scrollTop;
	}

	// ---- selecting ----

	select(selection) {
		this.selection = selection;
		this.others = selection ? related(this.model, this.groups, selection) : [];
		showDetails(this.model, selection, this.others, other => this.reveal(other));
		this.resized();
	}

	// Shows what a row without events tells at a place; false: nothing.
	selectRow(row, x, height) {
		const facts = row && rowFacts(this.model, row, this.camera.instantAt(x), height);

		if (!facts)
			return false;
		this.select(null);
		showRow(facts, () => this.showGroup(this.groups.find(group => group.id === `p${facts.target}`), true));
		this.resized();
		return true;
	}

	clear() {
		this.select(null);
		this.selectTime(null);
	}

	// Makes a row visible that is hidden, filtered or folded.
	uncover(lane) {
		const {folded, hidden} = this.choice;
		const owner = this.ownerOf(lane);

		if (!owner)
			return false;
		const {group, item} = owner;

		[group.id, item.id].forEach(id => folded.delete(id) | hidden.delete(id));
		this.choice.hasIdle = this.choice.hasIdle || Boolean(group.isIdle || item.isIdle);
		this.choice.stacks.delete(item.id);
		byId('filter').value = this.choice.filter = '';
		this.arrange();
		return true;
	}

	scrollTo(row) {
		const y = this.yOf(row), {scroller} = this;

		if (!this.pinned.includes(row) && (y < this.pinnedHeight || y + LANE > scroller.clientHeight))
			scroller.scrollTop = row.y - (scroller.clientHeight - this.pinnedHeight) / 3;
	}

	// Selects an event and brings it into view.
	reveal({lane, i}) {
		const long = Math.max(lane.end[i] - lane.start[i], 20), {camera} = this;

		if (!this.rowOf(lane) && !this.uncover(lane))
			return;
		this.scrollTo(this.rowOf(lane));
		this.select({lane, i});
		if (lane.start[i] < camera.t0 || lane.end[i] > camera.t1 || long / camera.nsPerPixel < 6)
			camera.look(lane.start[i] - 12 * long, lane.end[i] + 12 * long);
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

	// The first event in view: where the arrow keys start.
	selectFirst() {
		const row = this.rows.find(candidate => candidate.lane && this.yOf(candidate) >= this.pinnedHeight);
		const i = row ? at(row.lane, (this.camera.t0 + this.camera.t1) / 2, Infinity) : -1;

		if (i >= 0)
			this.reveal({lane: row.lane, i});
	}

	// Selects the time between two instants, or none; isMoving: it is about to change.
	selectTime(from, to, isMoving = false) {
		this.span = from === null ? null : [Math.min(from, to), Math.max(from, to)];
		byId('measure').textContent = this.span ? `${duration(this.span[1] - this.span[0])} selected` : '';
		if (!isMoving)
			this.range.show(this.span);
		this.draw();
	}

	// ---- the address ----

	address() {
		const {selection, camera} = this;
		const track = selection ? this.model.tracks.indexOf(selection.lane.track) : -1;

		return {
			from: camera.isPlaced ? Math.round(camera.t0) : '',
			to: camera.isPlaced ? Math.round(camera.t1) : '',
			event: track >= 0 && selection ? `${track}.${selection.lane.event[selection.i]}` : '',
			range: this.span && this.span.map(Math.round).join('-'),
			search: byId('search').value.trim(),
			filter: this.choice.filter,
			sort: this.choice.order === 'active' ? '' : this.choice.order,
			idle: this.choice.hasIdle ? 1 : '',
			pin: [...this.choice.pinned].join(','),
			hide: this.choice.hidden.size < 50 ? [...this.choice.hidden].join(',') : '',
			stacks: this.choice.stacks.size < 50 ? [...this.choice.stacks].join(',') : ''
		};
	}

	// Shows what an address names: a state as above, or what to look for.
	restore({from, to, event, range, search = '', filter = '', pin = '', hide = '', stacks = '', sort = 'active',
		idle = '', ...wanted}) {
		const [, track, position] = /^(\d+)\.(\d+)$/.exec(event || '') || [];
		const [, first, last] = /^(-?\d+)-(-?\d+)$/.exec(range || '') || [];
		const ids = text => new Set(text ? text.split(',') : []), isState = Number(to) > Number(from);

		if (isState)
			Object.assign(this.choice, {filter, pinned: ids(pin), hidden: ids(hide), stacks: ids(stacks),
				order: sort === 'start' ? sort : 'active', hasIdle: idle === '1'});
		byId('filter').value = this.choice.filter;
		this.arrange();
		byId('search').value = search;
		this.search(search);
		this.select(track ? pick(this.model.tracks[track] || {}, Number(position)) : null);
		if (first)
			this.selectTime(Number(first), Number(last));
		else
			this.selectTime(null);
		this.resized();
		if (this.selection && this.rowOf(this.selection.lane))
			this.scrollTo(this.rowOf(this.selection.lane));
		if (isState)
			this.camera.show(Number(from), Number(to));
		else if (Object.keys(wanted).some(key => key in {name: 0, pid: 0, start: 0}))
			this.seek(wanted);
		else if (search)
			this.showMatches();
	}

	// What a link looks for, as a whole: a frame has many samples, of which one tells nothing.
	showMatches() {
		const span = this.found.places.length ? null : matchSpan(this.groups, this.found);
		const first = span && nextMatch(this.rows, this.found, null, 1);

		if (!span) {
			this.go(1);
			return;
		}
		if (first && this.rowOf(first.lane))
			this.scrollTo(this.rowOf(first.lane));
		this.camera.look(...span);
	}

	// Selects the event that a link names, or shows the process and the time.
	seek({name, pid, tid, in: frame, start, length}) {
		const found = (name || (tid && start)) &&
			findEvent(this.model, this.groups, {name, pid, tid, frame, start});
		const group = this.groups.find(one => pid && String(one.pid) === pid);

		if (found) {
			this.reveal(found);
			this.around(found);
			return;
		}
		if (group)
			this.showGroup(group, start === undefined);
		if (start !== undefined) {
			const from = Number(start), long = Number(length || 1e6);

			this.camera.look(from - long / 8, from + long * 9 / 8);
		}
	}

	showGroup(group, isAll) {
		const find = () => this.rows.find(one => one.group.id === group.id);

		if (!find()) {
			this.choice.hidden.delete(group.id);
			this.choice.hasIdle = this.choice.hasIdle || Boolean(group.isIdle);
			byId('filter').value = this.choice.filter = '';
			this.arrange();
		}
		if (find())
			this.scroller.scrollTop = find().y;
		if (isAll)
			this.camera.look(group.start, group.end);
	}

	// Zooms to an event with its neighbourhood.
	around({lane, i}) {
		const long = Math.max(lane.end[i] - lane.start[i], 20), {camera} = this;

		camera.look(Math.max(camera.first, lane.start[i] - 2 * long),
			Math.min(camera.last, lane.end[i] + 2 * long));
	}

	// ---- searching ----

	search(text) {
		const found = this.found = findMatches(this.model, this.groups, text);
		const places = found ? found.places.length : 0;

		this.lastMatch = null;
		this.lastPlace = -1;
		byId('matches').textContent = !found ? '' : `${whole(found.count)} found` +
			(places ? ` · ${places} ${places === 1 ? 'process or thread' : 'processes or threads'}` : '');
		this.draw();
	}

	// Processes and threads with that id are first, then events.
	go(direction) {
		const {found} = this;

		if (!found)
			return;
		if (found.places.length && (!found.count || direction > 0) && !this.lastMatch &&
		    (this.lastPlace + 1 < found.places.length || !found.count)) {
			this.lastPlace = (this.lastPlace + direction + found.places.length) % found.places.length;
			this.showGroup(found.places[this.lastPlace].group, true);
			return;
		}
		let match = nextMatch(this.rows, found, this.lastMatch, direction);

		if (!match && found.count && !this.choice.hasIdle) {
			this.choice.hasIdle = true; /* all of them are in what is folded */
			this.arrange();
			match = nextMatch(this.rows, found, this.lastMatch, direction);
		}

		if (!match)
			return;
		this.lastMatch = match;
		this.reveal(match);
	}

	endSearch() {
		byId('search').value = '';
		this.search('');
		this.scroller.focus();
	}

	// ---- what is under the pointer ----

	// {row, height: within it, and the event, if there is one}; null: nothing.
	hit({x, y}) {
		const isPinned = y < this.pinnedHeight, rows = isPinned ? this.pinned : this.rows;
		const height = isPinned ? y : y - this.pinnedHeight + this.scroller.scrollTop;
		const row = rows[rowAt(rows, height)];

		if (!row || height >= row.y + row.height)
			return null;
		if (!row.lane || x < 0)
			return {row, height: height - row.y};
		const i = at(row.lane, this.camera.instantAt(x), REACH * this.camera.nsPerPixel);

		return {row, event: i >= 0 ? {lane: row.lane, i} : null};
	}

	tip(event, pointer, facts = null) {
		const tip = byId('tip');

		tip.hidden = !event && !facts;
		if (tip.hidden)
			return;
		const {name, lines} = event ? summaryOf(this.model, event)
			: {name: facts.name, lines: facts.facts.map(fact => fact.join(': '))};

		tip.replaceChildren(make('b', {}, name), ...lines.map(line => make('div', {}, line)));
		tip.style.left = `${Math.min(pointer.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
		tip.style.top = `${Math.min(pointer.clientY + 16, window.innerHeight - tip.offsetHeight - 8)}px`;
	}

	// ---- drawing ----

	// Names are added when the stacks of samples are first shown.
	updateStyles() {
		const count = this.model.names.length / 2;

		this.colors = this.colors || palette();
		if (!this.styles || this.styles.isDark !== this.colors.isDark || this.styles.byName.length !== count)
			this.styles = {...makeStyles(this.model, this.colors.isDark), isDark: this.colors.isDark};
	}

	paint() {
		const height = this.scroller.clientHeight, {camera, labelWidth} = this;

		if (!height || !camera.isPlaced)
			return;
		this.updateStyles();
		const {width} = camera, c = fit(this.canvas, labelWidth + width, height), {colors, pinnedHeight} = this;
		const shown = [];

		c.fillStyle = colors.page;
		c.fillRect(0, 0, labelWidth + width, height);
		rightOf(c, labelWidth, width, height, () => {
			this.paintPart(c, this.rows, pinnedHeight, height - pinnedHeight, this.scroller.scrollTop,
				shown);
			if (pinnedHeight) {
				c.fillStyle = colors.page;
				c.fillRect(0, 0, width, pinnedHeight);
				this.paintPart(c, this.pinned, 0, pinnedHeight, 0, shown);
				c.fillStyle = colors.line;
				c.fillRect(0, pinnedHeight - 3, width, 1);
			}
			this.paintSpan(c, height);
			this.paintSelection(c);
		});
		this.labels.show(shown, this.choice);
		this.paintTop(width);
		this.onChange();
	}

	// Paints rows into a part of the canvas, and adds those with a label to `shown`.
	paintPart(c, rows, y, height, top, shown) {
		const {camera} = this, view = {t0: camera.t0, nsPerPixel: camera.nsPerPixel, top, height};
		const first = Math.max(0, rowAt(rows, top));

		rightOf(c, 0, camera.width, y + height, () => {
			c.translate(0, y);
			paintRows(c, rows, first, view, camera.width, this.model, this.styles, this.found, this.colors);
		});
		for (let i = first; i < rows.length && rows[i].y < top + height; i++)
			if (rows[i].label)
				shown.push({row: rows[i], y: rows[i].y - top + y, isPinned: rows === this.pinned});
	}

	paintTop(width) {
		const c = fit(this.ruler, this.labelWidth + width, RULER), {colors, camera} = this;

		c.fillStyle = colors.page;
		c.fillRect(0, 0, this.labelWidth + width, RULER);
		rightOf(c, this.labelWidth, width, RULER, () => paintRuler(c, camera, width, colors));
		this.minimap.paint(colors);
		const seen = `${duration(width * camera.nsPerPixel)} seen`;

		if (byId('seen').textContent !== seen)
			byId('seen').textContent = seen;
		byId('undo').disabled = !camera.past.length;
	}

	paintSpan(c, height) {
		if (!this.span)
			return;
		const [from, to] = this.span.map(instant => this.camera.xOf(instant));

		c.fillStyle = this.colors.accent;
		c.globalAlpha = 0.14;
		c.fillRect(from, 0, to - from, height);
		c.globalAlpha = 1;
		c.fillRect(from, 0, 1, height);
		c.fillRect(to, 0, 1, height);
	}

	box({lane, i}) {
		const row = this.rowOf(lane), {camera} = this;

		return row && {x: camera.xOf(lane.start[i]), y: this.yOf(row),
			width: Math.max(2, (lane.end[i] - lane.start[i]) / camera.nsPerPixel)};
	}

	paintSelection(c) {
		const from = this.selection && this.box(this.selection);

		if (!from)
			return;
		c.strokeStyle = this.colors.accent;
		c.lineWidth = 2;
		c.strokeRect(Math.max(from.x, -4), from.y - 0.5,
			     Math.min(from.width, this.camera.width + 8 - Math.max(from.x, -4)), LANE - 2);
		this.others.forEach(({event, isFrom, at: instant, label}, place) => {
			const to = this.box(event);

			if (to && label)
				paintInstant(c, this.camera.xOf(instant), [to, from], label, place, this.colors);
			else if (to)
				paintArrow(c, isFrom ? [to, from] : [from, to], this.colors.accent);
		});
	}
}
