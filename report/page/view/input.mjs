// SPDX-License-Identifier: Apache-2.0
// Controls the timeline by pointer, wheel, touch and keyboard.
import {rowFacts} from './details.mjs';
import {LANE} from './rows.mjs';

const WHEEL_MS = 400; // turns of the wheel this close together are one gesture

function place(timeline, event) {
	const box = timeline.canvas.getBoundingClientRect();

	return {x: event.clientX - box.left - timeline.labelWidth, y: event.clientY - box.top};
}

// ---- wheel: zooms; sideways moves; with Shift, or over the labels, it scrolls ----

function listenWheel(timeline) {
	let gesture = null, last = 0;

	timeline.scroller.addEventListener('wheel', event => {
		const {camera} = timeline, {x} = place(timeline, event), now = performance.now();

		if (now - last > WHEEL_MS)
			gesture = {};
		last = now;
		/* Some browsers turn the wheel sideways when Shift is held. */
		if (event.shiftKey && !event.ctrlKey)
			timeline.scroller.scrollTop += event.deltaY || event.deltaX;
		else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
			camera.pan(event.deltaX, gesture);
		else if (x >= 0 || event.ctrlKey || event.metaKey)
			camera.zoom(Math.exp(event.deltaY * (event.deltaMode ? 0.06 : 0.002)), x, gesture);
		else
			return;
		event.preventDefault();
	}, {passive: false});
}

// ---- pointer: a mouse selects time, and moves with Shift; a finger moves, two of them zoom ----

class Pointers {
	constructor(timeline) {
		const {canvas} = timeline;

		this.timeline = timeline;
		this.held = new Map(); /* by id: the last event */
		this.drag = null;
		canvas.addEventListener('pointerdown', event => this.press(event));
		canvas.addEventListener('pointermove', event => this.move(event));
		canvas.addEventListener('pointerup', event => this.release(event));
		canvas.addEventListener('pointercancel', event => this.held.delete(event.pointerId));
		canvas.addEventListener('pointerleave', () => timeline.tip(null));
		canvas.addEventListener('dblclick', event => {
			const hit = timeline.hit(place(timeline, event)), found = hit && hit.event;

			if (found)
				timeline.camera.look(found.lane.start[found.i], found.lane.end[found.i]);
		});
	}

	press(event) {
		const {timeline} = this, {t0} = timeline.camera;

		if (event.button)
			return;
		this.held.set(event.pointerId, event);
		this.drag = {
			...place(timeline, event),
			t0,
			gesture: {},
			moved: this.held.size > 1,
			top: timeline.scroller.scrollTop,
			isMove: event.shiftKey || event.pointerType === 'touch'
		};
		timeline.canvas.setPointerCapture(event.pointerId);
	}

	move(event) {
		const {timeline, drag} = this, {camera} = timeline, at = place(timeline, event);

		if (!this.held.has(event.pointerId)) {
			this.hover(at, event);
			return;
		}
		if (this.held.size > 1)
			this.pinch(event);
		this.held.set(event.pointerId, event);
		drag.moved = drag.moved || Math.abs(at.x - drag.x) + Math.abs(at.y - drag.y) > 3;
		if (!drag.moved || this.held.size > 1)
			return;
		if (!drag.isMove) {
			timeline.select(null);
			timeline.selectTime(drag.t0 + drag.x * camera.nsPerPixel, camera.instantAt(at.x), true);
			return;
		}
		const t0 = drag.t0 + (drag.x - at.x) * camera.nsPerPixel;

		camera.pan((t0 - camera.t0) / camera.nsPerPixel, drag.gesture);
		timeline.scroller.scrollTop = drag.top + drag.y - at.y;
	}

	// The place between two fingers stays there, and their distance zooms.
	pinch(event) {
		const {camera, labelWidth, canvas} = this.timeline;
		const other = [...this.held.values()].find(one => one.pointerId !== event.pointerId);
		const before = this.held.get(event.pointerId), left = canvas.getBoundingClientRect().left + labelWidth;
		const was = Math.max(10, Math.abs(before.clientX - other.clientX)),
		      is = Math.max(10, Math.abs(event.clientX - other.clientX));

		camera.zoom(was / is, (event.clientX + other.clientX) / 2 - left, this.drag.gesture);
	}

	hover(at, event) {
		const {timeline} = this, hit = timeline.hit(at);

		const facts = hit && !hit.event && at.x >= 0
			? rowFacts(timeline.model, hit.row, timeline.camera.instantAt(at.x), hit.height) : null;

		timeline.tip(hit && hit.event, event, facts);
		timeline.canvas.style.cursor = hit && (hit.event || facts) ? 'pointer' : 'default';
	}

	release(event) {
		const {timeline, drag} = this, isLast = this.held.delete(event.pointerId) && !this.held.size;

		if (!isLast)
			return;
		if (drag.moved && !drag.isMove)
			timeline.selectTime(...timeline.span);
		if (drag.moved)
			return;
		const at = place(timeline, event), hit = timeline.hit(at);

		if (!hit || hit.event || at.x < 0 || !timeline.selectRow(hit.row, at.x, hit.height))
			timeline.select(hit && hit.event);
	}
}

// ---- keys ----

function keys(timeline) {
	const {camera, selection, scroller} = timeline, page = camera.width / 6;
	const owner = selection && timeline.ownerOf(selection.lane);
	const act = what => owner && timeline.act(what, owner.item.id);

	return {
		w: () => camera.zoom(0.7),
		s: () => camera.zoom(1.4),
		'+': () => camera.zoom(0.7),
		'=': () => camera.zoom(0.7),
		'-': () => camera.zoom(1.4),
		a: () => camera.pan(-page),
		d: () => camera.pan(page),
		0: () => camera.all(),
		z: () => camera.undo(),
		Backspace: () => camera.undo(),
		ArrowLeft: () => selection ? timeline.step(-1, 0) : camera.pan(-page),
		ArrowRight: () => selection ? timeline.step(1, 0) : camera.pan(page),
		ArrowUp: () => selection ? timeline.step(0, -1) : scroller.scrollBy(0, -3 * LANE),
		ArrowDown: () => selection ? timeline.step(0, 1) : scroller.scrollBy(0, 3 * LANE),
		f: () => selection && camera.look(selection.lane.start[selection.i], selection.lane.end[selection.i]),
		m: () => selection &&
			timeline.selectTime(selection.lane.start[selection.i], selection.lane.end[selection.i]),
		v: () => timeline.selectTime(camera.t0, camera.t1),
		c: () => owner && timeline.act('fold', owner.group.id),
		p: () => act('pin'),
		h: () => act('hide'),
		k: () => owner && owner.item.samples ? act('stacks') : timeline.toggleStacks(),
		n: () => timeline.go(1),
		N: () => timeline.go(-1),
		Enter: () => timeline.selectFirst(),
		Escape: () => timeline.found ? timeline.endSearch() : timeline.clear(),
	};
}

function listenKeys(timeline) {
	timeline.scroller.addEventListener('keydown', event => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('button'))
			return;
		const act = keys(timeline)[event.key];

		if (!act)
			return;
		event.preventDefault();
		act();
	});
}

export function listenInput(timeline) {
	listenWheel(timeline);
	listenKeys(timeline);
	return new Pointers(timeline);
}
