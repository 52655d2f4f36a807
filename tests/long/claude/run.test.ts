import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { attach, type AttachedTerminal } from '../../harness/attached-terminal.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { asksEnv, quickAgent, scriptedAgent } from '../../harness/scripted-agent.js';
import { runs } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

const CTRL_C = '\x03';
const TASK_ID = /task_[0-9a-f]{20}/;

/** `run` in a terminal, in the project. */
async function inTerminal(bridge: TestBridge, ...args: string[]): Promise<AttachedTerminal> {
  return attach(bridge, { command: 'run', args, cwd: bridge.project });
}

function taskIdIn(shown: string): string {
  return TASK_ID.exec(shown)?.[0] ?? '';
}

it('takes no empty prompt', async () => {
  const bridge = await startBridge({ claude: quickAgent });
  expect(await bridge.command(['run', '-'])).toMatchObject({ code: 64 });
});

it('--path names the folder of the task, from the current one or from the home folder', async () => {
  const bridge = await startBridge({ claude: quickAgent });
  const { root } = bridge.workplace;
  for (const path of [bridge.project, relative(root, bridge.project)]) {
    const run = await bridge.command(['run', 'AGENT: exit 0', '--path', path], { cwd: root });
    expect(run).toMatchObject({ code: 0 });
    expect(run.err).toMatch(/^task_\w+ started in .*\/app\.$/m);
  }
  const missing = await bridge.command(['run', 'AGENT: exit 0', '--path', `${bridge.project}/none`]);
  expect(missing).toMatchObject({ code: 66, out: '' });
  expect(missing.err).toContain('PATH_NOT_FOUND');
  expect(await bridge.command(['run', 'AGENT: exit 0', '--path', ''])).toMatchObject({ code: 64 });
});

it('asks in the terminal, with a bell where the person wants one; a line that was typed before is no answer', async () => {
  const env = { ...asksEnv, MCP_NOTIFY: JSON.stringify({ bell: true }) };
  const bridge = await startBridge({ claude: scriptedAgent, env });
  const person = await inTerminal(bridge, 'AGENT: split-prompt');
  person.type('allow\r');
  const shown = await person.sees('Type y (allow once), s (for this session), n (deny)');
  expect(shown).toContain('Do you want to proceed? [y/N]');
  expect(person.raw()).toContain('\x07');
  person.type('perhaps\r');
  await person.sees("'perhaps' was not understood. Type y (allow once)");
  person.type('deny not today\r');
  await person.sees(/^status +completed/m);
  expect((await person.exited).code).toBe(0);
  const taskId = taskIdIn(person.raw());
  expect(await bridge.events(taskId, 'decision-closed')).toMatchObject([
    { answered_by: 'terminal', verdict: 'deny', reason: 'not today' },
  ]);
  expect(person.raw()).toContain('GOT:n');
});

it('goes on when somebody else answers', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, env: asksEnv });
  const person = await inTerminal(bridge, 'AGENT: split-prompt');
  const taskId = taskIdIn(await person.sees('Type y'));
  await bridge.respond(taskId, await bridge.decision(taskId), { verdict: 'allow' });
  await person.sees('It is no longer open');
  await person.sees(/^status +completed/m);
  expect((await person.exited).code).toBe(0);
});

it('Ctrl-C while the task is being started leaves it running too, with its id', async () => {
  const workplace = await createWorkplace();
  const program = join(workplace.root, 'slow-program');
  // Started with --version first, which waits for a line in `gate`.
  await writeFile(
    program,
    '#!/bin/sh\ncd "$(dirname "$0")"\n[ "$1" = --version ] && { echo >reached; read line <gate; exit 0; }\nsleep 600\n',
    { mode: 0o755 },
  );
  execFileSync('mkfifo', [join(workplace.root, 'reached'), join(workplace.root, 'gate')]);
  const bridge = await startBridge({ claude: program, workplace });
  const person = await inTerminal(bridge, 'Wait.');
  await readFile(join(workplace.root, 'reached'));
  person.type(CTRL_C);
  await person.sees('Ctrl-C again within 2 s ends it');
  await writeFile(join(workplace.root, 'gate'), '\n');
  const taskId = taskIdIn(await person.sees('End it: node '));
  expect((await person.exited).code).toBe(0);
  expect(await bridge.status(taskId)).toMatchObject({ status: 'running' });
  await bridge.call('kill_task', { task_id: taskId });
});

describeNewestClaude('with Claude Code', ({ binary }) => {
  it('Ctrl-C twice shows the rest of the log before the receipt', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [runs('echo so-far; touch printed; tail -f /dev/null')],
    });
    const person = await inTerminal(bridge, 'Work.');
    await person.sees('▶ Bash(echo so-far');
    await bridge.untilHas('printed');
    person.type(CTRL_C);
    await person.sees('Ctrl-C again within 2 s ends it');
    person.type(CTRL_C);
    const shown = await person.sees(/^status +killed: Ended with Ctrl-C\./m);
    // Whether Claude Code writes down what its command had printed depends on which of both ends first.
    expect(shown).toMatch(/Ending the task\.[^]*Ended with Ctrl-C\.[^]*Task killed [^]*status +killed/);
    // The exit code 130, as a terminal reports it.
    expect(await person.exited).toMatchObject({ signal: 'SIGINT' });
  });
});
