// SPDX-License-Identifier: Apache-2.0
// Merges stacks into trees, and computes the boxes to draw. A stack is [value, process, thread, outermost frame, ...].
// A node: {name, value, own, children, parent, depth}

function makeRoot(text) {
	return {name: -1, text, value: 0, own: 0, children: new Map(), parent: null, depth: 0};
}

// Adds the frames from one place up to another, which may come before it.
function addStack(root, value, stack, from, to) {
	const step = to < from ? -1 : 1;
	let node = root;

	node.value += value;
	for (let i = from; i !== to; i += step) {
		let child = node.children.get(stack[i]);

		if (!child) {
			child = {name: stack[i], value: 0, own: 0, children: new Map(), parent: node,
				depth: node.depth + 1};
			node.children.set(stack[i], child);
		}
		child.value += value;
		node = child;
	}
	node.own += value;
}

// What was called below its callers; `skip`: outer frames to leave out, 2 merges processes.
export function makeTree(stacks, title, skip = 0) {
	const root = makeRoot(title);

	for (const stack of stacks)
		addStack(root, stack[0], stack, 1 + Math.min(skip, stack.length - 1), stack.length);
	return root;
}

// The callers below what they called: each innermost function with the time that is its own.
export function invertedTree(stacks, title, skip = 0) {
	const root = makeRoot(title);

	for (const stack of stacks)
		addStack(root, stack[0], stack, stack.length - 1, Math.min(skip, stack.length - 1));
	return root;
}

// Both sides of a function: {callers, callees}, trees whose root is the function. Of a function that calls itself, the
// outermost counts.
export function sandwichTrees(stacks, title, isFunction, skip = 0) {
	const callers = makeRoot(title), callees = makeRoot(title);

	for (const stack of stacks) {
		let place = 3;

		while (place < stack.length && !isFunction(stack[place]))
			place++;
		if (place >= stack.length)
			continue;
		addStack(callers, stack[0], stack, place - 1, skip);
		addStack(callees, stack[0], stack, place + 1, stack.length);
	}
	return {callers, callees};
}

// What each string is in the profiles: 'python', 'native', 'library', 'interpreter', 'import', 'call', 'device',
// 'other'.
export function kindsOf(profiles) {
	const kinds = new Map();

	for (const profile of profiles)
		for (let i = 0; i < profile.kinds.length; i += 2)
			if (!kinds.has(profile.kinds[i]) || kinds.get(profile.kinds[i]) === 'other')
				kinds.set(profile.kinds[i], profile.kinds[i + 1]);
	return kinds;
}

// Stacks with some of their frames: 'python': of a stack that has Python frames, these and what they call or execute;
// 'program': without the interpreter's own code and importlib's; 'all'.
export function pickFrames(stacks, kinds, which) {
	const left = {python: ['interpreter', 'import', 'native', 'library'], program: ['interpreter', 'import'],
		all: []}[which];
	const isLeft = id => left.includes(kinds.get(id));
	const isPython = id => kinds.get(id) === 'python' || kinds.get(id) === 'import';

	return !left.length ? stacks : stacks.map(stack => stack.some((id, i) => i > 2 && isPython(id))
		? stack.filter((id, i) => i < 3 || !isLeft(id)) : stack);
}

// Whether the value of stacks with Python frames is more than half of all.
export function isOfPython(stacks, kinds) {
	const sum = some => some.reduce((all, [value]) => all + value, 0);

	const isPython = stack => stack.some((id, i) => i > 2 && kinds.get(id) === 'python');

	return sum(stacks.filter(isPython)) > sum(stacks) / 2;
}

// The strings that are processes and threads.
export function headsOf(stacks) {
	return new Set(stacks.flatMap(stack => [stack[1], stack[2]]));
}

// The largest first.
export function childrenOf(node) {
	return [...node.children.values()].sort((a, b) => b.value - a.value);
}

// The boxes {node, x, width} of a node at this width, without those below a pixel; its callers are above it.
export function boxes(node, width) {
	const made = [];
	const place = (at, x, wide) => {
		made.push({node: at, x, width: wide});
		let left = x;

		for (const child of childrenOf(at)) {
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

// The place of a node in its tree as text, and the node at a place, or the nearest above it.
export function pathOf(node) {
	const names = [];

	for (let at = node; at.parent; at = at.parent)
		names.unshift(at.name);
	return names.join('.');
}

export function nodeAt(root, path) {
	let node = root;

	for (const name of path ? path.split('.').map(Number) : []) {
		if (!node.children.has(name))
			break;
		node = node.children.get(name);
	}
	return node;
}
