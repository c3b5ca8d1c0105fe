// SPDX-License-Identifier: Apache-2.0
// The labels of the visible rows of the timeline, with buttons to fold, pin and hide them. Elements are kept while
// their row is in view, so that they keep the focus.
import {make} from './dom.mjs';
import {counterText} from './format.mjs';
import {counterPeak} from './paint.mjs';

export class Labels {
	// act(what, id): what is 'fold', 'pin', 'hide' or 'stacks'.
	constructor(element, act) {
		this.element = element;
		this.act = act;
		this.shown = new Map();
	}

	// rows: [{row, y, isPinned}] from top to bottom
	show(rows, choice) {
		const keys = new Set();
		let before = null;

		for (const {row, y, isPinned} of rows) {
			const id = (row.item || row.group).id, isFolded = choice.folded.has(id);
			const state = [isFolded, choice.pinned.has(id), choice.stacks.has(id), isPinned];
			const key = [id, row.label, ...state].join('\n');

			keys.add(key);
			if (!this.shown.has(key)) {
				const element = this.make(row, id, choice);

				element.classList.toggle('pinned', isPinned);

				if (before)
					before.after(element);
				else
					this.element.prepend(element);
				this.shown.set(key, element);
			}
			before = this.shown.get(key);
			before.style.transform = `translateY(${y}px)`;
		}
		for (const [key, element] of this.shown)
			if (!keys.has(key)) {
				element.remove();
				this.shown.delete(key);
			}
	}

	make({kind, label, item, counter}, id, choice) {
		const isHeader = kind === 'header', isFolded = choice.folded.has(id);
		const hasMore = isHeader || (item.lanes || []).length + (item.samples ? 1 : 0) > 1;
		const button = (what, text, more = {}) => make('button',
			{...more, 'data-act': what, 'aria-label': `${text} ${label}`,
				onclick: () => this.act(what, id)}, text.toLowerCase());
		const name = hasMore
			? make('button', {class: 'name', 'data-act': 'fold', 'aria-expanded': String(!isFolded),
				title: label, onclick: () => this.act('fold', id)},
				`${isFolded ? '▸' : '▾'} ${label}`)
			: make('span', {class: 'name', title: label}, label);
		const buttons = [button('pin', choice.pinned.has(id) ? 'Unpin' : 'Pin'), button('hide', 'Hide')];

		if (item && item.samples)
			buttons.unshift(button('stacks', 'Stacks', {'aria-pressed': String(choice.stacks.has(id))}));
		return make('div', {class: `label ${kind}`}, name,
			...counter ? [make('span', {class: 'soft small'}, `peak ${
				counterText(counter, counterPeak(counter))}`)] : [],
			make('span', {class: 'acts'}, ...buttons));
	}
}
