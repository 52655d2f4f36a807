import { describe, expect, test } from 'vitest';
import type { ProcessInfo } from '../../src/os/process-info.js';
import { identityOf, ownIdentity } from '../../src/store/process-identity.js';
import { requireOutsideSession } from '../../src/tasks/own-session.js';
import { sampleRecord } from './sample-task.js';

const session_id = '11111111-1111-4111-8111-111111111111';
const native = sampleRecord({ driver: 'native', session_id });
const refused = { code: 'NATIVE_SESSION' };

describe('a session does not answer itself', () => {
  test('from a process with its id in the environment', async () => {
    const env = { CLAUDE_CODE_SESSION_ID: session_id };
    await expect(requireOutsideSession(native, env)).rejects.toMatchObject(refused);
    await expect(requireOutsideSession(native, { CLAUDE_CODE_SESSION_ID: 'other' })).resolves.toBeUndefined();
  });

  test('from the server that holds its record', async () => {
    const record = { ...native, keeper: await ownIdentity() };
    await expect(requireOutsideSession(record, {})).rejects.toMatchObject(refused);
  });

  test('from a process below it, also without that environment', async () => {
    const agent = (await identityOf(process.ppid)) ?? null;
    await expect(requireOutsideSession({ ...native, agent }, {})).rejects.toMatchObject(refused);
    const elsewhere: ProcessInfo[] = [];
    const source = { table: () => Promise.resolve(elsewhere) };
    await expect(requireOutsideSession({ ...native, agent }, {}, source)).resolves.toBeUndefined();
  });
});

test('tasks that the bridge started are none of this', async () => {
  const record = sampleRecord({ session_id, keeper: await ownIdentity() });
  const env = { CLAUDE_CODE_SESSION_ID: session_id };
  await expect(requireOutsideSession(record, env)).resolves.toBeUndefined();
});
