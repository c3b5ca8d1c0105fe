// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import {deflateRawSync} from 'node:zlib';
import test from 'node:test';
import {readEvents, unpack} from '../../report/page/view/decode.mjs';

function varint(number) {
	const bytes = [];

	for (; number >= 128; number = Math.floor(number / 128))
		bytes.push(number % 128 | 128);
	return [...bytes, number];
}

const folded = number => varint(number < 0 ? -2 * number - 1 : 2 * number);

test('what was packed is unpacked', async () => {
	const bytes = Uint8Array.from({length: 100000}, (none, i) => i * i);

	assert.deepEqual(await unpack(deflateRawSync(bytes).toString('base64')), bytes);
});

test('a damaged pack is an error', async () => {
	await assert.rejects(unpack(Buffer.from([7, 7, 7]).toString('base64')));
});

test('blocks become columns, those that are absent zeros', () => {
	const tracks = [{}, {}, {}];
	const bytes = Uint8Array.from([
		...varint(1), ...varint(0b000111), ...varint(2), ...folded(1e12), ...folded(-5), ...varint(3),
			...varint(300),
		...varint(7), ...varint(8),
		...varint(2), ...varint(0b110001), ...varint(1), ...folded(-40), ...folded(-2147483648), ...folded(77),
		...varint(1), ...varint(0b100001), ...varint(2), ...folded(6), ...folded(1), ...folded(2 ** 33 + 9),
			...folded(-4),
	]);

	readEvents(bytes, tracks);
	assert.equal(tracks[0].count, 0);
	assert.deepEqual([...tracks[1].start], [1e12, 1e12 - 5, 6, 7]);
	assert.deepEqual([...tracks[1].duration], [3, 300, 0, 0]);
	assert.deepEqual([...tracks[1].name], [7, 8, 0, 0]);
	assert.deepEqual([...tracks[1].link], [0, 0, 2 ** 33 + 9, 2 ** 33 + 5]);
	assert.equal(tracks[1].value, undefined);
	assert.deepEqual([...tracks[2].value], [-2147483648]);
	assert.deepEqual([...tracks[2].link], [77]);
});

test('events that end in the middle are an error', () => {
	assert.throws(() => readEvents(Uint8Array.from([0, 1, 5, 2]), [{}]), /middle of a block/);
});
