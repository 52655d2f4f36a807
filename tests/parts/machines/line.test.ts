import { afterEach, expect, test } from 'vitest';
import { nextEvent } from '../../../src/base/lifecycle.js';
import type { LinkRequest, Machine, Machines, MachineState } from '../../../src/machines/machine.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { markedProcesses } from '../../harness/marked-processes.js';
import { refusal } from '../../harness/refusal.js';
import { until } from '../../harness/until.js';
import { taskRecord, TASK_ID } from '../../tools/fake-task-service.js';
import { scriptedFar } from './scripted-far.js';

const MARK = { CLAUDE_CODE_BRIDGE_TEST: `line-test-${process.pid}` };
let machines: Machines | undefined;
afterEach(async () => {
  machines?.dispose();
  await until('no process of a line is left', async () => {
    return (await markedProcesses(MARK.CLAUDE_CODE_BRIDGE_TEST)).length === 0;
  });
});

function far(script: string, clock?: ManualClock): Machine {
  machines = scriptedFar(script, clock, MARK);
  return machines.get('gpu');
}

const once = { repeats: false };
const again = { repeats: true };
const ping = (machine: Machine) => machine.call('ping', {}, again);
const get = (machine: Machine, request: LinkRequest = once) =>
  machine.call('task.get', { task_id: TASK_ID }, request);

/** Becomes the next state of this kind; begins to wait at once. */
function state(machine: Machine, how: MachineState['how']): Promise<MachineState> {
  return nextEvent(machine.onState, (now) => now.how === how);
}

test('a line opens with its first request, and says who is there in words that a terminal can show', async () => {
  const machine = far(String.raw`identity.hostname = 'gpu\u001b[2J'; usual(message)`);
  expect(machine.state).toEqual({ how: 'closed' });
  await ping(machine);
  expect(machine.state).toMatchObject({
    how: 'live',
    far: { hostname: String.raw`gpu\u001b[2J`, home: '/home/ann', protocol: 1 },
  });
});

test.each([
  ['identity.protocol = 2', 'the bridge there is newer (protocol 2, here 1): update this one'],
  [
    'identity.protocol = 0',
    'the bridge there is older (protocol 0, here 1): `claude-code-bridge machines add` updates it',
  ],
  [
    'identity.state_id = "x".repeat(101)',
    'what answers there is no bridge, or a broken one: `claude-code-bridge machines add` installs one',
  ],
])('another far side is refused with what to do: %s', async (script, why) => {
  expect(await refusal(ping(far(`${script}; usual(message)`)))).toContain(
    `MACHINE_UNREACHABLE: The line to gpu cannot be opened: ${why}. Nothing was sent (not_sent).`,
  );
});

test.each([
  ['a line without end', `process.stdout.write('x'.repeat(12_000_000))`, 'sent a line without end'],
  ['nesting', `process.stdout.write('['.repeat(300) + ']'.repeat(300) + '\\n')`, 'nests too deeply'],
  ['endless short lines', `process.stdout.write('{}\\n'.repeat(1000))`, 'messages that answer nothing'],
  ['answers to nothing', `for (let id = 9000; id < 9300; id++) say({ id, result: {} })`, 'answer nothing'],
  [
    'bytes of no channel',
    `for (let n = 0; n < 300; n++) say({ method: 'link/data', params: { channel: 7, text: 'x' } })`,
    'answer nothing',
  ],
])('a far side that sends %s is cut off, and the answer is not known', async (_what, script, why) => {
  const machine = far(`usual(message); if (message.method === 'link/task.get') { ${script} }`);
  const error = await refusal(get(machine));
  expect(error).toMatch(/^MACHINE_UNREACHABLE: The line to gpu is cut since \d\d:\d\d: the far side /);
  expect(error).toContain(why);
  expect(error).toContain(
    'What runs there runs on. The request was sent, and its answer is not known (unknown)',
  );
});

test.each([
  ['of another task', JSON.stringify({ ...taskRecord(), task_id: TASK_ID.replace(/.$/, '0') })],
  ['with an id that is none', JSON.stringify({ ...taskRecord(), task_id: 'task_x' })],
  ['of another form', '{}'],
])('a record %s is refused, and the line stays', async (_what, record) => {
  const machine = far(
    `usual(message); if (message.method === 'link/task.get') say({ id: message.id, result: ${record} })`,
  );
  expect(await refusal(get(machine))).toContain(
    'MACHINE_UNREACHABLE: gpu has answered link/task.get in a form that is not understood.',
  );
  expect(machine.state.how).toBe('live');
});

test('texts of a record are on one line without control characters, those of several lines without the latter', async () => {
  const record = {
    ...taskRecord(),
    project_path: '/srv\n/app\u001b[2J',
    final_message: 'one\n\u001b[2Jtwo',
    line: 'unverifiable',
  };
  const machine = far(
    `usual(message); if (message.method === 'link/task.get') say({ id: message.id, result: ${JSON.stringify(record)} })`,
  );
  expect(await get(machine)).toEqual({
    ...taskRecord(),
    project_path: String.raw`/srv ⏎ /app\u001b[2J`,
    final_message: 'one\n[2Jtwo',
  });
});

test.each([
  ['task_id', TASK_ID, TASK_ID.replace(/.$/, '0')],
  ['pid', 'proc_0123456789ab', 'proc_ffffffffffff'],
])('an answer of a tool about another %s is refused', async (field, asked, told) => {
  const machine = far(`usual(message); if (message.method === 'tools/call')
    say({ id: message.id, result: { content: [], structuredContent: { ${field}: ${JSON.stringify(told)} } } })`);
  expect(await refusal(machine.callTool('stdout', { [field]: asked }, once))).toContain(
    'MACHINE_UNREACHABLE: gpu has answered tools/call in a form that is not understood.',
  );
});

test('a line that is cut soon after it opens is opened again with growing pauses, and only for who waits', async () => {
  const clock = new ManualClock();
  const machine = far(`usual(message); if (message.method === 'link/task.get') process.exit(1)`, clock);
  let opened = 0;
  const states = machine.onState(({ how }) => (opened += how === 'live' ? 1 : 0));
  const call = new AbortController();
  const waits = get(machine, { ...again, signal: call.signal }).catch(() => undefined);
  const pauses = [300, 600, 1_200, 2_400];
  for (const [index, pause] of pauses.entries()) {
    await until('it is cut', () => opened === index + 1 && machine.state.how === 'unverifiable');
    clock.advance(pause - 1);
    expect(machine.state.how).toBe('unverifiable');
    clock.advance(1);
  }
  await until('it is cut', () => opened === pauses.length + 1 && machine.state.how === 'unverifiable');
  call.abort(new Error('not any more'));
  await waits;
  states.dispose();
  clock.advance(600_000);
  expect([opened, clock.timerCount]).toEqual([pauses.length + 1, 0]);
});

test('a request that may be repeated is answered over the next line, another one is refused as unknown', async () => {
  const dies = `if (message.method === 'link/task.get') process.exit(1); usual(message)`;
  expect(await refusal(get(far(dies)))).toContain(
    'The request was sent, and its answer is not known (unknown)',
  );
  machines?.dispose();
  const lives = `if (message.method === 'link/task.get') {
    const fs = require('node:fs'), file = '/tmp/' + process.env.CLAUDE_CODE_BRIDGE_TEST;
    if (!fs.existsSync(file)) { fs.writeFileSync(file, ''); process.exit(1); }
    fs.unlinkSync(file);
    say({ id: message.id, result: ${JSON.stringify(taskRecord())} });
  } usual(message)`;
  expect((await get(far(lives), again)).task_id).toBe(TASK_ID);
});

test('errors of a far tool keep their code, their words and what belongs to them', async () => {
  const error = { errorCode: 'TASK_ALREADY_RUNNING', taskId: TASK_ID };
  const result = JSON.stringify({
    content: [{ type: 'text', text: 'TASK_ALREADY_RUNNING: It runs. Wait.' }],
    isError: true,
    _meta: { error },
  });
  const machine = far(
    `usual(message); if (message.method === 'tools/call') say({ id: message.id, result: ${result} })`,
  );
  await expect(machine.callTool('start_task', {}, once)).rejects.toMatchObject({
    code: 'TASK_ALREADY_RUNNING',
    message: 'gpu says: It runs. Wait.',
    data: { taskId: TASK_ID },
  });
});

test('foreign words of an error are said to be foreign, on one line, and its unknown code is an internal error', async () => {
  const data = JSON.stringify({
    code: 'NEWER_CODE',
    message: 'It is\n\u001b[2Jso.',
    next: ['Do \u001b]0;x\u0007that.'],
  });
  const machine = far(
    `usual(message); if (message.method === 'link/task.get') say({ id: message.id, error: { code: 1, message: '', data: ${data} } })`,
  );
  expect(await refusal(get(machine))).toBe(
    String.raw`INTERNAL_ERROR: gpu says: It is ⏎ \u001b[2Jso. Do \u001b]0;x\u0007that. `,
  );
});

test('a request has its time, and ends when its caller does; the line stays', async () => {
  const machine = far('usual(message)');
  expect(
    await refusal(machine.call('task.get', { task_id: TASK_ID }, { ...once, timeoutMs: 100 })),
  ).toContain('MACHINE_UNREACHABLE: gpu has not answered link/task.get in time. The request was sent');
  const call = new AbortController();
  const asked = machine.call('task.get', { task_id: TASK_ID }, { ...once, signal: call.signal });
  call.abort(new Error('not any more'));
  await expect(asked).rejects.toThrow('not any more');
  expect(machine.state.how).toBe('live');
});

test('a far side that goes silent is found within fifteen seconds, also while a request waits, and comes back', async () => {
  const clock = new ManualClock();
  const machine = far(
    `if (message.method === 'link/task.get') silent = true;
    if (message.method === 'link/task.list') say({ id: message.id, result: { tasks: [] } });
    usual(message)`,
    clock,
  );
  const asked = refusal(get(machine));
  await machine.call('task.list', {}, once);
  clock.advance(10_000);
  expect(await asked).toContain('cut since 00:00: nothing came for 5 s. What runs there runs on.');
  const live = state(machine, 'live');
  await machine.call('task.list', {}, once);
  await live;
});

test('a line that was never open is tried by calls alone, one that was cut by itself with growing pauses', async () => {
  const clock = new ManualClock();
  far('usual(message)', clock);
  const off = machines?.get('off');
  if (off === undefined) throw new Error('no machine');
  expect(await refusal(ping(off))).toContain(
    'The line to off cannot be opened: No route to host. Nothing was sent (not_sent).',
  );
  expect(off.state).toMatchObject({ how: 'unverifiable', why: 'No route to host' });
  expect(clock.timerCount).toBe(1);
});

test('after ten minutes without use a line is closed, and the next request opens it again', async () => {
  const clock = new ManualClock();
  const machine = far('usual(message)', clock);
  await ping(machine);
  while (clock.now() < 600_000) {
    expect(machine.state.how).toBe('live');
    const offset = machine.clockOffsetMs;
    clock.advance(5_000);
    await until('the heart has beaten', () => machine.clockOffsetMs !== offset);
  }
  expect(machine.state.how).toBe('closed');
  await ping(machine);
  expect(machine.state.how).toBe('live');
});

test('a line that opens after its caller is gone is closed after ten minutes, too', async () => {
  const clock = new ManualClock();
  const machine = far(
    `if (message.method === 'initialize') setTimeout(() => usual(message), 1_500); else usual(message)`,
    clock,
  );
  expect(await refusal(machine.call('ping', {}, { ...again, timeoutMs: 100 }))).toContain('not_sent');
  clock.advance(600_000);
  expect(machine.state.how).toBe('opening');
  await state(machine, 'live');
  const first = machine.clockOffsetMs;
  await until('the heart has beaten', () => machine.clockOffsetMs !== first);
  while (machine.state.how === 'live' && clock.now() < 1_300_000) {
    const offset = machine.clockOffsetMs;
    clock.advance(5_000);
    await until(
      'the heart has beaten',
      () => machine.state.how !== 'live' || machine.clockOffsetMs !== offset,
    );
  }
  expect(machine.state.how).toBe('closed');
});

test('a call whose line is disposed while it opens is refused like any other that has no line', async () => {
  const machine = far(`if (message.method !== 'initialize') usual(message)`);
  const asked = refusal(machine.openChannel({ kind: 'changes' }));
  machines?.dispose();
  expect(await asked).toContain(
    'The line to gpu cannot be opened: it was closed. Nothing was sent (not_sent).',
  );
});

test('a machine that is not in the settings is refused with those that are', () => {
  far('usual(message)');
  expect(() => machines?.get('gpuu')).toThrow('The setting machines has no "gpuu".');
});
