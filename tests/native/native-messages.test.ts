import { expect, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import type { SendResult } from '../../src/claude/session.js';
import { NativeMessages } from '../../src/native/native-messages.js';
import { passOn } from '../../src/native/pass-on-message.js';
import type { InboxMessage } from '../../src/native/session-inbox.js';
import { sampleRecord, TASK_ID } from '../tasks/sample-task.js';

const WORDS = /^A client of claude-code-bridge sent this message \(message_task\); .*\n\nGo on\.$/;

function messages(inbox: 'takes' | 'fails' | 'none') {
  const written: InboxMessage[] = [];
  const send = (message: InboxMessage): Promise<void> => {
    if (inbox === 'fails') return Promise.reject(new Error('it is gone'));
    written.push(message);
    return Promise.resolve();
  };
  const one = new NativeMessages({
    sessionId: 'session-1',
    inbox: inbox === 'none' ? undefined : { send },
    logger: silentLogger,
  });
  return { one, written };
}

/** What two messages become that are sent while the hook at the end of a turn is answered, and the hook's answer. */
async function atTurnEnd(one: NativeMessages, isFirst: boolean) {
  const results: Promise<SendResult>[] = [];
  const answer = one.atTurnEnd(isFirst, () => results.push(one.send('Go on.'), one.send('And on.')));
  return { answer, results: await Promise.all(results) };
}

test('one message continues a turn, as the answer of its last hook', async () => {
  const { one, written } = messages('none');
  const { answer, results } = await atTurnEnd(one, true);
  expect(answer['decision']).toBe('block');
  expect(answer['reason']).toMatch(WORDS);
  expect(results).toEqual(['sent', 'away']);
  expect(written).toEqual([]);
});

test('a turn that such a hook has continued is not continued again: its messages take the other way', async () => {
  const { one, written } = messages('takes');
  const { answer, results } = await atTurnEnd(one, false);
  expect(answer).toEqual({});
  expect(results).toEqual(['sent', 'sent']);
  expect(written).toHaveLength(2);
});

test('a turn without a message ends', () => {
  expect(messages('takes').one.atTurnEnd(true, () => undefined)).toEqual({});
});

test('between turns a message goes through the socket, for this session alone', async () => {
  const { one, written } = messages('takes');
  one.atTurnEnd(true, () => undefined);
  expect(await one.send('Go on.')).toBe('sent');
  expect(written).toMatchObject([{ sessionId: 'session-1' }]);
  expect(written[0]?.text).toMatch(WORDS);
});

test.each(['fails', 'none'] as const)(
  'a socket that %s leaves the message unsent, without an error',
  async (inbox) => {
    expect(await messages(inbox).one.send('Go on.')).toBe('away');
  },
);

test.each([
  ['messages are off', { messages: undefined, inTurn: true }, { text: 'Go on.' }, 'cannot be sent a message'],
  [
    'it would interrupt',
    { messages: messages('takes').one, inTurn: true },
    { interrupt: true },
    'cannot be interrupted',
  ],
  [
    'it is idle without a socket',
    { messages: messages('none').one, inTurn: false },
    { text: 'Go on.' },
    'is idle',
  ],
])('is refused where %s', async (_where, { messages, inTurn }, message, why) => {
  const sent: unknown[] = [];
  const passing = passOn(message, {
    taskId: TASK_ID,
    messages,
    isInTurn: () => inTurn,
    send: (one) => Promise.resolve(sent.push(one)).then(() => sampleRecord()),
  });
  await expect(passing).rejects.toMatchObject({ code: 'NATIVE_SESSION' });
  await expect(passing).rejects.toThrow(why);
  expect(sent).toEqual([]);
});

test('is passed on in a turn, and between turns where there is a socket', async () => {
  for (const [inbox, inTurn] of [
    ['none', true],
    ['takes', false],
  ] as const) {
    const passing = passOn(
      { text: 'Go on.' },
      {
        taskId: TASK_ID,
        messages: messages(inbox).one,
        isInTurn: () => inTurn,
        send: () => Promise.resolve(sampleRecord({ status: 'running' })),
      },
    );
    expect(await passing).toMatchObject({ status: 'running' });
  }
});
