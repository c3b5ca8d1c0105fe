// SPDX-License-Identifier: Apache-2.0
// What the colours of the timeline mean: of the kinds of events, states and ranks that the page has.
import {color} from './colors.mjs';
import {make, palette} from './dom.mjs';

export function fillLegend(element, model, groups) {
	const {isDark, ...colors} = palette(), used = new Set(model.names.filter((none, i) => i % 2));
	const swatch = (css, title) => {
		const box = make('i', {'aria-hidden': 'true'});

		box.style.background = css;
		return make('span', {}, box, title);
	};
	const hasStates = model.tracks.some(track => track.kind === 'states' && track.count);
	const events = [...used].sort((a, b) => a - b).map(i => model.categories[i]);

	element.replaceChildren(...events.map(category =>
		swatch(color(category, category.title, isDark), category.title)),
		...hasStates ? [swatch(colors.running, 'Thread on a CPU'),
			swatch(colors.runnable, 'Runnable, without a CPU'), swatch(colors.blocked, 'Blocked')] : [],
		...groups.some(group => group.id === 'ranks') ? [swatch(colors.wait, 'Rank in MPI or NCCL'),
			swatch(colors.running, 'Rank elsewhere')] : []);
}
