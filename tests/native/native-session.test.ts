import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { silentLogger } from '../../src/base/logger.js';
import type { KnownHookEvent } from '../../src/claude/hooks/hook-event.js';
import { KeeperClient } from '../../src/keeper/host/keeper-client.js';
import { openNativeSession, type NativeSessionParts } from '../../src/native/native-session.js';
import { RuntimeDir } from '../../src/store/runtime-dir.js';
import { StateDir } from '../../src/store/state-dir.js';
import { readJournal } from '../../src/store/journal-reader.js';
import { openDecisions, taskRecordSchema, type TaskRecord } from '../../src/tasks/task.js';
import { until } from '../harness/until.js';

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
  messages,
}: {
  readonly waitSeconds?: number;
  readonly messages?: NativeSessionParts['messages'];
} = {}) {
  let isOn = true;
  const folder = await mkdtemp(join(tmpdir(), 'native-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const stateDir = new StateDir(join(folder, 'state'));
  const runtimeDir = new RuntimeDir(folder);
  await mkdir(stateDir.tasksDir, { recursive: true });
  const session = await openNativeSession({
    sessionId,
    project: '/roots/app',
    prompt: 'Do it.',
    claudeFolder: join(folder, 'claude'),
    stateDir,
    runtimeDir,
    logger: silentLogger,
    homeDir: folder,
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

test('leaves a request to the person when no answer comes, and denies nothing', async () => {
  const { session, record } = await listenedTo({ waitSeconds: 1 });
  const startedMs = systemClock.monotonicMs();
  expect(await session.hook(request, never)).toEqual({});
  expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(900);
  await until('it was withdrawn', async () =>
    expect((await record()).decisions).toMatchObject([
      {
        verdict: 'withdrawn',
        answered_by: 'deadline',
        reason: 'No answer came within 1 seconds, so it is left to the person at the terminal.',
      },
    ]),
  );
  await until('the record says so', async () =>
    expect((await record()).reason).toContain('It is answered in the terminal'),
  );
  await session.end('It is over.');
});

test('that is over withdraws what it asked', async () => {
  const { session, record, decision } = await listenedTo();
  const answer = session.hook(request, never);
  await decision();
  await session.end('It is over.');
  expect(await answer).toEqual({});
  expect((await record()).decisions).toMatchObject([{ verdict: 'withdrawn', reason: 'the task ended' }]);
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

const begins: KnownHookEvent = {
  session_id: sessionId,
  hook_event_name: 'UserPromptSubmit',
  prompt: 'Do it.',
};
const ends: KnownHookEvent = {
  session_id: sessionId,
  hook_event_name: 'Stop',
  last_assistant_message: 'Done.',
  background_tasks: [],
  stop_hook_active: false,
};

test('with messages on, one that comes in a turn is the answer of its last hook, and is in the journal', async () => {
  const { session, link, record, stateDir } = await listenedTo({ messages: { inbox: undefined } });
  await session.hook(begins, never);
  expect(await link.message({ text: 'Then that.' })).toMatchObject({ status: 'running' });
  const answer = await session.hook(ends, never);
  expect(answer['decision']).toBe('block');
  expect(answer['reason']).toMatch(/\n\nThen that\.$/);
  expect(await session.hook({ ...ends, stop_hook_active: true }, never)).toEqual({});
  await until('it waits', async () => expect((await record()).status).toBe('waiting'));
  const idle = link.message({ text: 'Now this.' });
  await expect(idle).rejects.toMatchObject({ code: 'NATIVE_SESSION' });
  const { entries } = await readJournal(stateDir.journalFile(session.taskId), {
    afterSeq: 0,
    maxBytes: 100_000,
  });
  expect(entries.filter(({ type }) => type === 'message')).toMatchObject([{ text: 'Then that.' }]);
  await session.end('It is over.');
});

test('a message that a turn cannot take any more waits for the end of the next one', async () => {
  const { session, link } = await listenedTo({ messages: { inbox: undefined } });
  await session.hook(begins, never);
  await link.message({ text: 'One.' });
  await link.message({ text: 'Two.' });
  expect((await session.hook(ends, never))['reason']).toMatch(/One\.$/);
  expect(await session.hook({ ...ends, stop_hook_active: true }, never)).toEqual({});
  await session.hook(begins, never);
  expect((await session.hook(ends, never))['reason']).toMatch(/Two\.$/);
  await session.end('It is over.');
});
