import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { openWire, type Wire, type WireOptions } from '../../../src/machines/wire.js';
import { markedProcesses } from '../../harness/marked-processes.js';
import { refusal } from '../../harness/refusal.js';
import { until } from '../../harness/until.js';

const PATH = process.env['PATH'] ?? '';
const MARK = `wire-test-${process.pid}`;
const wires: Wire[] = [];
afterEach(async () => {
  for (const wire of wires.splice(0)) wire.dispose();
  await until('no process of a wire is left', async () => (await markedProcesses(MARK)).length === 0);
});

/** A wire of `command`, at whose end `start` runs. */
async function open(command: readonly string[], more: Partial<WireOptions> = {}): Promise<Wire> {
  const env = { PATH, CLAUDE_CODE_BRIDGE_TEST: MARK };
  const { signal } = new AbortController();
  const start = 'exec cat';
  const wire = await openWire({
    machine: 'gpu',
    command,
    cwd: '/',
    env,
    prepare: '',
    start,
    signal,
    ...more,
  });
  wires.push(wire);
  return wire;
}

/** All that the far program prints after it has got `input`. */
async function echoed(wire: Wire, input: string): Promise<string> {
  wire.input.end(input);
  return text(wire.output);
}

/** A shell that does `first` before it becomes the shell of the wire. */
function after(first: string): string[] {
  return ['sh', '-c', `${first}; exec "$@"`, 'sh'];
}

test.each([
  ['nothing', after(':')],
  ['a line', after('echo welcome')],
  ['a word without its newline', after('printf welcome')],
  ['a colour code and JSON', after(String.raw`printf '\033[31m{"jsonrpc":"2.0"}'`)],
  ['200 kB', after('head -c 200000 /dev/zero')],
  ['an exec of another shell', ['sh', '-c', 'exec dash']],
])('a wire carries bytes unchanged after a profile that prints %s', async (_what, command) => {
  const sent = 'first\n\u0000\r\nlast\n';
  expect(await echoed(await open(command), sent)).toBe(sent);
});

test('a profile that reads a line gets one, and the wire opens by the next', async () => {
  expect(await echoed(await open(after('read taken')), 'hello')).toBe('hello');
});

test('what the far program prints at once is not lost', async () => {
  const wire = await open(after(':'), { start: 'seq 100000' });
  expect((await text(wire.output)).split('\n')).toHaveLength(100_001);
});

test('variables reach the far program whole, and no argument of a process', async () => {
  const variables = { CANARY: `it's "a"\n$HOME \\ canary`, EMPTY: '' };
  const start = `printf '%s|%s|' "$CANARY" "\${EMPTY-unset}"; tr '\\0' '\\n' </proc/$PPID/cmdline; exec cat /proc/$$/cmdline`;
  const printed = await text((await open(after(':'), { variables, start })).output);
  expect(printed.startsWith(`${variables.CANARY}||`)).toBe(true);
  expect(printed.slice(variables.CANARY.length)).not.toContain('canary');
});

test.each([
  ['prints without end', after('yes'), 'it printed too much before the mark'],
  ['prints without an end of a line', after('cat /dev/zero'), 'it printed too much before the mark'],
  ['ends', after('echo "ssh: No route to host" >&2; exit 255'), 'ssh: No route to host'],
  ['ends without a word', after('exit 3'), 'sh ended with exit code 3'],
  ['is not there', ['/no/such/program'], 'the program /no/such/program was not found'],
  [
    'gives a terminal',
    ['sh', '-c', 'script -qc sh /dev/null'],
    'the command gives a terminal, which changes what goes through it: leave out its option -t',
  ],
])('a command that %s is refused in its last words, and nothing was sent', async (_what, command, why) => {
  expect(await refusal(open(command))).toBe(
    `MACHINE_UNREACHABLE: The line to gpu cannot be opened: ${why}. Nothing was sent (not_sent). \`claude-code-bridge machines doctor gpu\` shows what is wrong.`,
  );
});

test('a command that the system does not start is refused, too', async () => {
  const env = { PATH, CLAUDE_CODE_BRIDGE_TEST: 'x'.repeat(200_000) };
  expect(await refusal(open(after(':'), { env }))).toContain(
    'The line to gpu cannot be opened: the system does not start sh (E2BIG). Nothing was sent (not_sent).',
  );
});

test('a command that says nothing is left after its time', async () => {
  const waits = open(after('echo Trying >&2; sleep 600'), { limitMs: 300 });
  expect(await refusal(waits)).toContain('cannot be opened: no shell answered in 0.3 s: Trying.');
});

test('a far program that is not there says so when the wire ends', async () => {
  expect(await (await open(after(':'), { start: 'exec no-such-program' })).ended).toMatch(/no-such-program/);
});

test('disposing ends the command and what it has started, also what ignores SIGTERM', async () => {
  const wire = await open(after(`trap '' TERM; sh -c 'while :; do sleep 1; done' & true`));
  wire.dispose();
  expect(await wire.ended).toBeTypeOf('string');
});

test('a call that is cancelled while the wire opens leaves nothing', async () => {
  const call = new AbortController();
  const opening = open(after('sleep 600'), { signal: call.signal });
  call.abort(new Error('not any more'));
  await expect(opening).rejects.toThrow('not any more');
});
