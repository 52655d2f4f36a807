import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { AlwaysRulesOfSettings, type AlwaysRulesParts } from '../../src/services/always-rules.js';
import { bundledProgram } from '../harness/bundled-program.js';
import { createWorkplace, type Workplace } from '../harness/workplace.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const checkWorker = bundledProgram(new URL('../../src/approvals/shell/check-worker.ts', import.meta.url));
const closed = {
  closed_at: '2026-01-01T00:01:00.000Z',
  verdict: 'allow',
  answered_by: 'board/chrome-1',
} as const;

let workplace: Workplace;
let file: string;

beforeEach(async () => {
  workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  file = join(workplace.root, 'config.json');
});

const asked = sampleDecision({
  can_edit: true,
  input: { command: 'git diff --stat' },
  summary: 'Bash(git diff --stat)',
});
const past = (command: string, more: Partial<typeof asked> = {}) =>
  sampleDecision({ ...closed, input: { command }, summary: `Bash(${command})`, ...more });

function rulesOf(more: Partial<AlwaysRulesParts> = {}) {
  const { projectsDir } = workplace;
  const record = taskRecord({ permission_mode: 'cautious', project_path: projectsDir, decisions: [asked] });
  const before = taskRecord({
    ...record,
    task_id: OTHER_ID,
    decisions: [
      past('git diff main'),
      past('git diff --cached', { verdict: 'deny', reason: 'not now' }),
      past('git diff HEAD && git push'),
      past('npm test'),
      past('git diff a', { answered_by: 'rule' }),
      past('git diff b', { verdict: 'deny', answered_by: 'deadline' }),
      past('cat .env', { tool: 'Read', input: { file_path: '.env' } }),
    ],
  });
  const always = new AlwaysRulesOfSettings({
    file,
    rules: [],
    rulesFrom: null,
    specFile: (taskId) => join(workplace.root, `${taskId}.json`),
    tasks: new FakeTaskService(record, before),
    clock: systemClock,
    homeDir: workplace.homeDir,
    ownPlaces: [],
    checkWorker: pathToFileURL(checkWorker()),
    ...more,
  });
  return { always, record };
}

it('the narrowest rule is shown as it would stand, and what it would have answered before', async () => {
  const { always, record } = rulesOf();
  const proposal = await always.propose(record, asked);
  expect(proposal).toMatchObject({ rules: ['Bash(git diff *)'], file, refusal: null, covers: true });
  expect(JSON.parse(proposal.rows)).toMatchObject({
    rules: [{ rule: 'Bash(git diff *)', verdict: 'allow' }],
  });
  expect(proposal.test).toEqual({
    of: 5,
    answered: 2,
    against: 1,
    denied: [
      { task_id: OTHER_ID, summary: 'Bash(git diff --cached)', by: 'board/chrome-1', reason: 'not now' },
    ],
    tasks: 2,
    is_all: true,
  });
});

it('a rule that denies counts beside the new one', async () => {
  const deny = { rule: 'Bash(git diff main)', verdict: 'deny', reason: 'Never.' } as const;
  const { always, record } = rulesOf({ rules: [deny], rulesFrom: `${file}:3` });
  const { test, covers } = await always.propose(record, asked);
  expect([covers, test.answered, test.of]).toEqual([true, 1, 5]);
});

it('another rule is tested, and one that would not answer this says so', async () => {
  const { always, record } = rulesOf();
  const proposal = await always.propose(record, asked, ['Bash(npm test)']);
  expect(proposal).toMatchObject({ covers: false, test: { answered: 1, against: 0 } });
  await expect(always.propose(record, asked, ['Bash(*)'])).rejects.toThrow('would allow every use of Bash');
  await expect(always.propose(record, asked, ['Bash(ls \u202e)'])).rejects.toThrow(
    'Bash(ls \\u202e) contains',
  );
});

it('the rule is written into the settings file of the board, and into no other one', async () => {
  const { always } = rulesOf();
  const other = join(workplace.root, 'other.json');
  await expect(always.write(asked, ['Bash(git diff *)'], other)).rejects.toThrow(`writes only ${file}`);
  await expect(always.write(asked, ['Bash'], file)).rejects.toThrow('every use of Bash');
  await expect(readFile(file)).rejects.toThrow('ENOENT');
  await Promise.all([
    always.write(asked, ['Bash(git diff *)'], file),
    always.write(asked, ['Bash(make)'], file),
  ]);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    rules: [{ rule: 'Bash(git diff *)', verdict: 'allow' }, { rule: 'Bash(make)' }],
  });
  await expect(readFile(other)).rejects.toThrow('ENOENT');
});

it('rules of a variable are not written over by a file that is not read', async () => {
  const { always, record } = rulesOf({ rulesFrom: 'environment variable MCP_RULES' });
  const { refusal } = await always.propose(record, asked);
  expect(refusal).toContain('The rules come from environment variable MCP_RULES');
  await expect(always.write(asked, ['Bash(make)'], file)).rejects.toThrow('environment variable MCP_RULES');
});

it('a request that is not shown whole gets no rule', async () => {
  const { always, record } = rulesOf();
  const cut = { ...asked, input_is_cut: true };
  const { can_edit: _, ...onScreen } = asked;
  await expect(always.propose(record, onScreen)).rejects.toThrow('hooks or the stream');
  await expect(always.propose(record, cut)).rejects.toThrow('shown whole');
  expect(record.task_id).toBe(TASK_ID);
});
