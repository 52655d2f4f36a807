import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readTranscripts, type TranscriptTotals } from '../../src/claude/transcript-facts.js';
import { claudeConfigDir, findTranscripts } from '../../src/claude/transcript-files.js';

const signal = new AbortController().signal;

interface Told {
  readonly commands: unknown[];
  readonly writes: unknown[];
  readonly refused: unknown[];
  readonly totals: TranscriptTotals;
}

async function read(paths: readonly string[], sinceMs = 0, end: AbortSignal = signal): Promise<Told> {
  const commands: unknown[] = [];
  const writes: unknown[] = [];
  const refused: unknown[] = [];
  const totals = await readTranscripts(
    paths,
    { sinceMs, cwd: '/project', signal: end },
    {
      onCommand: (command, { exitCode, note, output }) => commands.push([command, exitCode, note, output]),
      onWrite: (path, change) => writes.push([path, change]),
      onRefused: (tool, summary, why) => refused.push([tool, summary, why]),
    },
  );
  return { commands, writes, refused, totals };
}

function recorded(version: string): string {
  return fileURLToPath(new URL(`../fixtures/transcripts/${version}/tools.jsonl`, import.meta.url));
}

describe.each(['2.1.197', '2.1.330'])('a transcript of Claude Code %s', (version) => {
  it('tells each command with its exit code and what it printed', async () => {
    const { commands } = await read([recorded(version)]);
    expect(commands).toEqual([
      ['echo out; echo err >&2', 0, undefined, 'out\nerr'],
      ['echo bad; exit 3', 3, undefined, 'bad'],
      ['grep nothing a.txt', null, 'No matches found', ''],
      ['sleep 1; echo late', null, 'runs in the background', ''],
      ['sleep 5', 143, undefined, 'Command timed out after 0s'],
    ]);
  });

  it('tells the files that tools wrote, and which of them were new', async () => {
    const { writes } = await read([recorded(version)]);
    expect(writes).toEqual([
      ['/project/a.txt', 'created'],
      ['/project/a.txt', 'changed'],
      ['/project/a.txt', 'changed'],
    ]);
  });

  it('tells what was refused, and not as a command that ran', async () => {
    const { refused } = await read([recorded(version)]);
    expect(refused).toEqual([
      ['Bash', 'Bash(rm -rf /nonexistent/x)', expect.stringContaining('has been denied')],
    ]);
  });

  it('sums the tokens by model, each message once', async () => {
    const { totals } = await read([recorded(version)]);
    const sums = { input: 130, output: 130, cacheRead: 0, cacheWrite: 0 };
    expect([...totals.usage]).toEqual([[expect.stringMatching(/^claude-opus-/), sums]]);
    expect(totals.isWhole).toBe(true);
  });

  it('leaves out what is older than the task', async () => {
    const { commands, totals } = await read([recorded(version)], Date.parse('2099-01-01T00:00:00Z'));
    expect(commands).toEqual([]);
    expect(totals.usage.size).toBe(0);
  });
});

describe('a transcript', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bridge-transcript-'));
    path = join(folder, 's.jsonl');
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
  });

  const said = (id: string, output: number, content: readonly unknown[] = [], model = 'm') =>
    `${JSON.stringify({
      type: 'assistant',
      timestamp: '2030-01-01T00:00:00Z',
      message: { id, model, content, usage: { input_tokens: 1, output_tokens: output } },
    })}\n`;

  it('that is not there tells nothing', async () => {
    expect(await read([path])).toMatchObject({ commands: [], totals: { isWhole: true } });
  });

  it('counts a message that grew by its last count, and none that the CLI wrote itself', async () => {
    await writeFile(path, said('a', 3) + said('a', 9) + said('b', 5) + said('c', 7, [], '<synthetic>'));
    const { totals } = await read([path]);
    expect([...totals.usage]).toEqual([['m', { input: 2, output: 14, cacheRead: 0, cacheWrite: 0 }]]);
  });

  it('is read past lines that are torn, too long, or of a kind that nobody knows', async () => {
    await writeFile(path, `{"type":"assistant","mess\n{"type":"assistant"}\n[]\n`);
    await appendFile(path, `{"type":"user","pad":"${'x'.repeat(17 * 1024 * 1024)}"}\n`);
    await appendFile(path, said('a', 1));
    const { totals } = await read([path]);
    expect(totals.usage.size).toBe(1);
    expect(totals.isWhole).toBe(false);
  });

  it('is left where the time is over, and says so', async () => {
    await writeFile(path, said('a', 1));
    expect((await read([path], 0, AbortSignal.abort())).totals.isWhole).toBe(false);
  });
});

describe('the transcripts of a session', () => {
  const session = '0b0f8a7e-1111-4222-8333-444455556666';
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'bridge-home-'));
    onTestFinished(() => rm(home, { recursive: true, force: true }));
  });

  it('are found in any project’s folder, those of subagents behind it', async () => {
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

  it('are none for a session without them, and for text that is no id', async () => {
    expect(await findTranscripts(join(home, '.claude'), session)).toEqual([]);
    expect(await findTranscripts(home, '../../etc')).toEqual([]);
  });

  it('lie where CLAUDE_CONFIG_DIR says', () => {
    expect(claudeConfigDir({ HOME: '/h', CLAUDE_CONFIG_DIR: '/c' })).toBe('/c');
    expect(claudeConfigDir({})).toBeUndefined();
  });
});
