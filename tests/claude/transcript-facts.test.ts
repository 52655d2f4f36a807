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
  readonly stopped: unknown[];
  readonly totals: TranscriptTotals;
}

async function read(
  paths: readonly string[],
  sinceMs = 0,
  end: AbortSignal = signal,
  denial?: string,
): Promise<Told> {
  const commands: unknown[] = [];
  const writes: unknown[] = [];
  const refused: unknown[] = [];
  const stopped: unknown[] = [];
  const totals = await readTranscripts(
    paths,
    { sinceMs, cwd: '/project', signal: end },
    {
      onCommand: (command, { exitCode, note, output }) => commands.push([command, exitCode, note, output]),
      onWrite: (path, change) => writes.push([path, change]),
      onRefused: (tool, summary, why) => refused.push([tool, summary, why]),
      onDenied: (summary, why) => refused.push(['rule', summary, why]),
      onStopped: (command) => stopped.push(command),
      isDenial: (_summary, text) => text === denial,
    },
  );
  return { commands, writes, refused, stopped, totals };
}

function recorded(version: string): string {
  return fileURLToPath(new URL(`../fixtures/transcripts/${version}/tools.jsonl`, import.meta.url));
}

describe.each(['2.1.197', '2.1.330'])('a transcript of Claude Code %s', (version) => {
  it('reports each command with its exit code and output', async () => {
    const { commands } = await read([recorded(version)]);
    expect(commands).toEqual([
      ['echo out; echo err >&2', 0, undefined, 'out\nerr'],
      ['echo bad; exit 3', 3, undefined, 'bad'],
      ['grep nothing a.txt', null, 'No matches found', ''],
      ['sleep 5', 143, undefined, 'Command timed out after 0s'],
      ['sleep 1; echo late', 0, undefined, ''],
    ]);
  });

  it('reports the files that tools wrote, and which of them were new', async () => {
    const { writes } = await read([recorded(version)]);
    expect(writes).toEqual([
      ['/project/a.txt', 'created'],
      ['/project/a.txt', 'changed'],
      ['/project/a.txt', 'changed'],
    ]);
  });

  it('reports refused calls, but not as commands that ran', async () => {
    const { refused } = await read([recorded(version)]);
    const denied = /denied by a rule of Claude Code’s settings \(\w+\)|has been denied/;
    expect(refused).toEqual([
      [expect.anything(), 'Bash(rm -rf /nonexistent/x)', expect.stringMatching(denied)],
    ]);
  });

  it('adds the tokens per model, each message once', async () => {
    const { totals } = await read([recorded(version)]);
    const sums = { input: 130, output: 130, cacheRead: 0, cacheWrite: 0 };
    expect([...totals.usage]).toEqual([[expect.stringMatching(/^claude-opus-/), sums]]);
    expect(totals.isWhole).toBe(true);
  });

  it('skips what is older than the task', async () => {
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

  it('that does not exist reports nothing', async () => {
    expect(await read([path])).toMatchObject({ commands: [], totals: { isWhole: true } });
  });

  it('counts a growing message once with its last count, and skips those that the CLI wrote', async () => {
    await writeFile(path, said('a', 3) + said('a', 9) + said('b', 5) + said('c', 7, [], '<synthetic>'));
    const { totals } = await read([path]);
    expect([...totals.usage]).toEqual([['m', { input: 2, output: 14, cacheRead: 0, cacheWrite: 0 }]]);
  });

  it('is read past lines that are incomplete, too long, or of an unknown kind', async () => {
    await writeFile(path, `{"type":"assistant","mess\n{"type":"assistant"}\n[]\n`);
    await appendFile(path, `{"type":"user","pad":"${'x'.repeat(17 * 1024 * 1024)}"}\n`);
    await appendFile(path, said('a', 1));
    const { totals } = await read([path]);
    expect(totals.usage.size).toBe(1);
    expect(totals.isWhole).toBe(false);
  });

  it('has a command that was running when the session ended', async () => {
    const bash = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'sleep 60' } };
    await writeFile(path, said('a', 1, [bash]));
    const { commands } = await read([path]);
    expect(commands).toEqual([['sleep 60', null, 'it was ended with the session', '']]);
  });

  describe('has a command whose result is an error', () => {
    const REJECTED =
      "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit). STOP.";
    const told = async (text: string, fields: Readonly<Record<string, unknown>> = {}, denial?: string) => {
      const bash = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'npm test' } };
      const result = { type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: text };
      const line = {
        type: 'user',
        timestamp: '2030-01-01T00:00:01Z',
        message: { content: [result] },
        ...fields,
      };
      await writeFile(path, `${said('a', 1, [bash])}${JSON.stringify(line)}\n`);
      const { commands, refused, stopped } = await read([path], 0, signal, denial);
      return { commands, refused, stopped };
    };
    const refusal = (why: string) => ({
      commands: [],
      refused: [['Bash', 'Bash(npm test)', why]],
      stopped: [],
    });

    it('that says how it failed', async () => {
      const { commands } = await told('Exit code 2\nbad');
      expect(commands).toEqual([['npm test', 2, undefined, 'bad']]);
    });

    it.each([
      ['exits with 0, which is no failure', 'Exit code 0\nTests: 5 passed, 5 total', {}, undefined],
      ['are those of its denial', 'Exit code 1\n5 passed', {}, 'Exit code 1\n5 passed'],
      [
        'are those of a denial of 2.1.330',
        'Exit code 1\n5 passed',
        { toolDenialKind: 'permission-rule' },
        undefined,
      ],
      [
        'are those of a refusal of 2.1.330',
        REJECTED,
        { toolDenialKind: 'user-rejected', toolDenialBeforeRun: true },
        undefined,
      ],
    ])('and did not run, as its words %s', async (_why, text, fields, denial) => {
      expect(await told(text, fields, denial)).toEqual(refusal(text));
    });

    it.each([
      ['by its kind', REJECTED, { toolDenialKind: 'user-rejected' }],
      [
        'by its words',
        `${REJECTED} Correction to the text above: this call was stopped while running, not refused before it ran.`,
        {},
      ],
    ])('and was interrupted, %s', async (_how, text, fields) => {
      const { commands, refused } = await told(text, fields);
      expect(commands).toEqual([['npm test', null, 'interrupted', '']]);
      expect(refused).toEqual([]);
    });

    it('and was refused or interrupted in 2.1.197', async () => {
      expect(await told(REJECTED)).toEqual({ commands: [], refused: [], stopped: ['npm test'] });
    });
  });

  it('has an output that the CLI cut, and says what it kept', async () => {
    const ended = async (
      fields: Readonly<Record<string, unknown>>,
      result: Readonly<Record<string, unknown>>,
    ) => {
      const bash = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'seq 1 9' } };
      const content = [{ type: 'tool_result', tool_use_id: 'toolu_1', ...result }];
      const line = { type: 'user', timestamp: '2030-01-01T00:00:01Z', message: { content }, ...fields };
      await writeFile(path, `${said('a', 1, [bash])}${JSON.stringify(line)}\n`);
      let kept: string | undefined;
      await readTranscripts(
        [path],
        { sinceMs: 0, cwd: '/project', signal },
        {
          onCommand: (_command, end) => (kept = end.kept),
          onWrite: () => undefined,
          onRefused: () => undefined,
          onDenied: () => undefined,
          onStopped: () => undefined,
          isDenial: () => false,
        },
      );
      return kept;
    };
    const stdout = 'x'.repeat(30_000);
    expect(await ended({ toolUseResult: { stdout, persistedOutputSize: 9_488_895 } }, {})).toBe(
      'Claude Code kept the first 30,000 characters of 9,488,895 bytes, the end is missing',
    );
    expect(await ended({ toolUseResult: { stdout } }, {})).toBeUndefined();
    const middle = { stdout, persistedOutputSize: 9_488_895, stdoutHoldsOutputEnd: true };
    expect(await ended({ toolUseResult: middle }, {})).toMatch(
      /^Claude Code left out the middle of 9,488,895/,
    );
    const half = 'x'.repeat(5_000);
    const failed = (leftOut: number) => ({
      is_error: true,
      content: `Exit code 3\n${half}\n\n... [${leftOut} characters truncated] ...\n\n${half}`,
    });
    expect(await ended({}, failed(20_013))).toMatch(/^Claude Code kept the first 30,000 characters, /);
    expect(await ended({}, failed(1_000))).toBeUndefined();
  });

  it('is read no further after the time limit, and the result says so', async () => {
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
