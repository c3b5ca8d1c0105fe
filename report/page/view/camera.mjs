// SPDX-License-Identifier: Apache-2.0
// The part of the time that is seen, how it moves, and the way back.

const LEAST = 0.01; // ns per pixel
const MOST_STEPS = 200;

export class Camera {
	constructor(first, last, onChange) {
		this.first = first;
		this.last = last;
		this.onChange = onChange;
		this.width = 0;
		this.past = [];
		this.gesture = null;
	}

	get isPlaced() {
		return this.t0 !== undefined;
	}

	get t1() {
		return this.t0 + this.width * this.nsPerPixel;
	}

	instantAt(x) {
		return this.t0 + x * this.nsPerPixel;
	}

	xOf(instant) {
		return (instant - this.t0) / this.nsPerPixel;
	}

	// Steps of one gesture (a drag, a turn of the wheel) are undone together; null: a step of its own.
	keep(gesture) {
		if (this.isPlaced && (gesture === null || gesture !== this.gesture)) {
			this.past.push([this.t0, this.t1]);
			if (this.past.length > MOST_STEPS)
				this.past.shift();
		}
		this.gesture = gesture;
	}

	undo() {
		const before = this.past.pop();

		this.gesture = null;
		if (before)
			this.place(...before);
	}

	place(from, to) {
		this.nsPerPixel = Math.max(LEAST, (to - from) / this.width);
		this.t0 = from;
		this.onChange();
	}

	// Exactly this part.
	show(from, to, gesture = null) {
		this.keep(gesture);
		this.isWhole = false;
		this.place(from, to);
	}

	// The whole stays whole in another width; a part keeps its scale.
	resize(width) {
		const {isWhole} = this;

		if (width === this.width)
			return;
		this.width = width;
		if (isWhole || !this.isPlaced) {
			this.gesture = this.fitting = this.fitting || {};
			this.all(this.fitting);
		}
	}

	// This part with a margin of some pixels.
	look(from, to, gesture = null) {
		const margin = 4 * Math.max(LEAST, (to - from) / Math.max(1, this.width - 8));

		this.show(from - margin, to + margin, gesture);
	}

	all(gesture = null) {
		this.look(this.first, this.last, gesture);
		this.isWhole = true;
	}

	pan(pixels, gesture = null) {
		const margin = this.width * this.nsPerPixel / 2, from = this.t0 + pixels * this.nsPerPixel;
		const t0 = Math.min(Math.max(from, this.first - margin), this.last - margin);

		this.show(t0, t0 + 2 * margin, gesture);
	}

	zoom(factor, x = this.width / 2, gesture = null) {
		const instant = this.instantAt(x), most = 1.5 * (this.last - this.first) / this.width;
		const nsPerPixel = Math.min(Math.max(this.nsPerPixel * factor, LEAST), most);
		const t0 = instant - x * nsPerPixel;

		this.show(t0, t0 + nsPerPixel * this.width, gesture);
	}
}
