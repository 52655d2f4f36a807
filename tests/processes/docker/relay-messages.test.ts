import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_BODY_BYTES,
  relayMessages,
  type RelayMessage,
} from '../../../src/processes/docker/hook-relay.js';

async function read(...chunks: readonly (string | Uint8Array)[]): Promise<RelayMessage[]> {
  async function* output() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const messages: RelayMessage[] = [];
  for await (const message of relayMessages(output())) messages.push(message);
  return messages;
}

describe('what the relay of a container says', () => {
  it('is read whole, wherever it is cut', async () => {
    const messages = fc.array(
      fc.oneof(
        fc.constant<RelayMessage>({ type: 'ready' }),
        fc.nat().map((id): RelayMessage => ({ type: 'gone', id: String(id) })),
        fc
          .tuple(fc.nat(), fc.uint8Array({ maxLength: 300 }))
          .map(([id, body]): RelayMessage => ({ type: 'ask', id: String(id), body: Buffer.from(body) })),
      ),
    );
    await fc.assert(
      fc.asyncProperty(messages, fc.integer({ min: 1, max: 50 }), async (said, length) => {
        const bytes = Buffer.concat(said.map(written));
        const count = Math.ceil(bytes.length / length);
        const chunks = Array.from({ length: count }, (_, at) =>
          bytes.subarray(at * length, (at + 1) * length),
        );
        expect(await read(...chunks)).toEqual(said);
      }),
    );
  });

  it.each([
    { what: 'another line', text: 'hello\n' },
    { what: 'an ask without a length', text: 'ask 12\n' },
    { what: 'a length beyond the bound', text: `ask 12 ${MAX_BODY_BYTES + 1}\n` },
    { what: 'a line that does not end', text: 'x'.repeat(200) },
  ])('is no longer believed after $what', async ({ text }) => {
    await expect(read(text, 'ready\n')).rejects.toThrow();
  });
});

function written(message: RelayMessage): Buffer {
  if (message.type === 'ready') return Buffer.from('ready\n');
  if (message.type === 'gone') return Buffer.from(`gone ${message.id}\n`);
  return Buffer.concat([Buffer.from(`ask ${message.id} ${message.body.length}\n`), message.body]);
}
