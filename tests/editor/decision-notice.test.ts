import { expect, test } from 'vitest';
import type { BoardState, DecisionView } from '../../src/board/state.js';
import { emptyBoard } from '../../src/board/state.js';
import { cardOf, decisionViewOf } from '../../src/board/task-views.js';
import { decisionNotice } from '../../vscode/src/tasks/notifications/decision-notice.js';
import { isOfWorkspace, newDecisions } from '../../vscode/src/tasks/notifications/decision-notices.js';
import { decision, TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const task = cardOf(taskRecord({ project_path: '/home/ada/shop' }));

function asks(changes: Partial<DecisionView>): DecisionView {
  return { ...decisionViewOf(TASK_ID, decision()), ...changes };
}

function labelsOf(changes: Partial<DecisionView>): readonly string[] {
  return decisionNotice(asks(changes), task).buttons.map(({ label }) => label);
}

test('a short shell command is shown whole, and can be allowed where it is seen', () => {
  const { message, buttons } = decisionNotice(
    asks({ input: { command: 'npm test', description: 'Tests' } }),
    task,
  );
  expect(message).toBe('Claude Code in shop (Fix the login): asks to run npm test');
  expect(buttons).toEqual([
    { label: 'Allow Once', answer: { verdict: 'allow' } },
    { label: 'Allow for This Session', answer: { verdict: 'allow_session' } },
    { label: 'Deny', answer: { verdict: 'deny' } },
    { label: 'Show', answer: undefined },
  ]);
});

test.each([
  ['is long', { input: { command: `echo ${'a'.repeat(200)}` } }],
  ['has two lines', { input: { command: 'echo a\nrm -r b' } }],
  ['has characters that are not seen', { input: { command: 'rm \u202eb' } }],
  ['would be a link', { input: { command: 'echo [a](command:b)' } }],
  ['has another field', { input: { command: 'ls', dangerouslyDisableSandbox: true } }],
  ['is cut', { input_is_cut: true }],
  ['is of another tool', { tool: 'Write', input: { file_path: '/a', content: 'b' } }],
] as const)('a request that %s is only shown or denied', (_what, changes) => {
  expect(labelsOf(changes)).toEqual(['Show', 'Deny']);
});

test('a command that may be allowed is shown whole in a project with a long name, and a summary names its tool once', () => {
  const command = `echo ${'a'.repeat(155)}`;
  const names = { project_path: `/home/ada/${'shop-'.repeat(40)}`, prompt_summary: 'p'.repeat(200) };
  const long = cardOf(taskRecord(names));
  expect(decisionNotice(asks({ input: { command } }), long).message).toContain(`asks to run ${command}`);
  const write = asks({ tool: 'Write', input: { file_path: '/a' }, summary: 'Write(/a)' });
  expect(decisionNotice(write, task).message).toBe('Claude Code in shop (Fix the login): asks for Write(/a)');
});

test('a question of another machine names it', () => {
  const { message } = decisionNotice(asks({ task_id: `gpu/${TASK_ID}`, kind: 'plan' }), task);
  expect(message).toMatch(/^Claude Code in shop on gpu \(/);
});

test('no text of a session becomes a link of the notification', () => {
  const summary = 'Read [here](command:workbench.action.terminal.kill) \u200b';
  const { message } = decisionNotice(asks({ tool: 'Read', input: {}, summary }), task);
  expect(message).toBe(
    'Claude Code in shop (Fix the login): asks for Read: Read [here] (command:workbench.action.terminal.kill) \\u200b',
  );
});

test('the options of one short question are buttons, and others are shown in the view', () => {
  const options = [
    { label: 'Red', description: null },
    { label: 'Blue', description: null },
  ];
  const one = { question: 'Which color?', header: 'Color', multi_select: false, options };
  const of = (questions: DecisionView['questions']) => labelsOf({ kind: 'question', questions });
  expect(decisionNotice(asks({ kind: 'question', questions: [one] }), task)).toEqual({
    message: 'Claude Code in shop (Fix the login): Which color?',
    buttons: [
      { label: 'Red', answer: { verdict: 'allow', answers: { 'Which color?': 'Red' } } },
      { label: 'Blue', answer: { verdict: 'allow', answers: { 'Which color?': 'Blue' } } },
      { label: 'Show', answer: undefined },
    ],
  });
  expect(of([one, one])).toEqual(['Show']);
  expect(of([{ ...one, multi_select: true }])).toEqual(['Show']);
  expect(of([{ ...one, options: [...options, ...options] }])).toEqual(['Show']);
  expect(of([{ ...one, options: [{ label: 'Show', description: null }] }])).toEqual(['Show']);
});

test('a plan and the trust of a folder are only shown', () => {
  expect(labelsOf({ kind: 'plan' })).toEqual(['Show']);
  expect(labelsOf({ kind: 'trust' })).toEqual(['Show']);
});

test('each question is new once, and those from before the window are not', () => {
  const fresh = newDecisions(Date.parse('2026-03-01T10:00:05.000Z'));
  const at = (seconds: string, id: string): DecisionView =>
    asks({ decision_id: id, asked_at: `2026-03-01T10:00:${seconds}.000Z` });
  const board = (...decisions: DecisionView[]): BoardState => ({
    ...emptyBoard,
    decisions: Object.fromEntries(decisions.map((one) => [`${one.task_id}/${one.decision_id}`, one])),
  });
  const idsIn = (state: BoardState) => fresh(state).map(({ decision_id }) => decision_id);
  expect(idsIn(board(at('04', 'dec_1'), at('05', 'dec_2')))).toEqual(['dec_2']);
  expect(idsIn(board(at('04', 'dec_1'), at('05', 'dec_2')))).toEqual([]);
  expect(idsIn(board(at('05', 'dec_2'), at('09', 'dec_3')))).toEqual(['dec_3']);
});

test('a task is of the workspace when one of both folders is in the other', () => {
  expect(isOfWorkspace('/home/ada/shop/api', ['/other', '/home/ada/shop'])).toBe(true);
  expect(isOfWorkspace('/home/ada/shop', ['/home/ada/shop/api'])).toBe(true);
  expect(isOfWorkspace('/home/ada/shop2', ['/home/ada/shop'])).toBe(false);
});
