import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TranscriptTail } from '../../src/claude/transcript-tail.js';

const AT = '2026-01-02T03:04:05.678Z';
const SINCE_MS = Date.parse(AT);
let folder: string;
let path: string;
let tail: TranscriptTail;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-transcript-'));
  path = join(folder, 's.jsonl');
  tail = new TranscriptTail(path, SINCE_MS);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const line = (text: string, extra: Readonly<Record<string, unknown>> = {}) =>
  `${JSON.stringify({
    type: 'assistant',
    timestamp: AT,
    message: { id: 'msg_1', model: 'claude', content: [{ type: 'text', text }] },
    ...extra,
  })}\n`;

const newTexts = async () =>
  (await tail.readNew()).flatMap((entry) => (entry.kind === 'assistant' ? entry.texts : []));

describe('the transcript of a session', () => {
  it('is empty before it exists', async () => {
    expect(await newTexts()).toEqual([]);
  });

  it('is read as it grows, each line once', async () => {
    await appendFile(path, line('one') + line('two'));
    expect(await newTexts()).toEqual(['one', 'two']);
    await appendFile(path, line('three'));
    expect(await newTexts()).toEqual(['three']);
    expect(await newTexts()).toEqual([]);
  });

  it('a line that is still being written is returned once it is complete, even when a character was split', async () => {
    const bytes = Buffer.from(line('grüße'));
    const middle = bytes.indexOf('ü') + 1;
    await appendFile(path, bytes.subarray(0, middle));
    expect(await newTexts()).toEqual([]);
    await appendFile(path, bytes.subarray(middle));
    expect(await newTexts()).toEqual(['grüße']);
  });

  it('skips users, subagents, tools, blanks and invalid JSON', async () => {
    await appendFile(
      path,
      [
        line('a user', { type: 'user' }),
        line('a subagent', { isSidechain: true }),
        '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash"}]}}\n',
        line('  \n'),
        'torn{\n\n',
        line('the assistant'),
      ].join(''),
    );
    expect(await newTexts()).toEqual(['the assistant']);
  });

  it('leaves out what is older than the session: it was copied from the one that this one continues', async () => {
    await appendFile(
      path,
      line('of the other', { timestamp: '2026-01-02T03:04:05.677Z' }) + line('of this one'),
    );
    expect(await newTexts()).toEqual(['of this one']);
  });

  it('goes on after a line that is too long', async () => {
    await appendFile(path, `{"x":"${'x'.repeat(9 * 1024 * 1024)}"}\n${line('after it')}`);
    expect(await newTexts()).toEqual(['after it']);
  });

  it('is not read when it is not a regular file', async () => {
    expect(await new TranscriptTail(folder, SINCE_MS).readNew()).toEqual([]);
  });
});
