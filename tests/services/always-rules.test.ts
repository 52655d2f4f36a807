import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { alwaysRulesOf, type AlwaysRulesParts } from '../../src/services/always-rules.js';
import { createWorkplace, type Workplace } from '../harness/workplace.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { TASK_ID, taskRecord } from '../tools/fake-task-service.js';

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
function rulesOf(more: Partial<AlwaysRulesParts> = {}) {
  const { projectsDir } = workplace;
  const record = taskRecord({ permission_mode: 'cautious', project_path: projectsDir, decisions: [asked] });
  const always = alwaysRulesOf({
    file,
    rulesFrom: null,
    specFile: (taskId) => join(workplace.root, `${taskId}.json`),
    ...more,
  });
  return { always, record };
}

it('a rule for exactly this is shown as it would stand, and another one is taken', async () => {
  const { always, record } = rulesOf();
  const proposal = await always.propose(record, asked);
  expect(proposal).toMatchObject({ rules: ['Bash(git diff --stat)'], file, refusal: null });
  expect(JSON.parse(proposal.rows)).toMatchObject({
    rules: [{ rule: 'Bash(git diff --stat)', verdict: 'allow' }],
  });
  expect(await always.propose(record, asked, ['Bash(npm test)'])).toMatchObject({
    rules: ['Bash(npm test)'],
  });
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
