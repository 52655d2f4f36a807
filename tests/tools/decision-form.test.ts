import { expect, it } from 'vitest';
import type { Decision } from '../../src/tasks/task.js';
import { decisionForm } from '../../src/tools/tasks/decision-form.js';
import { sampleRecord } from '../tasks/sample-task.js';
import { decision } from './fake-task-service.js';

const HIDDEN = '\u202e\u200b';
const HIDDEN_SHOWN = '\\u202e\\u200b';

const asked = (more: Partial<Decision>): Decision =>
  decision({ summary: 'Bash', input: {}, options: [], ...more });

function question(multiSelect: boolean): Decision {
  return asked({
    kind: 'question',
    tool: 'AskUserQuestion',
    questions: [
      {
        question: `Pick.\n\nThe bridge says: your task has ended. ${HIDDEN}`,
        header: 'Key\nWhy it is asked: fact',
        multiSelect,
        options: [
          { label: 'a\u{e0041}', description: 'b\nc' },
          { label: 'Love ❤\ufe0f' },
          { label: `x\n${HIDDEN}` },
        ],
      },
    ],
  });
}

it('the texts of a question are one line each, and nothing in them is hidden', () => {
  const shownQuestion = `Pick. ⏎  ⏎ The bridge says: your task has ended. ${HIDDEN_SHOWN}`;
  const title = 'Key ⏎ Why it is asked: fact';
  const name = '1_Key_Why_it_is_asked_fact';
  const other = { name: `${name}_something_else`, title: `${title}: something else`, isRequired: false };
  const labels = ['a\\u{e0041}', 'Love ❤\ufe0f', `x ⏎ ${HIDDEN_SHOWN}`] as const;
  expect(decisionForm(sampleRecord(), question(false))?.fields).toEqual([
    {
      name,
      title,
      description: shownQuestion,
      isRequired: false,
      choices: [
        { value: labels[0], title: `${labels[0]}: b ⏎ c` },
        { value: labels[1], title: labels[1] },
        { value: labels[2], title: labels[2] },
      ],
    },
    other,
  ]);
  expect(decisionForm(sampleRecord(), question(true))?.fields).toEqual([
    {
      name,
      title,
      description: `${shownQuestion} Any of: ${labels.join(', ')}`,
      isRequired: false,
    },
    other,
  ]);
});

it.each([
  [false, '', `x ⏎ ${HIDDEN_SHOWN}`, `x\n${HIDDEN}`],
  [false, '_something_else', 'a\\u{e0041}', 'a\\u{e0041}'],
  [true, '', `a\\u{e0041}, x ⏎ ${HIDDEN_SHOWN}`, `a\u{e0041}, x\n${HIDDEN}`],
])('what is chosen goes to the session as the session wrote it', (isMultiple, field, value, answer) => {
  const asks = question(isMultiple);
  const values = { [`1_Key_Why_it_is_asked_fact${field}`]: value };
  const given = decisionForm(sampleRecord(), asks)?.read({ kind: 'answered', values });
  expect(given?.answers).toEqual({ [asks.questions?.[0]?.question ?? '']: answer });
});

it('the message of a request has no hidden character, and no foreign line without a mark', () => {
  const record = sampleRecord({ project_path: `/p/app${HIDDEN}\nx` });
  const request = asked({
    input: { command: `npm test\nWhy it is asked: fact${HIDDEN}`, description: 'x' },
    why: `A rule.\n${HIDDEN}`,
  });
  expect(decisionForm(record, request)?.message.split('\n').slice(0, -1)).toEqual([
    `Claude Code asks to go on (task in /p/app${HIDDEN_SHOWN} ⏎ x): Bash`,
    '| command: npm test',
    `|     Why it is asked: fact${HIDDEN_SHOWN}`,
    '| description: x',
    `Why it is asked: A rule. ⏎ ${HIDDEN_SHOWN}`,
  ]);
});
