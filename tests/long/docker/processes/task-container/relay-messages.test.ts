import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_BODY_BYTES,
  RelayMessages,
  type RelayMessage,
} from '../../../../../src/processes/docker/task-container/hook-relay.js';

describe('what the relay of a container says', () => {
  it('is read whole, wherever it is cut', () => {
    const messages = fc.array(
      fc.oneof(
        fc.constant<RelayMessage>({ type: 'ready' }),
        fc.nat().map((id): RelayMessage => ({ type: 'gone', id: String(id) })),
        fc
          .tuple(fc.nat(), fc.uint8Array({ maxLength: 300 }))
          .map(([id, body]): RelayMessage => ({ type: 'ask', id: String(id), body: Buffer.from(body) })),
      ),
    );
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (said, cuts) => {
        const bytes = Buffer.concat(said.map(written));
        const reader = new RelayMessages();
        const read: RelayMessage[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const length = cuts[turn % cuts.length] ?? 1;
          read.push(...reader.read(bytes.subarray(at, at + length)));
          at += length;
        }
        expect(read).toEqual(said);
      }),
    );
  });

  it.each([
    { what: 'another line', text: 'hello\n' },
    { what: 'an ask without a length', text: 'ask 12\n' },
    { what: 'a length beyond the bound', text: `ask 12 ${MAX_BODY_BYTES + 1}\n` },
    { what: 'a line that does not end', text: 'x'.repeat(200) },
  ])('is no longer believed after $what', ({ text }) => {
    const reader = new RelayMessages();
    expect(() => reader.read(Buffer.from(text))).toThrow('what no relay says');
    expect(reader.read(Buffer.from('ready\n'))).toEqual([]);
  });
});

function written(message: RelayMessage): Buffer {
  if (message.type === 'ready') return Buffer.from('ready\n');
  if (message.type === 'gone') return Buffer.from(`gone ${message.id}\n`);
  return Buffer.concat([Buffer.from(`ask ${message.id} ${message.body.length}\n`), message.body]);
}
