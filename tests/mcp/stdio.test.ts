import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { toDisposable } from '../../src/base/lifecycle.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveUntilGone, type ProcessStdio } from '../../src/mcp/stdio.js';
import { ManualClock } from '../harness/manual-clock.js';
import { FakeTaskService, taskRecord } from '../tools/fake-task-service.js';
import { initialize, RawReplies, request } from './raw-client.js';
import { serverParts } from './serving.js';

const noPeer = {
  extension: () => ({ name: 'x', value: {} }),
  request: () => Promise.resolve({}),
  notice: () => undefined,
  connect: () => undefined,
  settled: () => Promise.resolve(),
};

describe('the protocol over a pair of streams', () => {
  let input: PassThrough;
  let replies: RawReplies;
  let unreadBytes: number;
  let gone: Promise<string>;
  let stdio: ProcessStdio;

  beforeEach(() => {
    input = new PassThrough();
    replies = new RawReplies();
    unreadBytes = 0;
    const write = (line: Buffer, done: () => void): void => {
      replies.take(line.toString());
      done();
    };
    const output = {
      write,
      get unreadBytes() {
        return unreadBytes;
      },
    };
    const onSignal = () => toDisposable(() => undefined);
    stdio = { input, output, onSignal, exit: () => undefined };
    gone = serveUntilGone(serverParts(new FakeTaskService(taskRecord())), stdio, () => undefined);
  });

  afterEach(async () => {
    input.end();
    await gone;
  });

  test('JSON that is no message is answered with its id where it has one', async () => {
    input.write('{"id":7,"jsonrpc":"1.0","method":"ping"}\n[]\n');
    expect((await replies.answerTo(7)).error).toMatchObject({ code: -32600 });
    expect((await replies.answerTo(null)).error).toMatchObject({ code: -32600 });
  });

  test('empty lines and a carriage return before the end of a line are taken in stride', async () => {
    input.write(`\n\r\n${initialize(1).trimEnd()}\r\n`);
    expect((await replies.answerTo(1)).error).toBeUndefined();
  });

  test('a message over 10 MiB is answered without an id, since it is not held, and the session goes on', async () => {
    input.write(initialize(1));
    await replies.answerTo(1);
    const text = `{"method":"tools/call","id":7,"params":{"x":"${'x'.repeat(10 * 1024 * 1024)}"}}`;
    for (let at = 0; at < text.length; at += 65_536) input.write(text.slice(at, at + 65_536));
    input.write(`\n${request(2, 'tools/list')}`);
    const refusal = await replies.answerTo(null);
    expect(refusal.error?.message).toMatch(
      /^MESSAGE_TOO_LARGE: the message is \d+ bytes long; the limit is 10485760\./,
    );
    expect((await replies.answerTo(2)).result).toHaveProperty('tools');
  });

  test('a character split over two chunks arrives whole', async () => {
    const bytes = Buffer.from(request('ü', 'ping'));
    const at = bytes.indexOf(Buffer.from('ü')) + 1;
    input.write(bytes.subarray(0, at));
    input.write(bytes.subarray(at));
    expect((await replies.answerTo('ü')).result).toEqual({});
  });

  test('a reader that takes nothing any more is told as gone', async () => {
    unreadBytes = 64 * 1024 * 1024;
    input.write(initialize(1));
    expect(await gone).toBe('the output is not read');
  });

  test('a peer is gone when nothing came of it for 45 s, another client never', async () => {
    const clock = new ManualClock();
    const peer = { ...noPeer, silenceMs: 45_000 };
    const parts = serverParts(new FakeTaskService(taskRecord()), { clock, peer });
    const theirs = { ...stdio, input: new PassThrough() };
    const left = serveUntilGone(parts, theirs, () => undefined);
    clock.advance(44_999);
    const heard = once(theirs.input, 'data');
    theirs.input.write('\n');
    await heard;
    clock.advance(44_999);
    expect(clock.timerCount).toBe(1);
    clock.advance(1);
    expect(await left).toBe('nothing came for 45 s');
  });

  test('what a peer has begun is done before the server leaves', async () => {
    const clock = new ManualClock();
    const events: string[] = [];
    let finish = (): void => undefined;
    const begun = new Promise<void>((resolve) => (finish = resolve));
    const peer = { ...noPeer, silenceMs: 45_000, settled: () => begun };
    const parts = serverParts(new FakeTaskService(taskRecord()), { clock, peer });
    const theirs = { ...stdio, input: new PassThrough(), exit: () => void events.push('exit') };
    const left = serveUntilGone(parts, theirs, () => void events.push('dispose'));
    theirs.input.end();
    await once(theirs.input, 'close');
    clock.advance(10_000);
    events.push('done');
    finish();
    await left;
    expect(events).toEqual(['done', 'dispose', 'exit']);
  });
});
