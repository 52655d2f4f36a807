import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { openNativeSession, type NativeSession } from '../../src/native/native-session.js';
import { readJournal } from '../../src/store/journal-reader.js';
import { RuntimeDir } from '../../src/store/runtime-dir.js';
import { StateDir } from '../../src/store/state-dir.js';

const session_id = '11111111-1111-4111-8111-111111111111';
const never = new AbortController().signal;

async function opened(prompt: string) {
  const folder = await mkdtemp(join(tmpdir(), 'native-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const stateDir = new StateDir(join(folder, 'state'));
  await mkdir(stateDir.tasksDir, { recursive: true });
  const session = await openNativeSession({
    sessionId: session_id,
    project: '/roots/app',
    prompt,
    claudeFolder: join(folder, 'claude'),
    stateDir,
    runtimeDir: new RuntimeDir(folder),
    logger: silentLogger,
    homeDir: folder,
    waitSeconds: 590,
    maxLogBytes: 100_000,
    isOn: () => true,
  });
  return { session, stateDir };
}

async function turn(session: NativeSession, prompt: string, answer: string): Promise<void> {
  await session.hook({ session_id, hook_event_name: 'UserPromptSubmit', prompt }, never);
  const said = { last_assistant_message: answer, background_tasks: [] };
  await session.hook({ session_id, hook_event_name: 'Stop', ...said }, never);
}

/** The log without its times. */
async function entries(stateDir: StateDir, taskId: string): Promise<string[]> {
  const log = await readFile(stateDir.logFile(taskId), 'utf8');
  return log.split('\n').map((line) => line.replace(/^\[[^\]]*\] /, ''));
}

test('the log and the journal have each prompt of the person and what the session answered', async () => {
  const { session, stateDir } = await opened('Say one.');
  await turn(session, 'Say one.', 'One.');
  await turn(session, 'Say one.', 'One again.');
  await turn(session, 'Say two.\nAnd three.', 'Two.\nThree.');
  await session.end('It is over.');
  const lines = await entries(stateDir, session.taskId);
  expect(lines.slice(1, 12)).toEqual([
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
  const { entries: events } = await readJournal(stateDir.journalFile(session.taskId), {
    afterSeq: 0,
    maxBytes: 100_000,
  });
  expect(events.filter(({ type }) => type === 'message' || type === 'said')).toMatchObject([
    { type: 'said', text: 'One.' },
    { type: 'message', text: 'Say one.', by: 'person' },
    { type: 'said', text: 'One again.' },
    { type: 'message', text: 'Say two.\nAnd three.', by: 'person' },
    { type: 'said', text: 'Two.\nThree.' },
  ]);
});

test('the first prompt that is seen is the summary of a session whose beginning was not', async () => {
  const { session, stateDir } = await opened('');
  await turn(session, 'Go on with it.', 'Done.');
  await turn(session, 'And now this.', 'Done, too.');
  await session.end('It is over.');
  const record: unknown = JSON.parse(await readFile(stateDir.recordFile(session.taskId), 'utf8'));
  expect(record).toMatchObject({ prompt_summary: 'Go on with it.' });
  expect(await entries(stateDir, session.taskId)).toEqual(
    expect.arrayContaining(['Prompt: Go on with it.', 'Prompt: And now this.']),
  );
});
