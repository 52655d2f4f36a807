import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { attach, type AttachedTerminal } from '../../harness/attached-terminal.js';
import { agentNamedClaude, program, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const DETACH = '\x1d';

it('a program reaches the person’s terminal with nothing but its screen, and with nothing that a terminal answers', async () => {
  const attack = String.raw`\033]52;c;cHduZWQ=\007\033[c\033[6n\302\2336n\033]11;?\007\033P$qm\033\\\033_Ga=q;AAAA\033\\\005\033[?1004h\033[?1003h`;
  const script = `read -r begin </dev/tty; printf '${attack}'; echo SHOWN; read -r line </dev/tty; echo "GOT:$line:END"`;
  const bridge = await startBridge({ claude: program('attacker', script) });
  const taskId = await bridge.start();
  const person = await attach(bridge);
  await person.sees('your keys go to the session');
  await expect.poll(() => person.raw()).toContain('\x1b[H\x1b[J');
  person.type('begin\r');
  await person.sees('SHOWN');
  person.type('by a person\r');
  await person.sees('completed');
  expect(person.raw()).not.toMatch(
    /\x1b\]52|\x1b\]11|\x1b\[c|\x1b\[6n|\x9b|\x05|\x1bP|\x1b_|\x1b\[\?100[34]h/,
  );
  const { text } = await bridge.output(taskId, 'log');
  expect(text).toContain('a person:END');
  const bytes = (await bridge.events(taskId, 'typed')).map((event) => Number(event['bytes']));
  expect(bytes.reduce((sum, more) => sum + more, 0)).toBe('begin\rby a person\r'.length);
});

it.each<{
  by: string;
  says: string;
  act: (bridge: TestBridge, id: string, person: AttachedTerminal) => unknown;
}>([
  { by: 'its key', says: 'exit 0', act: (_bridge, _id, person) => person.type(DETACH) },
  { by: 'SIGTERM', says: 'exit 143', act: (bridge) => signal(bridge, 'SIGTERM') },
  { by: 'SIGHUP', says: 'exit 129', act: (bridge) => signal(bridge, 'SIGHUP') },
  { by: 'the death of the keeper', says: 'exit 1', act: (bridge, id) => bridge.killKeeper(id) },
])('an end by $by gives the terminal back as it was', async ({ by, says, act }) => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const id = await bridge.start({ prompt: 'AGENT: never-exits' });
  const shell = `stty -g; sh -c 'echo $$ > pid; exec '"$ATTACH"; echo "exit $?"; stty -g`;
  const person = await attach(bridge, { shell });
  await person.sees('working');
  await act(bridge, id, person);
  await person.sees(says);
  await person.exited;
  const modes = person.raw().match(/^[0-9a-f]+(?::[0-9a-f]+){10,}/gm) ?? [];
  expect(modes).toHaveLength(2);
  expect(modes[1]).toBe(modes[0]);
  if (by === 'the death of the keeper') {
    expect(person.raw()).toContain(`${id} error: `);
    return expect(await bridge.end(id)).toMatchObject({ status: 'error' });
  }
  expect((await bridge.status(id)).status).toBe('running');
  await bridge.call('kill_task', { task_id: id });
});

async function signal({ workplace }: TestBridge, name: NodeJS.Signals): Promise<void> {
  process.kill(Number(await readFile(`${workplace.root}/pid`, 'utf8')), name);
}

it.each(['program', 'claude'])(
  'amid a flood of lines at which nobody has looked the newest are seen at once (of a program named %s)',
  async (name) => {
    const script = 'i=0; while :; do i=$((i+1)); echo "line $i of a flood without an end"; done';
    const bridge = await startBridge({ claude: program(name, script) });
    const taskId = await bridge.start({ prompt: 'Hello.' });
    const newestOf = (text: string): number =>
      Math.max(0, ...[...text.matchAll(/^line (\d+) of a flood/gm)].map(([, number]) => Number(number)));
    const newest = async (): Promise<number> => newestOf((await bridge.output(taskId, 'screen')).text);
    await expect.poll(newest).toBeGreaterThan(20_000);
    const before = await newest();
    const person = await attach(bridge, { columns: 60, rows: 20 });
    expect(newestOf(await person.sees(/^line \d+ of a flood/m))).toBeGreaterThan(before);
    await bridge.call('kill_task', { task_id: taskId });
    await person.sees(`${taskId} killed`);
    await person.exited;
    // The last words are of the end, not of what was drawn last.
    expect(newestOf((await bridge.status(taskId)).last_output)).toBeGreaterThan(before);
  },
);

it('the smallest size of those who may type is the session’s, and its own comes back', async () => {
  const script = "trap 'stty size </dev/tty' WINCH; echo ready; while :; do sleep 0.05; done";
  const bridge = await startBridge({ claude: program('sizes', script) });
  const taskId = await bridge.start({ prompt: 'x' });
  const one = await attach(bridge, { columns: 100, rows: 30 });
  await one.sees('30 100');
  const two = await attach(bridge, { columns: 90, rows: 35 });
  await two.sees('30 90');
  await one.sees('30 90');
  const reader = await attach(bridge, {
    columns: 70,
    rows: 20,
    shell: 'eval "$ATTACH --read-only"; echo "exit $?"',
  });
  await reader.sees('30 90');
  two.resize(110, 25);
  await one.sees('25 100');
  two.type(DETACH);
  await two.exited;
  one.type(DETACH);
  await one.exited;
  await reader.sees('40 120');
  await bridge.call('kill_task', { task_id: taskId });
  await reader.sees(`${taskId} killed`);
  await reader.sees('exit 130');
});

it('a task without a terminal is followed by its log', async () => {
  const bridge = await startBridge({ claude: agentNamedClaude });
  const taskId = await bridge.start({ prompt: 'AGENT: never-exits', driver: 'print' });
  const person = await attach(bridge);
  await person.sees('has no terminal to attach to');
  await person.sees('Task started');
  await bridge.call('kill_task', { task_id: taskId });
  await person.sees(`${taskId} killed`);
});
