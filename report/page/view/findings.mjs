// SPDX-License-Identifier: Apache-2.0
// Results of the rules: first those with findings, the most expensive first; then those without; then those that could
// not check. A finding links to the event or the line that it is about.
import {findingAddress, formatAddress} from './address.mjs';
import {make} from './dom.mjs';
import {duration} from './format.mjs';
import {tableView} from './table.mjs';

const WORDS = {found: 'found', clean: 'clean', unchecked: 'could not check'};

export function inOrder(findings) {
	const place = Object.keys(WORDS);

	return [...findings].sort((a, b) => place.indexOf(a.verdict) - place.indexOf(b.verdict) || b.cost - a.cost);
}

function found(model, finding) {
	const line = model.strings[finding.line];

	return make('section',
		    {class: 'card whole finding', 'data-rule': finding.rule, 'data-verdict': finding.verdict},
		    make('header', {},
			 make('h2', {}, make('a', {href: findingAddress(model, finding)}, finding.title)),
			 ...finding.cost ? [make('span', {class: 'soft'}, `up to ${duration(finding.cost)}`)] : []),
		    make('p', {}, `${model.strings[finding.text]}.`),
		    ...line ? [make('p', {}, make('a', {href: formatAddress({view: 'timeline', search: line})},
						  make('code', {}, line)))]
			    : [],
		    make('p', {class: 'soft'}, finding.advice), tableView(model, finding.table, {isPlain: true}));
}

function other(model, finding) {
	return make('p', {class: 'finding soft', 'data-rule': finding.rule, 'data-verdict': finding.verdict},
		    make('b', {}, finding.title),
		    ` ${WORDS[finding.verdict]}${
			    finding.verdict === 'unchecked' ? `: ${model.strings[finding.text]}` : ''}`);
}

export function findingsView(model) {
	return inOrder(model.findings)
		.map(finding => finding.verdict === 'found' ? found(model, finding) : other(model, finding));
}
