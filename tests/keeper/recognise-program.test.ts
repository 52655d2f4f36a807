import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { recogniseProgram } from '../../src/keeper/recognise-program.js';
import type { PermissionMode } from '../../src/tasks/task.js';
import { asksAboutPrompts } from '../harness/scripted-agent.js';
import { sampleSpec } from '../tasks/sample-task.js';

const CLAUDE = "echo '2.1.330 (Claude Code)'";
const OTHER = "echo 'codex 1.2.3'";

async function recognise(name: string, script: string, mode: PermissionMode, rules: boolean) {
  const folder = await mkdtemp(join(tmpdir(), 'bridge-program-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = join(folder, name);
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  const settings = { claude_command: [program], ...(rules && { rules: [...asksAboutPrompts] }) };
  return recogniseProgram({
    spec: sampleSpec({ permission_mode: mode, settings }),
    installation: { command: [program], isClaude: name === 'claude' },
    env: { PATH: '/usr/bin:/bin' },
    cacheFile: join(folder, 'versions.json'),
  });
}

it.each(['agent', 'claude'])(
  'cautious is refused for a program called %s that does not print the version of Claude Code',
  async (name) => {
    await expect(recognise(name, OTHER, 'cautious', false)).rejects.toMatchObject({
      code: 'TASK_START_FAILED',
    });
  },
);

it.each([
  { name: 'wrapper', script: CLAUDE, mode: 'cautious', rules: false, isClaude: true },
  { name: 'claude', script: CLAUDE, mode: 'cautious', rules: false, isClaude: true },
  { name: 'wrapper', script: CLAUDE, mode: 'sandboxed', rules: false, isClaude: true },
  { name: 'agent', script: OTHER, mode: 'sandboxed', rules: false, isClaude: false },
  { name: 'wrapper', script: CLAUDE, mode: 'auto', rules: true, isClaude: true },
  { name: 'agent', script: OTHER, mode: 'auto', rules: true, isClaude: false },
  { name: 'wrapper', script: CLAUDE, mode: 'auto', rules: false, isClaude: true },
  { name: 'agent', script: OTHER, mode: 'auto', rules: false, isClaude: false },
  // Nothing rests on it: a program of that name is not run for its version before.
  { name: 'claude', script: OTHER, mode: 'auto', rules: false, isClaude: true },
] as const)(
  'in mode $mode, with rules: $rules, the program $name with $script is Claude Code: $isClaude',
  async ({ name, script, mode, rules, isClaude }) => {
    expect((await recognise(name, script, mode, rules)).isClaude).toBe(isClaude);
  },
);
