// SPDX-License-Identifier: Apache-2.0
// Decodes the text of a data element to typed arrays; export_html.h describes its contents.

const COLUMNS = ['start', 'duration', 'name', 'detail', 'value', 'link'];
const SIGNED = [true, false, false, false, true, true];
const SUMMED = [true, false, false, false, false, true];
const ARRAYS = [Float64Array, Float64Array, Uint32Array, Uint32Array, Float64Array, Float64Array];

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text);
	const bytes = new Uint8Array(raw.length);

	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

export async function unpack(text) {
	const packed = new Blob([fromBase64(text)]).stream();
	const whole = packed.pipeThrough(new DecompressionStream('deflate-raw'));

	return new Uint8Array(await new Response(whole).arrayBuffer());
}

// Reads numbers in groups of 7 bits. Beyond 2^53 the last digits are lost.
class Numbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	next() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		let number = byte & 127;

		for (let scale = 128; byte >= 128; scale *= 128) {
			byte = bytes[this.at++];
			number += (byte & 127) * scale;
		}
		return number;
	}

	column(kind, count) {
		const values = new ARRAYS[kind](count);
		let sum = 0;

		for (let i = 0; i < count; i++) {
			let number = this.next();

			if (SIGNED[kind])
				number = number % 2 ? -(number + 1) / 2 : number / 2;
			sum = SUMMED[kind] ? sum + number : number;
			values[i] = sum;
		}
		return values;
	}

	block() {
		const track = this.next(), used = this.next(), count = this.next();
		const columns = COLUMNS.map((name, kind) => used & 1 << kind ? this.column(kind, count) : null);

		if (this.at > this.bytes.length)
			throw new Error('the events end in the middle of a block');
		return {track, count, columns};
	}
}

function join(blocks, kind, count) {
	const all = new ARRAYS[kind](count);
	let at = 0;

	for (const block of blocks) {
		if (block.columns[kind])
			all.set(block.columns[kind], at);
		at += block.count;
	}
	return all;
}

// Stores the columns in the tracks: {count, start, duration, name, detail}, and value and link if they exist.
export function readEvents(bytes, tracks) {
	const numbers = new Numbers(bytes);
	const blocks = tracks.map(() => []);

	while (numbers.at < bytes.length) {
		const block = numbers.block();

		blocks[block.track].push(block);
	}
	tracks.forEach((track, i) => {
		track.count = blocks[i].reduce((sum, block) => sum + block.count, 0);
		COLUMNS.forEach((name, kind) => {
			if (kind < 4 || blocks[i].some(block => block.columns[kind]))
				track[name] = join(blocks[i], kind, track.count);
		});
		blocks[i] = null;
	});
}
