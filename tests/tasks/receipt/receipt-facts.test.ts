import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/tasks/task.js';
import { writeFiles } from '../../harness/project-files.js';
import { sampleDecision } from '../sample-decision.js';
import { receiptPlace } from './receipt-place.js';

/** The receipt of a task with that journal. */
async function receiptOf(journal: readonly object[], decisions: readonly Decision[] = []) {
  const { stateDir, record, receipt } = await receiptPlace({ turns: 1, decisions: [...decisions] });
  const at = new Date(0).toISOString();
  const lines = journal.map((event, index) => `${JSON.stringify({ seq: index + 1, at, ...event })}\n`);
  await writeFile(stateDir.journalFile(record.task_id), lines.join(''));
  const made = await receipt();
  if (made === undefined) throw new Error('there is no receipt');
  return made;
}

const began = (id: string, command: string) => ({
  type: 'tool-started',
  id,
  tool: 'Bash',
  summary: `Bash(${command})`,
  command,
});
const ended = (id: string, command: string, more: object) => ({
  ...began(id, command),
  type: 'tool-finished',
  ok: true,
  files_changed: [],
  ...more,
});
const closed = (command: string, verdict: string, more: object = {}) => ({
  type: 'decision-closed',
  summary: `Bash(${command})`,
  verdict,
  ...more,
});
const over = { type: 'turn-ended', interrupted: false, error: null };

describe('a receipt', () => {
  it('tells the trouble of a task with its kind, its words, its begin and, when it passed, its end', async () => {
    const text = "You've hit your 5-hour limit · resets 9:31am (UTC)";
    const trouble = (kind: string) => ({ type: 'trouble', kind, text });
    const { notes } = await receiptOf([trouble('usage-limit'), { type: 'trouble-over' }, trouble('network')]);
    const at = new Date(0).toISOString();
    const began = `told at ${at}: ${text}`;
    expect(notes.slice(-2)).toEqual([
      `Trouble (usage-limit), ${began}. The session went on at ${at}.`,
      `Trouble (network), ${began}`,
    ]);
  });

  it('has the command that was allowed, where another one was asked', async () => {
    const edits = [{ field: 'command', asked: 'rm -rf x', allowed: 'rm x' }];
    const receipt = await receiptOf([
      began('1', 'rm -rf x'),
      closed('rm -rf x', 'allow', { edits }),
      ended('1', 'rm -rf x', { exit_code: 0 }),
      over,
    ]);
    expect(receipt.commands).toEqual([{ command: 'rm x', exit_code: 0 }]);
  });

  it('has no command that never ran, and each denial once', async () => {
    const denied = { summary: 'Bash(two)', verdict: 'deny', answered_by: 'caller', reason: 'No.' } as const;
    const receipt = await receiptOf(
      [
        began('1', 'one'),
        ended('1', 'one', { ok: false, error: 'denied by a rule of this task', denied: 'rule' }),
        began('2', 'two'),
        closed('two', 'deny'),
        ended('2', 'two', { ok: false, error: 'No.', denied: 'session' }),
        began('3', 'three'),
        closed('three', 'withdrawn'),
        began('4', 'four'),
        ended('4', 'four', { ok: false, error: 'it cannot be read' }),
        over,
      ],
      [sampleDecision(denied)],
    );
    expect(receipt.commands).toEqual([]);
    expect(receipt.denials).toEqual([
      { summary: 'Bash(two)', by: 'caller', reason: 'No.' },
      { summary: 'Bash(one)', by: 'rule', reason: 'denied by a rule of this task' },
    ]);
  });

  it('has no command that was asked about and not answered when the keeper was killed', async () => {
    const unanswered = sampleDecision({
      decision_id: 'decision_2',
      summary: 'Bash(one)',
      verdict: 'withdrawn',
      answered_by: 'session',
    });
    const { commands } = await receiptOf([began('1', 'one')], [unanswered]);
    expect(commands).toEqual([]);
    // An earlier request that was withdrawn says nothing of a call that came later.
    const closedOnce = closed('one', 'withdrawn', { decision_id: 'decision_2' });
    const later = await receiptOf([began('1', 'one'), closedOnce, began('2', 'one')], [unanswered]);
    expect(later.commands).toMatchObject([{ command: 'one', note: 'it was ended with the session' }]);
  });

  it('has how a command in the background ended, and what was cut off', async () => {
    const background = { exit_code: null, note: 'runs in the background' };
    const receipt = await receiptOf([
      began('1', 'serve'),
      ended('1', 'serve', background),
      began('2', 'watch'),
      ended('2', 'watch', background),
      { type: 'command-ended', id: '1', command: 'serve', exit_code: 2, output: 'in use' },
      began('3', 'unseen'),
      over,
      began('4', 'stopped'),
      { ...over, interrupted: true },
      began('5', 'printed'),
      began('6', 'cut'),
      { type: 'command-ended', id: '5', command: 'printed', exit_code: null, note: 'cut', output: 'half' },
    ]);
    expect(receipt.commands).toEqual([
      { command: 'serve', exit_code: 2, output: 'in use' },
      { command: 'watch', exit_code: null, note: 'ran in the background, and its end was not seen' },
      { command: 'unseen', exit_code: null, note: 'whether it ran was not seen' },
      { command: 'stopped', exit_code: null, note: 'it was interrupted' },
      { command: 'printed', exit_code: null, note: 'cut', output: 'half' },
      { command: 'cut', exit_code: null, note: 'it was ended with the session' },
    ]);
    expect(receipt.commands_failed).toBe(1);
  });

  it('has a command of a subagent once, though the turn of its caller ended while it ran', async () => {
    const end = { exit_code: 6, output: 'x'.repeat(900), left_out: 5_000, kept: 'Claude Code kept some' };
    const late = ended('1', 'one', { ok: false, ...end });
    const receipt = await receiptOf([began('1', 'one'), over, late, late]);
    expect(receipt).toMatchObject({
      commands: [{ command: 'one', ...end }],
      commands_total: 1,
      commands_failed: 1,
    });
  });

  it('has the files that tools wrote: one that was created stays created', async () => {
    const wrote = (path: string, created: boolean) => ended('1', '', { files_changed: [path], created });
    const { files } = await receiptOf([wrote('/a', true), wrote('/a', false), wrote('/b', false)]);
    expect(files).toEqual([
      { path: '/a', change: 'created' },
      { path: '/b', change: 'changed' },
    ]);
  });

  it('says that of a session no hook was seen, and which programs were ended with it', async () => {
    const programs = ['sh', 'sleep', 'sleep'];
    const leftovers = { type: 'leftovers-ended', count: 3, programs };
    const receipt = await receiptOf([over, leftovers]);
    expect(receipt.commands_source).toBe('none');
    const told = await receiptOf([{ type: 'turn-started', source: 'exact' }, over]);
    expect(told).toMatchObject({ commands_source: 'journal', notes: [expect.stringContaining('person')] });
    expect(receipt.notes).toEqual([
      expect.stringContaining('person'),
      'Ended 3 processes that still ran: sh, sleep.',
      'Nothing told which commands ran: no hook of the session was seen.',
    ]);
  });
});

it('a receipt of a task whose keeper was killed has the calls that its transcript alone has, with their ends', async () => {
  const keeper = { pid: 1, start_time: '1', boot_id: 'of an earlier boot' };
  const session_id = '0b0f8a7e-1111-4222-8333-444455556666';
  const spent = { tokens: 7, cost_usd: 0.2 };
  const place = await receiptPlace({
    driver: 'print',
    status: 'error',
    turns: 1,
    keeper,
    session_id,
    ...spent,
  });
  const timestamp = '2026-06-01T00:00:00Z';
  const tool_use = (id: string, command: string) => ({
    type: 'tool_use',
    id,
    name: 'Bash',
    input: { command },
  });
  const calls = [tool_use('1', 'one'), tool_use('2', 'two'), tool_use('3', 'three')];
  const message = { id: 'm', model: 'm', content: calls, usage: { input_tokens: 7, output_tokens: 1 } };
  const result = (id: string, more: object) => ({
    ...{ type: 'user', timestamp, toolUseResult: { stdout: 'out' }, ...more },
    message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'out' }] },
  });
  const lines = [
    { type: 'assistant', timestamp, message },
    result('1', {}),
    result('2', { toolDenialKind: 'user-rejected' }),
  ];
  await writeFiles(place.folder, {
    [`projects/p/${session_id}.jsonl`]: `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
    [`tasks/${place.record.task_id}/journal.ndjson`]: `${JSON.stringify({ seq: 1, at: '2026-05-01T00:00:00Z', ...began('1', 'one') })}\n`,
  });
  const cut = { exit_code: null, note: 'it was ended with the session' };
  expect(await place.receipt()).toMatchObject({
    complete: false,
    commands: [
      { command: 'one', exit_code: 0, output: 'out' },
      { command: 'two', ...cut },
      { command: 'three', ...cut },
    ],
    // The cost was told of fewer tokens.
    usage: { models: [{ output: 1 }], cost_usd: 'unknown' },
  });
});

describe('the tokens of a receipt', () => {
  it('are those that Claude Code reported at the end of the last turn, also of one without an error', async () => {
    const turn = (tokens: number, error: string | null) => ({
      ...over,
      error,
      usage: {
        models: { m: { input: tokens, output: tokens, cacheRead: 0, cacheWrite: 0 } },
        costUsd: tokens / 100,
      },
    });
    const { usage, notes } = await receiptOf([turn(10, 'The limit is reached.'), turn(20, null)]);
    const models = [{ model: 'm', input: 20, output: 20, cache_read: 0, cache_write: 0 }];
    expect(usage).toEqual({ source: 'result', models, cost_usd: 0.2 });
    expect(notes.join()).not.toContain('could not be read');
  });

  const session_id = '0b0f8a7e-1111-4222-8333-444455556666';
  const said = (id: string, output: number, model = 'm', timestamp = '2030-01-01T00:00:00Z') =>
    `${JSON.stringify({
      type: 'assistant',
      timestamp,
      message: { id, model, content: [], usage: { input_tokens: 1, output_tokens: output } },
    })}\n`;

  it('are those of the session and its subagents since the task began, each message once with its last count', async () => {
    const { folder, receipt } = await receiptPlace({ session_id });
    const project = join(folder, 'projects', '-somewhere');
    await mkdir(join(project, session_id, 'subagents'), { recursive: true });
    await mkdir(join(folder, 'projects', '-else'));
    const file = join(project, `${session_id}.jsonl`);
    await writeFile(file, said('old', 99, 'm', '2020-01-01T00:00:00Z') + said('a', 3) + said('a', 9));
    await appendFile(file, said('c', 7, '<synthetic>'));
    await writeFile(join(project, session_id, 'subagents', 'agent-1.jsonl'), said('b', 5));
    await writeFile(join(project, session_id, 'subagents', 'agent-1.meta.json'), said('d', 70));
    const models = [{ model: 'm', input: 2, output: 14, cache_read: 0, cache_write: 0 }];
    expect(await receipt()).toMatchObject({ usage: { source: 'transcript', models } });
  });

  it('are read past lines that are incomplete, too long or of an unknown kind, which is said', async () => {
    const { folder, receipt } = await receiptPlace({ session_id });
    await mkdir(join(folder, 'projects', 'p'), { recursive: true });
    const file = join(folder, 'projects', 'p', `${session_id}.jsonl`);
    await writeFile(file, `{"type":"assistant","mess\n{"type":"assistant"}\n[]\n`);
    await appendFile(file, `{"type":"user","pad":"${'x'.repeat(17 * 1024 * 1024)}"}\n${said('a', 1)}`);
    const made = await receipt();
    expect(made?.usage.models).toMatchObject([{ output: 1 }]);
    expect(made?.notes.join()).toContain('transcript');
  });
});
