import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TranscriptTail } from '../../src/claude/transcript-tail.js';

let folder: string;
let path: string;
let tail: TranscriptTail;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-transcript-'));
  path = join(folder, 's.jsonl');
  tail = new TranscriptTail(path);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const line = (text: string, extra: Readonly<Record<string, unknown>> = {}) =>
  `${JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] }, ...extra })}\n`;

describe('the transcript of a session', () => {
  it('is empty before it exists', async () => {
    expect(await tail.readNew()).toEqual([]);
  });

  it('is read as it grows, each line once', async () => {
    await appendFile(path, line('one') + line('two'));
    expect(await tail.readNew()).toEqual(['one', 'two']);
    await appendFile(path, line('three'));
    expect(await tail.readNew()).toEqual(['three']);
    expect(await tail.readNew()).toEqual([]);
  });

  it('a line that is still being written is returned once it is complete, even when a character was split', async () => {
    const bytes = Buffer.from(line('grüße'));
    const middle = bytes.indexOf('ü') + 1;
    await appendFile(path, bytes.subarray(0, middle));
    expect(await tail.readNew()).toEqual([]);
    await appendFile(path, bytes.subarray(middle));
    expect(await tail.readNew()).toEqual(['grüße']);
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
    expect(await tail.readNew()).toEqual(['the assistant']);
  });

  it('goes on after a line that is too long', async () => {
    await appendFile(path, `{"x":"${'x'.repeat(9 * 1024 * 1024)}"}\n${line('after it')}`);
    expect(await tail.readNew()).toEqual(['after it']);
  });

  it('is not read when it is not a regular file', async () => {
    expect(await new TranscriptTail(folder).readNew()).toEqual([]);
  });
});
