import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import type { KnownHookEvent } from '../../src/claude/hooks/hook-event.js';
import { KeeperClient } from '../../src/keeper/host/keeper-client.js';
import {
  openNativeSession,
  type NativeSession,
  type NativeSessionParts,
} from '../../src/native/native-session.js';
import type { InboxMessage } from '../../src/native/session-inbox.js';
import { RuntimeDir } from '../../src/store/runtime-dir.js';
import { StateDir } from '../../src/store/state-dir.js';
import { openDecisions, taskRecordSchema, type TaskRecord } from '../../src/tasks/task.js';
import { until } from '../harness/until.js';
import { tempFolder } from '../harness/temp-folder.js';

const sessionId = '11111111-1111-4111-8111-111111111111';
const never = new AbortController().signal;
const request: KnownHookEvent = {
  session_id: sessionId,
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: { command: 'touch a' },
};

/** A session with a client that listens. */
async function listenedTo({
  waitSeconds = 590,
  prompt = 'Do it.',
  messages,
}: {
  readonly waitSeconds?: number;
  readonly prompt?: string;
  readonly messages?: NativeSessionParts['messages'];
} = {}) {
  let isOn = true;
  const folder = await tempFolder();
  const stateDir = new StateDir(join(folder, 'state'));
  const runtimeDir = new RuntimeDir(folder);
  await mkdir(stateDir.tasksDir, { recursive: true });
  const session = await openNativeSession({
    sessionId,
    project: '/roots/app',
    prompt,
    claudeFolder: join(folder, 'claude'),
    stateDir,
    runtimeDir,
    logger: silentLogger,
    waitSeconds,
    maxLogBytes: 100_000,
    isOn: () => isOn,
    messages,
  });
  const socketPath = runtimeDir.socketPath(session.taskId);
  const link = await KeeperClient.connect(session.taskId, socketPath);
  if (link === undefined) throw new Error('nothing listens');
  onTestFinished(() => link.dispose());
  const record = async (): Promise<TaskRecord> => {
    const text = await readFile(stateDir.recordFile(session.taskId), 'utf8');
    return taskRecordSchema.parse(JSON.parse(text));
  };
  const decision = async (): Promise<string> => {
    await until('one decision is open', async () => expect(openDecisions(await record()).length).toBe(1));
    return openDecisions(await record())[0]?.decision_id ?? '';
  };
  return { session, link, record, decision, folder, stateDir, endView: () => void (isOn = false) };
}

test('is a task that others answer through its socket, and that ends as completed', async () => {
  const { session, link, record, decision, folder } = await listenedTo();
  const begun = { driver: 'native', prompt_summary: 'Do it.', session_id: sessionId };
  await until('its record is there', async () => expect(await record()).toMatchObject(begun));
  const answer = session.hook(request, never);
  await link.respond({ decision_id: await decision(), verdict: 'deny', message: 'No.', by: 'caller' });
  expect(await answer).toMatchObject({
    hookSpecificOutput: { decision: { behavior: 'deny', message: 'No.' } },
  });
  await session.end('It is over.');
  expect(await record()).toMatchObject({ status: 'completed', reason: 'It is over.', signal: null });
  expect((await readdir(folder)).filter((name) => name.endsWith('.sock'))).toEqual([]);
});

test('refuses what is its person’s', async () => {
  const { session, link } = await listenedTo();
  const refused = { code: 'NATIVE_SESSION' };
  await expect(link.kill('Enough.')).rejects.toMatchObject(refused);
  await expect(link.message({ text: 'Go on.' })).rejects.toMatchObject(refused);
  await expect(link.screen()).rejects.toMatchObject(refused);
  await session.end('It is over.');
});

test('is let go when its person has ended the view', async () => {
  const { session, link, record, decision, endView } = await listenedTo();
  const answer = session.hook(request, never);
  const asked = await decision();
  endView();
  const late = link.respond({ decision_id: asked, verdict: 'allow', by: 'caller' });
  await expect(late).rejects.toMatchObject({ code: 'NATIVE_SESSION' });
  await link.kill('Off.');
  expect(await answer).toEqual({});
  expect(await record()).toMatchObject({
    status: 'completed',
    reason: 'Its person ran claude-code-bridge native off; the session goes on.',
  });
  await session.end('Not said.');
});

const begins = {
  session_id: sessionId,
  hook_event_name: 'UserPromptSubmit',
  prompt: 'Do it.',
} as const satisfies KnownHookEvent;
const ends = {
  session_id: sessionId,
  hook_event_name: 'Stop',
  last_assistant_message: 'Done.',
  background_tasks: [],
  stop_hook_active: false,
} satisfies KnownHookEvent;

test.each([
  ['is idle without a socket', { inbox: undefined }, { text: 'Go on.' }, 'is idle'],
  ['would be interrupted', { inbox: undefined }, { interrupt: true }, 'cannot be interrupted'],
])('no message is taken where the session %s', async (_where, messages, message, why) => {
  const { session, link } = await listenedTo({ messages });
  await session.hook(ends, never);
  const refused = link.message(message);
  await expect(refused).rejects.toMatchObject({ code: 'NATIVE_SESSION' });
  await expect(refused).rejects.toThrow(why);
  await session.end('It is over.');
});

test('an idle session gets a message through its socket, and what that does not take at the end of a turn', async () => {
  const written: InboxMessage[] = [];
  let takes = true;
  const send = (message: InboxMessage): Promise<void> =>
    takes ? Promise.resolve(void written.push(message)) : Promise.reject(new Error('it is gone'));
  const { session, link } = await listenedTo({ messages: { inbox: { send } } });
  await session.hook(ends, never);
  expect(await link.message({ text: 'Go on.' })).toMatchObject({ status: 'running' });
  expect(written).toMatchObject([{ sessionId }]);
  expect(written[0]?.text).toMatch(/no person typed it at this terminal:\n\nGo on\.$/);
  await session.hook({ ...begins, prompt: written[0]?.text ?? '' }, never);
  await session.hook(ends, never);
  takes = false;
  expect((await link.message({ text: 'Later.' })).messages?.at(-1)).toMatchObject({ state: 'waiting' });
  await session.hook(begins, never);
  expect((await session.hook(ends, never))['reason']).toMatch(/Later\.$/);
  await session.end('It is over.');
});

/** One turn of the person. */
async function turn(session: NativeSession, prompt: string, answer: string): Promise<void> {
  await session.hook({ ...begins, prompt }, never);
  await session.hook({ ...ends, last_assistant_message: answer }, never);
}

test('the log has each prompt of the person and what the session answered, the first prompt once', async () => {
  const { session, stateDir, record } = await listenedTo({ prompt: '' });
  await turn(session, 'Say one.', 'One.');
  await turn(session, 'Say one.', 'One again.');
  await turn(session, 'Say two.\nAnd three.', 'Two.\nThree.');
  await session.end('It is over.');
  expect(await record()).toMatchObject({ prompt_summary: 'Say one.', turns: 3 });
  const log = await readFile(stateDir.logFile(session.taskId), 'utf8');
  const lines = log.split('\n').map((line) => line.replace(/^\[[^\]]*\] /, ''));
  expect(lines.slice(2, 13)).toEqual([
    'Prompt: Say one.',
    'Claude: One.',
    'The turn is over',
    'Prompt: Say one.',
    'Claude: One again.',
    'The turn is over',
    'Prompt: Say two.',
    '    And three.',
    'Claude: Two.',
    '    Three.',
    'The turn is over',
  ]);
});
