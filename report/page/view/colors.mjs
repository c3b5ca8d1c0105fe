// SPDX-License-Identifier: Apache-2.0
// The colours of events. A category has a colour; a name has the same shade of it everywhere.

const SHADES = 3;
const LIGHTNESS = {dark: [28, 44], light: [58, 78]}; // keeps text readable

function hash(text) {
	let value = 2166136261;

	for (let i = 0; i < text.length; i++)
		value = Math.imul(value ^ text.charCodeAt(i), 16777619);
	return value >>> 0;
}

// A category is as the page's data have it: {name, title, hue, saturation}.
export function color({hue, saturation}, text, isDark) {
	const shade = hash(text) % SHADES;

	return isDark ? `hsl(${hue + 5 * (shade - 1)} ${saturation * 0.8}% ${37 + shade * 4}%)` :
		`hsl(${hue + 5 * (shade - 1)} ${saturation}% ${60 + shade * 6}%)`;
}

// The program's own colour, "#aarrggbb" or "#rrggbb", adapted to the theme; '' if it is not a colour.
export function ownColor(text, isDark) {
	const match = /^#(?:[\da-f]{2})?([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(text);

	if (!match)
		return '';
	const [r, g, b] = match.slice(1).map(part => parseInt(part, 16) / 255);
	const most = Math.max(r, g, b), least = Math.min(r, g, b), range = most - least, light = (most + least) / 2;
	const turn = !range ? 0 : most === r ? (g - b) / range : most === g ? (b - r) / range + 2 : (r - g) / range + 4;
	const saturation = range ? range / (1 - Math.abs(2 * light - 1)) : 0;
	const [low, high] = LIGHTNESS[isDark ? 'dark' : 'light'];

	return `hsl(${Math.round((turn * 60 + 360) % 360)} ${Math.round(saturation * 100)}% ${
		Math.round(low + light * (high - low))}%)`;
}

// Styles for drawing: events of equal style are drawn together. {colors: CSS by style, byName: style of each name,
// byDetail: style of each detail that has a colour, 0: of none}
export function makeStyles(model, isDark) {
	const colors = [''], known = new Map(), byName = new Uint16Array(model.names.length / 2);
	const styleOf = css => {
		if (!known.has(css)) {
			known.set(css, colors.length);
			colors.push(css);
		}
		return known.get(css);
	};

	for (let i = 0; i < byName.length; i++)
		byName[i] = styleOf(
			color(model.categories[model.names[2 * i + 1]], model.strings[model.names[2 * i]], isDark));
	const byDetail = Uint16Array.from([{}, ...model.details || []], detail => {
		const css = detail.color && known.size < 60000 ? ownColor(detail.color, isDark) : '';

		return css ? styleOf(css) : 0;
	});

	return {colors, byName, byDetail};
}
