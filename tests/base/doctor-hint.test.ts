import { expect, it } from 'vitest';
import { doctorGuidance } from '../../src/base/doctor-hint.js';

const guidance = doctorGuidance('npx claude-code-bridge');

it.each(['CLAUDE_NOT_FOUND', 'NO_ALLOWED_ROOTS', 'CONFIG_ERROR', 'STATE_UNUSABLE'])(
  'ends an error of the machine or the settings with the doctor: %s',
  (code) => {
    expect(guidance(`${code}: What is so. What to do.`)).toBe(
      `${code}: What is so. What to do. \`npx claude-code-bridge doctor\` shows what is wrong.`,
    );
  },
);

it('leaves the error of a call, and other words, as they are', () => {
  for (const text of ['TASK_NOT_FOUND: No task has that id.', 'STATE_UNUSABLE is a code.', 'Task started.'])
    expect(guidance(text)).toBe(text);
});
