// SPDX-License-Identifier: Apache-2.0
// Merges stacks into a tree, and computes the boxes to draw.

// stacks: [value, string of the outermost frame, ...]. A node: {name, value, own, children, parent, depth}
export function makeTree(stacks, title) {
	const root = {name: -1, text: title, value: 0, own: 0, children: new Map(), parent: null, depth: 0};

	for (const [value, ...frames] of stacks) {
		let node = root;

		node.value += value;
		for (const name of frames) {
			let child = node.children.get(name);

			if (!child) {
				child = {
					name,
					value: 0,
					own: 0,
					children: new Map(),
					parent: node,
					depth: node.depth + 1
				};
				node.children.set(name, child);
			}
			child.value += value;
			node = child;
		}
		node.own += value;
	}
	return root;
}

// The boxes {node, x, width} of a node at this width, without those below a pixel; its callers are above it.
export function boxes(node, width) {
	const made = [];
	const place = (at, x, wide) => {
		made.push({node: at, x, width: wide});
		let left = x;

		for (const child of [...at.children.values()].sort((a, b) => b.value - a.value)) {
			const part = at.value ? child.value / at.value * wide : 0;

			if (part >= 1)
				place(child, left, part);
			left += part;
		}
	};

	for (let caller = node.parent; caller; caller = caller.parent)
		made.unshift({node: caller, x: 0, width});
	place(node, 0, width);
	return made;
}
