import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { claudeConfigDir, findTranscripts } from '../../src/claude/transcript-files.js';
import { readUsage } from '../../src/claude/transcript-usage.js';

const { signal } = new AbortController();

function recorded(version: string): string {
  return fileURLToPath(new URL(`../fixtures/transcripts/${version}/tools.jsonl`, import.meta.url));
}

describe('the transcript of a session', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bridge-transcript-'));
    path = join(folder, 's.jsonl');
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
  });

  const said = (id: string, output: number, model = 'm') =>
    `${JSON.stringify({
      type: 'assistant',
      timestamp: '2030-01-01T00:00:00Z',
      message: { id, model, content: [], usage: { input_tokens: 1, output_tokens: output } },
    })}\n`;

  it('has the tokens of each model, each message once', async () => {
    const { usage, isWhole } = await readUsage([recorded('2.1.330')], 0, signal);
    const sums = { input: 130, output: 130, cacheRead: 0, cacheWrite: 0 };
    expect([...usage]).toEqual([[expect.stringMatching(/^claude-opus-/), sums]]);
    expect(isWhole).toBe(true);
    const later = await readUsage([recorded('2.1.330')], Date.parse('2099-01-01T00:00:00Z'), signal);
    expect(later.usage.size).toBe(0);
  });

  it('counts nothing where it does not exist', async () => {
    expect(await readUsage([path], 0, signal)).toMatchObject({ isWhole: true });
  });

  it('counts a growing message once with its last count, and skips those that the CLI wrote', async () => {
    await writeFile(path, said('a', 3) + said('a', 9) + said('b', 5) + said('c', 7, '<synthetic>'));
    const { usage } = await readUsage([path], 0, signal);
    expect([...usage]).toEqual([['m', { input: 2, output: 14, cacheRead: 0, cacheWrite: 0 }]]);
  });

  it('is read past lines that are incomplete, too long, or of an unknown kind', async () => {
    await writeFile(path, `{"type":"assistant","mess\n{"type":"assistant"}\n[]\n`);
    await appendFile(path, `{"type":"user","pad":"${'x'.repeat(17 * 1024 * 1024)}"}\n`);
    await appendFile(path, said('a', 1));
    const { usage, isWhole } = await readUsage([path], 0, signal);
    expect(usage.size).toBe(1);
    expect(isWhole).toBe(false);
  });

  it('is read no further after the time limit, and the result says so', async () => {
    await writeFile(path, said('a', 1));
    expect((await readUsage([path], 0, AbortSignal.abort())).isWhole).toBe(false);
  });
});

describe('the transcripts of a session', () => {
  const session = '0b0f8a7e-1111-4222-8333-444455556666';
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'bridge-home-'));
    onTestFinished(() => rm(home, { recursive: true, force: true }));
  });

  it('are found in any project’s folder, followed by those of subagents', async () => {
    const config = claudeConfigDir({ HOME: home }) ?? '';
    const project = join(config, 'projects', '-somewhere');
    await mkdir(join(project, session, 'subagents'), { recursive: true });
    await mkdir(join(config, 'projects', '-else'));
    const own = join(project, `${session}.jsonl`);
    const sub = join(project, session, 'subagents', 'agent-1.jsonl');
    for (const file of [own, sub, join(project, session, 'subagents', 'agent-1.meta.json')])
      await writeFile(file, '');
    expect(await findTranscripts(config, session)).toEqual([own, sub]);
  });

  it('are empty for a session without them, and for an invalid id', async () => {
    expect(await findTranscripts(join(home, '.claude'), session)).toEqual([]);
    expect(await findTranscripts(home, '../../etc')).toEqual([]);
  });

  it('are in CLAUDE_CONFIG_DIR', () => {
    expect(claudeConfigDir({ HOME: '/h', CLAUDE_CONFIG_DIR: '/c' })).toBe('/c');
    expect(claudeConfigDir({})).toBeUndefined();
  });
});
