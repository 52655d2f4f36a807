import { expect, test } from 'vitest';
import { instructionsFor } from '../../src/tools/instructions.js';
import { offeredGuidance } from '../../src/tools/offered-guidance.js';
import { enabledTools } from '../../src/tools/registry.js';

const guidance = (...toolsets: string[]) => offeredGuidance(enabledTools(toolsets));

test('guidance leaves out the sentences that name a tool which is not offered, and no others', () => {
  const text = 'NOT_FOUND: There is no x. Call list_tasks to see all. Use `read_file` for v1.2 of it.';
  expect(guidance('tasks', 'files')(text)).toBe(text);
  expect(guidance('files')(text)).toBe('NOT_FOUND: There is no x. Use `read_file` for v1.2 of it.');
  expect(guidance('process')(text)).toBe('NOT_FOUND: There is no x.');
});

test('guidance keeps what is so, whatever names of tools are in paths and quotes', () => {
  for (const text of [
    "PATH_NOT_FOUND: Path 'src/start_task.py' does not exist. Correct the path; list_files shows what is there.",
    'PATH_NOT_FOUND: start_task is not there.',
    'It works in /p/start_task on the branch claude/start_task. Look at "start_task" there.',
  ]) {
    expect(guidance('files')(text)).toBe(text);
  }
});

test('guidance takes ordinary words for no tool', () => {
  expect(guidance('files')('You may ask. A kill ends it.')).toBe('You may ask. A kill ends it.');
});

test.each(['conversation', 'delegate'])(
  'the toolset %s alone can answer what Claude Code asks',
  (toolset) => {
    expect(enabledTools([toolset]).map(({ name }) => name)).toContain('respond_to_task');
  },
);

test('the instructions name no tool that is not offered', () => {
  for (const toolset of ['conversation', 'delegate', 'files', 'git', 'process', 'project']) {
    const text = instructionsFor([toolset]);
    expect(text).not.toBe('');
    expect(guidance(toolset)(text)).toBe(text);
  }
});

test.each([
  ['conversation', 'ask_status'],
  ['delegate', 'TaskStatus'],
])('the instructions of %s alone say how a question is answered', (toolset, status) => {
  expect(instructionsFor([toolset])).toContain(
    `${status} shows the open decisions. Answer each with respond_to_task`,
  );
});

test('with the toolset native the instructions name the sessions of the user, and no others do', () => {
  expect(instructionsFor(['tasks', 'native'])).toMatch(
    /^Delegates work.*what is not answered is left to the user\.$/s,
  );
  expect(instructionsFor(['tasks'])).not.toContain('Sessions that the user started');
});
