// SPDX-License-Identifier: Apache-2.0
// Draws trees as flame graphs one above the other, and controls them by pointer and keys. A tree {root, isUp} with isUp
// grows upwards: callers stand above the function that they call.
import {color} from './colors.mjs';
import {clippedText, fit, onceAFrame, palette} from './dom.mjs';
import {boxes, childrenOf} from './flame.mjs';
import {bytes, duration, idFirst, whole} from './format.mjs';

const BOX = 20;
// What color() takes of a category.
const ALL = {hue: 0, saturation: 0}, PROCESS = {hue: 214, saturation: 16}, FRAME = {hue: 30, saturation: 40};
// By kind of frame, with its word in the legend.
export const KINDS = {
	python: {title: 'Python', hue: 212, saturation: 62},
	native: {title: 'Native', hue: 30, saturation: 52},
	library: {title: 'Library', hue: 275, saturation: 34},
	interpreter: {title: 'Interpreter', hue: 190, saturation: 22},
	import: {title: 'Import machinery', hue: 60, saturation: 14},
	device: {title: 'GPU work', hue: 140, saturation: 40},
	call: {title: 'Calls and waits', hue: 0, saturation: 36},
};

export class FlameChart {
	// onLook(node) is called for the node under the pointer or with the keyboard, onPick(node, tree) for a new one.
	// colorOf(node, isDark) returns the CSS colour of a box; by default it follows from the name.
	constructor(model, canvas, scroller, {onLook, onPick = () => {}, colorOf = null}) {
		this.model = model;
		this.canvas = canvas;
		this.scroller = scroller;
		this.onLook = onLook;
		this.onPick = onPick;
		this.colorOf = colorOf;
		this.trees = [];
		this.draw = onceAFrame(() => this.paint());
		canvas.addEventListener('click', event => this.pick(this.hit(event)));
		canvas.addEventListener('pointermove', event => onLook(this.hit(event) || this.node));
		canvas.addEventListener('pointerleave', () => this.node && onLook(this.node));
		scroller.addEventListener('keydown', event => this.key(event));
		new ResizeObserver(() => this.draw()).observe(scroller);
	}

	// `heads`: the strings that are processes and threads.
	show(trees, unit, heads) {
		this.trees = trees.map(tree => ({...tree, node: tree.root}));
		this.unit = unit;
		this.heads = heads;
		this.node = this.trees.length ? this.trees.at(-1).root : null;
		if (this.node)
			this.onLook(this.node);
		this.draw();
	}

	restyle() {
		this.colors = null;
		this.draw();
	}

	highlight(text) {
		this.wanted = text.toLowerCase();
		this.draw();
	}

	text(node) {
		if (!node.parent)
			return node.text;
		const text = this.model.strings[node.name];

		return this.heads.has(node.name) ? idFirst(text) : text;
	}

	amount(value) {
		return this.unit.startsWith('nano') ? duration(value)
		       : this.unit === 'bytes'      ? bytes(value)
						    : `${whole(value)} ${this.unit}`;
	}

	// The node fills the width, and is what the arrow keys start from.
	pick(node) {
		if (!node)
			return;
		const tree = this.treeOf(node);

		this.node = tree.node = node;
		this.onLook(node);
		this.onPick(node, this.trees.indexOf(tree));
		this.draw();
	}

	treeOf(node) {
		let root = node;

		while (root.parent)
			root = root.parent;
		return this.trees.find(tree => tree.root === root);
	}

	hit(event) {
		const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left;
		const y = Math.floor((event.clientY - box.top) / BOX) * BOX;
		const found = (this.boxes || []).find(b => b.y === y && x >= b.x && x < b.x + b.width);

		return found ? found.node : null;
	}

	key(event) {
		const {node} = this;

		if (!node || event.target !== this.scroller || event.ctrlKey || event.metaKey || event.altKey)
			return;
		const {isUp, root} = this.treeOf(node), [largest] = childrenOf(node);
		const siblings = node.parent ? childrenOf(node.parent) : [node], place = siblings.indexOf(node);
		const other = this.trees.find(tree => tree.root !== root);
		const out = node.parent || (other && other.root);
		const next = {ArrowUp: isUp ? largest : out, ArrowDown: isUp ? out : largest,
			ArrowLeft: siblings[place - 1], ArrowRight: siblings[place + 1], Escape: root}[event.key];

		if (!next)
			return;
		event.preventDefault();
		this.pick(next);
	}

	// The boxes of all trees with their heights; the roots of two trees are one box.
	place(width) {
		const made = [];
		let top = 0;

		for (const {node, isUp, root} of this.trees) {
			const some = boxes(node, width), isShared = isUp && this.trees.length > 1;
			const depth = some.reduce((most, b) => Math.max(most, b.node.depth), 0);

			for (const box of isShared ? some.filter(b => b.node !== root) : some)
				made.push({...box, y: top + (isUp ? depth - box.node.depth : box.node.depth) * BOX});
			top += (isShared ? depth : depth + 1) * BOX;
		}
		return {made, height: top + 2};
	}

	paint() {
		const width = this.scroller.clientWidth;

		if (!width || !this.node)
			return;
		this.colors = this.colors || palette();
		const {made, height} = this.place(width), {colors} = this;
		const c = fit(this.canvas, width, height);

		this.boxes = made;
		c.fillStyle = colors.page;
		c.fillRect(0, 0, width, height);
		c.font = `11.5px ${colors.font}`;
		c.textBaseline = 'middle';
		for (const box of this.boxes)
			this.paintBox(c, box, colors);
	}

	paintBox(c, {node, x, y, width}, colors) {
		const text = this.text(node);
		const of = this.model.kinds && KINDS[this.model.kinds.get(node.name)];
		const kind = !node.parent ? ALL : this.heads.has(node.name) ? PROCESS : of || FRAME;

		c.globalAlpha = this.wanted && !text.toLowerCase().includes(this.wanted) ? 0.25 : 1;
		c.fillStyle = this.colorOf ? this.colorOf(node, colors.isDark) : color(kind, text, colors.isDark);
		c.fillRect(x, y, Math.max(1, width - 1), BOX - 1);
		if (width > 30) {
			c.fillStyle = colors.onEvent;
			clippedText(c, text, x + 6, y + BOX / 2, width - 12);
		}
		c.globalAlpha = 1;
		if (node === this.node && node.parent) {
			c.strokeStyle = colors.accent;
			c.lineWidth = 2;
			c.strokeRect(x + 1, y + 1, Math.max(1, width - 3), BOX - 3);
		}
	}
}
