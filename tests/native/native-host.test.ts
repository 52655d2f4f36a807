import { expect, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { hookEventOf, NativeHost } from '../../src/native/native-host.js';
import type { NativeSession } from '../../src/native/native-session.js';

const ONE = '11111111-1111-4111-8111-111111111111';
const TWO = '22222222-2222-4222-8222-222222222222';
const signal = new AbortController().signal;
const prompt = (session: string, cwd = '/roots/app') => ({
  event: 'UserPromptSubmit',
  session,
  cwd,
  prompt: 'Do it.',
});

function host({
  fails = false,
  whileOpening = () => undefined,
}: { fails?: boolean; whileOpening?: () => void } = {}) {
  const steps: string[] = [];
  let isOn = true;
  const made = new NativeHost({
    logger: silentLogger,
    isOn: () => Promise.resolve(isOn),
    resolveProject: (folder) =>
      folder.startsWith('/roots/') ? Promise.resolve(folder) : Promise.reject(new Error('outside')),
    open: ({ sessionId, project, prompt: said }) => {
      steps.push(`open ${sessionId[0]} ${project} ${said}`);
      whileOpening();
      if (fails) return Promise.reject(new Error('no room on the disk'));
      const session: NativeSession = {
        sessionId,
        taskId: 'task_0123456789abcdef0123',
        hook: (event) => {
          steps.push(event.hook_event_name);
          return Promise.resolve({ answered: true });
        },
        end: (reason) => {
          steps.push(`end ${sessionId[0]}: ${reason}`);
          return Promise.resolve();
        },
      };
      return Promise.resolve(session);
    },
  });
  return { host: made, steps, switchOff: () => void (isOn = false) };
}

test('the first event opens the session, once for two events at once', async () => {
  const { host: made, steps } = host();
  const answers = await Promise.all([
    made.event(prompt(ONE), signal),
    made.event({ event: 'Stop', session: ONE, cwd: '/roots/app' }, signal),
  ]);
  expect(answers).toEqual([{ answered: true }, { answered: true }]);
  expect(steps).toEqual(['open 1 /roots/app Do it.', 'UserPromptSubmit', 'Stop']);
});

test('another session of the same Claude Code ends the one before', async () => {
  const { host: made, steps } = host();
  await made.event(prompt(ONE), signal);
  await made.event(prompt(TWO), signal);
  await made.dispose();
  expect(steps).toEqual([
    'open 1 /roots/app Do it.',
    'UserPromptSubmit',
    'end 1: The person went on with another session in the same Claude Code.',
    'open 2 /roots/app Do it.',
    'UserPromptSubmit',
    'end 2: Claude Code ended the server of the bridge in this session, as it does when the session ends.',
  ]);
});

test('a session outside of the allowed roots is left alone', async () => {
  const { host: made, steps } = host();
  expect(await made.event(prompt(ONE, '/elsewhere'), signal)).toEqual({});
  expect(await made.event(prompt(ONE), signal)).toEqual({});
  expect(steps).toEqual([]);
});

test('lets its session go when its person ended the view, and sees nothing more', async () => {
  const { host: made, steps, switchOff } = host();
  await made.event(prompt(ONE), signal);
  switchOff();
  expect(await made.event(prompt(ONE), signal)).toEqual({});
  expect(await made.event(prompt(TWO), signal)).toEqual({});
  expect(steps.slice(2)).toEqual([
    'end 1: Its person ran claude-code-bridge native off; the session goes on.',
  ]);
});

test('lets a session go at once that was opened while its person ended the view', async () => {
  const made = host({ whileOpening: () => made.switchOff() });
  expect(await made.host.event(prompt(ONE), signal)).toEqual({});
  expect(made.steps.at(-1)).toContain('end 1: Its person ran claude-code-bridge native off');
});

test.each([
  { event: 'PermissionRequest', session: ONE, tool: 'Bash', tool_input: '"a text"' },
  { event: 'Stop', session: 'no uuid' },
  {},
])('%j is no event', (fields) => {
  const event = hookEventOf(fields);
  expect(event === undefined || event.hook_event_name === 'other').toBe(true);
});
