import { release } from 'node:os';
import { describe, expect, it } from 'vitest';
import { killContainersHere } from '../../../src/processes/docker/containers-here.js';
import { AGENT_ID } from '../../../src/processes/docker/docker-spec.js';
import { describeDocker } from '../../harness/docker-engine.js';
import { openDockerBackend, startContainer, type OpenedDockerBackend } from './open-docker-backend.js';

describeDocker('containers whose processes this machine sees', ({ busyboxImage }) => {
  it('are ended with all that is in them, and no others', async () => {
    const test = await openDockerBackend({ image: busyboxImage });
    const start = () => startContainer(test, ['sh', '-c', 'sleep 60 & echo up; wait']);
    const [one, other] = await Promise.all([start(), start()]);
    await Promise.all([one.output.has('up'), other.output.has('up')]);
    const id = await test.backend.lend(one.process.spec.id, async (container) => container.id);
    const isSeen = await seesProcesses(test);
    expect([...(await killContainersHere(new Set([id, 'f'.repeat(64)])))]).toEqual(isSeen ? [id] : []);
    if (isSeen) expect(await one.process.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(other.process.status).toBe('running');
  });
});

describe('containers of another machine', () => {
  it('are left to their engine', async () => {
    expect([...(await killContainersHere(new Set(['f'.repeat(64)])))]).toEqual([]);
    expect([...(await killContainersHere(new Set()))]).toEqual([]);
  });
});

/** Whether the engine runs on this machine's kernel, and its containers as somebody whom this user may signal. */
async function seesProcesses({ engine }: OpenedDockerBackend): Promise<boolean> {
  const asked = await engine.call(async (client): Promise<unknown> => client.info());
  const info = asked.kind === 'value' ? asked.value : undefined;
  const kernel: unknown = typeof info === 'object' && info !== null && Reflect.get(info, 'KernelVersion');
  return kernel === release() && [0, AGENT_ID].includes(process.getuid?.() ?? -1);
}
