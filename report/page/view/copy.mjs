// SPDX-License-Identifier: Apache-2.0
// Copies records to the clipboard, or saves them as a csv file.
import {make} from './dom.mjs';
import {joinCells} from './sheet.mjs';

async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		/* Not permitted, or not there: the older way needs a selection. */
		const field = make('textarea', {'aria-hidden': 'true'});

		field.value = text;
		document.body.append(field);
		field.select();
		document.execCommand('copy');
		field.remove();
	}
}

function saveFile(name, text) {
	const url = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));

	make('a', {href: url, download: name}).click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Two buttons; `records` returns rows of text, the titles first.
export function copyButtons(name, what, records) {
	const copy = make('button', {
		class: 'quiet',
		'aria-label': `Copy ${what}`,
		onclick: async () => {
			await copyText(joinCells(records(), '\t'));
			copy.textContent = 'Copied';
			setTimeout(() => copy.textContent = 'Copy', 1500);
		}
	}, 'Copy');
	const save = make('button', {class: 'quiet', 'aria-label': `Save ${what} as CSV`,
		onclick: () => saveFile(`${name}.csv`, joinCells(records(), ','))}, 'CSV');

	return [copy, save];
}
