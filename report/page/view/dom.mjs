// SPDX-License-Identifier: Apache-2.0
// Creates elements. Text is always set as text, never as markup.

export function make(name, properties = {}, ...children) {
	const element = document.createElement(name);

	for (const [key, value] of Object.entries(properties))
		if (key === 'class')
			element.className = value;
		else if (key.startsWith('on'))
			element.addEventListener(key.slice(2), value);
		else
			element.setAttribute(key, value);
	element.append(...children);
	return element;
}

export function byId(id) {
	return document.getElementById(id);
}

// Gives a canvas that size in CSS pixels at the screen's resolution; returns its context.
export function fit(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;

	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	const context = canvas.getContext('2d');

	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

// The theme's colours for drawing on a canvas.
export function palette() {
	const style = getComputedStyle(document.documentElement);
	const of = name => style.getPropertyValue(name).trim();

	return {text: of('--text'), soft: of('--soft'), line: of('--line'), page: of('--page'), panel: of('--panel'),
		accent: of('--accent'), running: of('--running'), runnable: of('--runnable'), blocked: of('--blocked'),
		onEvent: of('--on-event'), wait: of('--wait'), font: of('--font'),
		isDark: of('color-scheme') === 'dark' || of('--is-dark') === '1'};
}

// Calls `draw` once before the next frame, however often it is requested.
export function onceAFrame(draw) {
	let isAsked = false;

	return () => {
		if (isAsked)
			return;
		isAsked = true;
		requestAnimationFrame(() => {
			isAsked = false;
			draw();
		});
	};
}

// Draws a text, truncated to a width.
export function clippedText(context, text, x, y, width) {
	const whole = context.measureText(text).width;

	if (whole <= width) {
		context.fillText(text, x, y);
		return;
	}
	let keep = Math.floor(text.length * (width - 8) / whole);

	/* Characters differ in width. */
	while (keep > 1 && context.measureText(`${text.slice(0, keep)}…`).width > width)
		keep--;
	if (keep > 1)
		context.fillText(`${text.slice(0, keep)}…`, x, y);
}

// Paints with x counted from `left`, and nothing outside of width and height from there.
export function rightOf(c, left, width, height, paint) {
	c.save();
	c.translate(left, 0);
	c.beginPath();
	c.rect(0, 0, width, height);
	c.clip();
	paint();
	c.restore();
}
