import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toolFinished, toolSummary, type ToolUsed } from '../../src/claude/tool-calls.js';
import { parseTranscriptLine, type ToolOutcome } from '../../src/claude/transcript-entry.js';

const recorded = new URL('../fixtures/transcripts/2.1.330/tools.jsonl', import.meta.url);

/** The calls in a transcript that Claude Code 2.1.330 wrote, each as a session reports its end. */
function recordedEnds() {
  const uses = new Map<string, ToolUsed>();
  const ends: ReturnType<typeof toolFinished>[] = [];
  for (const line of readFileSync(recorded, 'utf8').split('\n')) {
    const entry = parseTranscriptLine(line);
    if (entry?.kind === 'assistant') for (const use of entry.uses) uses.set(use.id, use);
    if (entry?.kind !== 'results') continue;
    for (const outcome of entry.outcomes) {
      const use = uses.get(outcome.id);
      if (use !== undefined) ends.push(toolFinished(use, outcome, '/project', entry.cwd));
    }
  }
  return ends;
}

const bash = { id: 'toolu_1', tool: 'Bash', input: { command: 'npm test' } };
const ended = (outcome: Partial<ToolOutcome>) =>
  toolFinished(bash, { isError: true, text: '', details: undefined, ...outcome }, '/project');

describe('the end of a call of a tool', () => {
  it('has of a command its line, its exit code and what it printed', () => {
    const commands = recordedEnds().flatMap(({ line, command }) =>
      command === undefined ? [] : [[line, command.exitCode, command.note, command.output]],
    );
    expect(commands).toEqual([
      ['echo out; echo err >&2', 0, undefined, 'out\nerr'],
      ['echo bad; exit 3', 3, undefined, 'bad'],
      ['grep nothing a.txt', null, 'No matches found', ''],
      ['sleep 1; echo late', null, 'runs in the background', ''],
      ['sleep 5', 143, undefined, 'Command timed out after 0s'],
    ]);
  });

  it('has the files that it wrote, and whether they are new', () => {
    const writes = recordedEnds().flatMap(({ filesChanged, isNew }) =>
      filesChanged.map((path) => [path, isNew === true]),
    );
    expect(writes).toEqual([
      ['/project/a.txt', true],
      ['/project/a.txt', false],
      ['/project/a.txt', false],
    ]);
  });

  it('says that a rule denied it', () => {
    const denied = recordedEnds().filter((end) => end.denied !== undefined);
    expect(denied).toEqual([
      expect.objectContaining({
        summary: 'Bash(rm -rf /nonexistent/x)',
        denied: 'rule',
        error: expect.stringContaining('denied by a rule of Claude Code’s settings') as string,
      }),
    ]);
  });

  it('says of an interrupted command whether it had begun, if that is known', () => {
    expect(ended({ stopped: 'running' }).command).toMatchObject({ exitCode: null, note: 'interrupted' });
    expect(ended({ stopped: 'perhaps' }).command?.note).toBe('interrupted, perhaps before it began');
  });

  it('says what of an output Claude Code kept', () => {
    const stdout = 'x'.repeat(30_000);
    const kept = (details: object) => ended({ isError: false, details }).command?.kept;
    expect(kept({ stdout, persistedOutputSize: 9_488_895 })).toBe(
      'Claude Code kept the first 30,000 characters of 9,488,895 bytes, the end is missing',
    );
    expect(kept({ stdout })).toBeUndefined();
    expect(kept({ stdout, persistedOutputSize: 9_488_895, stdoutHoldsOutputEnd: true })).toMatch(
      /^Claude Code left out the middle of 9,488,895/,
    );
  });
});

const PROJECT = '/home/anybody/proj';

describe('the summary of a tool call', () => {
  it.each([
    ['Bash', { command: 'npm test', description: 'Test' }, 'Bash(npm test)'],
    ['Write', { file_path: `${PROJECT}/hello.txt`, content: 'x' }, 'Write(hello.txt)'],
    ['Read', { file_path: '/etc/passwd' }, 'Read(/etc/passwd)'],
    ['Read', { file_path: `${PROJECT}-other/a` }, `Read(${PROJECT}-other/a)`],
    ['Read', { file_path: PROJECT }, `Read(${PROJECT})`],
    ['Read', { file_path: `${PROJECT}/..a` }, 'Read(..a)'],
    ['Grep', { pattern: 'x+' }, 'Grep(x+)'],
    ['WebFetch', { url: 'https://example.com' }, 'WebFetch(https://example.com)'],
    ['mcp__x__y', { a: 1 }, 'mcp__x__y({"a":1})'],
    ['Write', { file_path: 7 }, 'Write({"file_path":7})'],
    ['EnterPlanMode', {}, 'EnterPlanMode()'],
    ['Bash', { command: 'a\nb\u001b[31m' }, 'Bash(a ⏎ b\\u001b[31m)'],
  ])('%s %j', (tool, input, summary) => {
    expect(toolSummary(tool, input, PROJECT)).toBe(summary);
  });

  it('is one line of bounded length, and states the whole length when it is cut', () => {
    const summary = toolSummary('Bash', { command: 'x'.repeat(10_000) });
    expect(summary).toHaveLength(200);
    expect(summary).toMatch(/^Bash\(x+… \(10,006 characters\)$/);
    expect(toolSummary('Bash', { command: `${'x'.repeat(193)}…` })).toMatch(/^Bash\(x+…\)$/);
  });

  it('of a question is its text', () => {
    const questions = [{ question: 'Which?' }, { question: 'How many?' }];
    expect(toolSummary('AskUserQuestion', { questions })).toBe('Which? / How many?');
    expect(toolSummary('AskUserQuestion', { questions: [] })).toBe('AskUserQuestion({"questions":[]})');
  });
});
