import { describe, expect, it } from 'vitest';
import { filesWritten, parseQuestions, toolSummary } from '../../src/claude/tool-calls.js';

const PROJECT = '/home/anybody/proj';

describe('the summary of a tool call', () => {
  it.each([
    ['Bash', { command: 'npm test', description: 'Test' }, 'Bash(npm test)'],
    ['Write', { file_path: `${PROJECT}/hello.txt`, content: 'x' }, 'Write(hello.txt)'],
    ['Edit', { file_path: `${PROJECT}/src/a.ts` }, 'Edit(src/a.ts)'],
    ['NotebookEdit', { notebook_path: `${PROJECT}/n.ipynb` }, 'NotebookEdit(n.ipynb)'],
    ['Read', { file_path: '/etc/passwd' }, 'Read(/etc/passwd)'],
    ['Read', { file_path: `${PROJECT}-other/a` }, `Read(${PROJECT}-other/a)`],
    ['Read', { file_path: `${PROJECT}/../a` }, `Read(${PROJECT}/../a)`],
    ['Read', { file_path: PROJECT }, `Read(${PROJECT})`],
    ['Read', { file_path: `${PROJECT}/..a` }, 'Read(..a)'],
    ['Write', { file_path: 'a.txt' }, 'Write(a.txt)'],
    ['Bash', { command: `cat ${PROJECT}/a` }, `Bash(cat ${PROJECT}/a)`],
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

  it('without a project keeps paths as they are', () => {
    expect(toolSummary('Read', { file_path: `${PROJECT}/a` })).toBe(`Read(${PROJECT}/a)`);
  });

  it('of a question is its text', () => {
    const questions = [{ question: 'Which?' }, { question: 'How many?' }];
    expect(toolSummary('AskUserQuestion', { questions })).toBe('Which? / How many?');
    expect(toolSummary('AskUserQuestion', { questions: [] })).toBe('AskUserQuestion({"questions":[]})');
  });
});

describe('the files that a tool call writes', () => {
  it.each([
    ['Write', { file_path: '/a/b' }, ['/a/b']],
    ['Edit', { file_path: 'b/c' }, [`${PROJECT}/b/c`]],
    ['NotebookEdit', { notebook_path: '/n' }, ['/n']],
    ['Read', { file_path: '/a/b' }, []],
    ['Bash', { command: 'touch a' }, []],
    ['Write', { file_path: '' }, []],
    ['Write', {}, []],
  ])('%s %j', (tool, input, files) => {
    expect(filesWritten(tool, input, PROJECT)).toEqual(files);
  });
});

describe('the questions of an input', () => {
  it('are parsed, and missing fields are filled in', () => {
    expect(parseQuestions({ questions: [{ question: 'Which?', options: [{ label: 'A' }] }] })).toEqual([
      {
        question: 'Which?',
        header: '',
        multiSelect: false,
        options: [{ label: 'A', description: '' }],
      },
    ]);
  });

  it.each([[{}], [{ questions: 'x' }], [{ questions: [] }], [{ questions: [{}] }]])(
    '%j holds none',
    (input) => {
      expect(parseQuestions(input)).toBeUndefined();
    },
  );
});
