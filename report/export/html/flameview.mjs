// SPDX-License-Identifier: Apache-2.0
// Flame graphs, with callers above callees.
import {byId, clippedText, fit, make, onceAFrame, palette} from './dom.mjs';
import {boxes, makeTree} from './flame.mjs';
import {bytes, duration, whole} from './format.mjs';
import {color} from './colors.mjs';

const BOX = 20;
// What color() takes of a category.
const ALL = {hue: 0, saturation: 0}, PROCESS = {hue: 214, saturation: 16}, FRAME = {hue: 30, saturation: 40};

export class FlameView {
	constructor(model) {
		this.model = model;
		this.canvas = byId('flame');
		this.scroller = byId('flame-scroller');
		this.draw = onceAFrame(() => this.paint());
		byId('metrics').replaceChildren(...model.profiles.map(
			(profile, i) =>
				make('button', {class: 'choice', 'aria-pressed': 'false', onclick: () => this.show(i)},
				     profile.title)));
		this.canvas.addEventListener('click', event => this.pick(this.hit(event)));
		this.canvas.addEventListener('pointermove', event => this.hover(this.hit(event)));
		this.canvas.addEventListener('pointerleave', () => this.hover(null));
		this.scroller.addEventListener('keydown', event => this.key(event));
		byId('flame-search').addEventListener('input', event => {
			this.wanted = event.target.value.trim().toLowerCase();
			this.draw();
		});
		new ResizeObserver(() => this.draw()).observe(this.scroller);
		if (model.profiles.length)
			this.show(0);
	}

	show(index) {
		this.profile = this.model.profiles[index];
		this.profile.tree = this.profile.tree || makeTree(this.profile.stacks, this.profile.title);
		[...byId('metrics').children].forEach((button, i) =>
							      button.setAttribute('aria-pressed', String(i === index)));
		this.pick(this.profile.tree);
	}

	restyle() {
		this.colors = null;
		this.draw();
	}

	text(node) {
		return node.parent ? this.model.strings[node.name] : node.text;
	}

	amount(value) {
		const {unit} = this.profile;

		return unit.startsWith('nano') ? duration(value)
		       : unit === 'bytes'      ? bytes(value)
					       : `${whole(value)} ${unit}`;
	}

	// The node fills the width, and is what the arrow keys start from.
	pick(node) {
		if (!node)
			return;
		this.node = node;
		this.hover(node);
		this.draw();
	}

	hover(node) {
		const at = node || this.node, share = (100 * at.value / (this.profile.tree.value || 1)).toFixed(1);
		const own = this.amount(at.own);

		byId('flame-line').textContent =
			`${this.text(at)} — ${this.amount(at.value)}, ${share} % of all, ${own} of it its own`;
	}

	hit(event) {
		const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left;
		const depth = Math.floor((event.clientY - box.top) / BOX);
		const found = (this.boxes || []).find(b => b.node.depth === depth && x >= b.x && x < b.x + b.width);

		return found ? found.node : null;
	}

	key(event) {
		const {node} = this,
		      siblings = node.parent ? [...node.parent.children.values()].sort((a, b) => b.value - a.value)
					     : [node];
		const largest = [...node.children.values()].sort((a, b) => b.value - a.value)[0];
		const next = {ArrowUp: node.parent, ArrowDown: largest, ArrowLeft: siblings[siblings.indexOf(node) - 1],
			ArrowRight: siblings[siblings.indexOf(node) + 1], Escape: this.profile.tree}[event.key];

		if (!next)
			return;
		event.preventDefault();
		this.pick(next);
	}

	paint() {
		const width = this.scroller.clientWidth;

		if (!width || !this.node)
			return;
		this.colors = this.colors || palette();
		this.boxes = boxes(this.node, width);
		const depth = this.boxes.reduce((most, b) => Math.max(most, b.node.depth), 0);
		const c = fit(this.canvas, width, (depth + 1) * BOX + 2), {colors} = this;

		c.fillStyle = colors.page;
		c.fillRect(0, 0, width, (depth + 1) * BOX + 2);
		c.font = `11.5px ${colors.font}`;
		c.textBaseline = 'middle';
		for (const box of this.boxes)
			this.paintBox(c, box, colors);
	}

	paintBox(c, {node, x, width}, colors) {
		const text = this.text(node), y = node.depth * BOX;
		const kind = node.depth === 0 ? ALL : node.depth < 3 ? PROCESS : FRAME;

		c.globalAlpha = this.wanted && !text.toLowerCase().includes(this.wanted) ? 0.25 : 1;
		c.fillStyle = color(kind, text, colors.isDark);
		c.fillRect(x, y, Math.max(1, width - 1), BOX - 1);
		if (width > 30) {
			c.fillStyle = colors.onEvent;
			clippedText(c, text, x + 6, y + BOX / 2, width - 12);
		}
		c.globalAlpha = 1;
	}
}
