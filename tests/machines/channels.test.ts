import { expect, test } from 'vitest';
import { Channels } from '../../src/machines/channels.js';

const data = (text: string) =>
  ['link/data', { channel: 1, bytes: Buffer.from(text).toString('base64') }] as const;

/** A channel of number 1, and why it has ended. */
function opened() {
  const channels = new Channels(() => undefined);
  const channel = channels.open(1);
  const ends: string[] = [];
  channel.onClose((why) => ends.push(why));
  return { channels, channel, ends };
}

test('bytes before somebody reads end a channel by their number, though each piece is small', () => {
  const { channels, ends } = opened();
  for (let count = 0; count < 20_000; count++) channels.take(...data('x'));
  expect(ends).toEqual(['too many pieces were sent that are not read']);
});

test('pieces without a byte are nothing', () => {
  const { channels, channel, ends } = opened();
  for (let count = 0; count < 20_000; count++) channels.take(...data(''));
  channels.take(...data('one'));
  const seen: string[] = [];
  channel.onData((piece) => seen.push(Buffer.from(piece).toString()));
  expect([seen, ends]).toEqual([['one'], []]);
});

test('a number that is given twice ends the channel that had it, and not the new one', () => {
  const { channels, channel, ends } = opened();
  const next = channels.open(1);
  const seen: string[] = [];
  next.onData((piece) => seen.push(Buffer.from(piece).toString()));
  channel.dispose();
  channels.take(...data('one'));
  expect([ends, seen, channels.size]).toEqual([['its number was given to another one'], ['one'], 1]);
});
