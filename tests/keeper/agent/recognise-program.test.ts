import { chmod, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recogniseProgram } from '../../../src/keeper/agent/recognise-program.js';
import type { PermissionMode, TaskPurpose } from '../../../src/tasks/task.js';
import { asksAboutPrompts } from '../../harness/scripted-agent.js';
import { sampleSpec } from '../../tasks/sample-task.js';
import { tempFolder } from '../../harness/temp-folder.js';

const CLAUDE = "echo '2.1.330 (Claude Code)'";
const OTHER = "echo 'codex 1.2.3'";

async function recognise(
  name: string,
  script: string,
  mode: PermissionMode,
  rules: boolean,
  purpose: TaskPurpose = 'task',
) {
  const folder = await tempFolder();
  const program = join(folder, name);
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  const settings = { claude_command: [program], ...(rules && { rules: [...asksAboutPrompts] }) };
  return recogniseProgram({
    spec: sampleSpec({ permission_mode: mode, purpose, settings }),
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
  'error: cannot find 9.9.9 (Claude Code), see docs',
  '9.9.9 (Claude Code) was not found',
  'not 9.9.9 (Claude Code)',
  '2.1.330/bin (Claude Code)',
  '2.1.330',
])('a program that says "%s" prints no version', async (line) => {
  const refused = recognise('claude', `echo '${line}'`, 'cautious', false);
  await expect(refused).rejects.toMatchObject({ code: 'TASK_START_FAILED' });
});

it('a program is not waited for whose child left its group and holds its output', async () => {
  const folder = await tempFolder();
  onTestFinished(async () => {
    process.kill(Number(await readFile(join(folder, 'pid'), 'utf8')), 'SIGKILL');
  });
  const holds = `setsid sh -c 'echo $$ > ${folder}/pid; exec sleep 60' &`;
  const script = `${holds} until test -s ${folder}/pid; do sleep 0.01; done; ${CLAUDE}`;
  expect(await recognise('claude', script, 'cautious', false)).toMatchObject({ version: '2.1.330' });
});

it('the version is a line of its own among others', async () => {
  const script = `printf 'Loading.\\r\\n2.1.330-beta.1 (Claude Code)\\r\\nDone.\\r\\n'`;
  expect(await recognise('claude', script, 'cautious', false)).toMatchObject({ version: '2.1.330' });
});

it('a program is asked for its version outside of any project, where npx would run what the project has', async () => {
  const script = `[ "$(pwd)" = / ] && ${CLAUDE}`;
  expect(await recognise('claude', script, 'cautious', false)).toMatchObject({ version: '2.1.330' });
});

it('a question is refused for a program that is not Claude Code: it has no conversations', async () => {
  await expect(recognise('agent', OTHER, 'auto', false, 'ask')).rejects.toThrow('is not Claude Code');
  expect(await recognise('wrapper', CLAUDE, 'auto', false, 'ask')).toMatchObject({ isClaude: true });
});

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

describe.each(['script', 'link to env with arguments'])(
  'what runs below an unchanged program (%s)',
  (kind) => {
    async function changing() {
      const folder = await tempFolder();
      const below = join(folder, 'below');
      const program = join(folder, 'claude');
      const becomes = async (script: string) => {
        await writeFile(below, `#!/bin/sh\n${script}\n`);
        await chmod(below, 0o755);
      };
      if (kind === 'script') {
        await writeFile(program, `#!/bin/sh\nexec ${below} "$@"\n`);
        await chmod(program, 0o755);
      } else await symlink('/usr/bin/env', program);
      const command = kind === 'script' ? [program] : [program, below];
      const recogniseIn = (permission_mode: PermissionMode, hasRules = false) =>
        recogniseProgram({
          spec: sampleSpec({
            permission_mode,
            settings: { claude_command: command, ...(hasRules && { rules: [...asksAboutPrompts] }) },
          }),
          installation: { command, isClaude: false },
          env: { PATH: '/usr/bin:/bin' },
          cacheFile: join(folder, 'versions.json'),
        });
      await becomes(CLAUDE);
      // An answer is in the cache.
      expect(await recogniseIn('auto')).toMatchObject({ isClaude: true });
      return { becomes, recogniseIn };
    }

    it('is asked again in the modes that rest on it: an older version', async () => {
      const { becomes, recogniseIn } = await changing();
      await becomes("echo '2.1.100 (Claude Code)'");
      for (const mode of ['cautious', 'sandboxed'] as const)
        expect(await recogniseIn(mode)).toMatchObject({ isClaude: true, version: '2.1.100' });
    });

    it('is asked again in the modes that rest on it: another program', async () => {
      const { becomes, recogniseIn } = await changing();
      await becomes(OTHER);
      await expect(recogniseIn('cautious')).rejects.toMatchObject({ code: 'TASK_START_FAILED' });
      expect(await recogniseIn('sandboxed')).toMatchObject({ isClaude: false });
      expect(await recogniseIn('auto', true)).toMatchObject({ isClaude: false });
    });
  },
);
