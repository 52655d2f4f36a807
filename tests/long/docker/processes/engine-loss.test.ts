import { expect, it } from 'vitest';
import { Collector } from '../../../contracts/process-backend/under-test.js';
import { ownIdentity } from '../../../../src/store/process-identity.js';
import { describeDocker } from '../../../harness/docker-engine.js';
import { engineHost, EngineRelay } from './engine-relay.js';
import { openDockerBackend, openEngine, startContainer } from './open-docker-backend.js';

async function namesOf(ownerId: string): Promise<string[]> {
  const engine = openEngine();
  const listed = await engine.call((client) =>
    client.listContainers({ all: true, filters: { label: [`claude-code-bridge.owner=${ownerId}`] } }),
  );
  engine.dispose();
  return listed.kind === 'value'
    ? listed.value.flatMap(({ Names }) => Names)
    : ['(the engine does not answer)'];
}

describeDocker('an engine that goes away', ({ busyboxImage }) => {
  it('ends the process with the reason, and starts the next one when it is back; nothing is left behind', async () => {
    const relay = await EngineRelay.open(engineHost);
    const test = await openDockerBackend({ image: busyboxImage, host: relay.address });
    const { process, output } = await startContainer(test, ['sh', '-c', 'echo up; exec sleep 60']);
    await output.has('up');
    relay.cut();
    const exit = await process.exited;
    expect(exit.code).toBeUndefined();
    expect(exit.signal).toBeUndefined();
    expect(exit.reason).toContain('The engine went away');
    await expect(process.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'PROCESS_NOT_RUNNING' });
    const refused = test.backend.spawn(test.spec(['true']), new Collector());
    await expect(refused).rejects.toMatchObject({ code: 'DOCKER_UNAVAILABLE' });
    expect(await namesOf(test.ownerId)).toEqual([`/process-mcp-${process.spec.id}`]);

    relay.restore();
    const next = await startContainer(test, ['echo', 'again']);
    expect((await next.process.exited).code).toBe(0);
    expect(next.output.text('stdout')).toBe('again\n');
    await test.backend.sweep();
    await next.process.dispose();
    expect(await namesOf(test.ownerId)).toEqual([]);
  });

  it('is not lost by a short cut: the end is known, and what is missing is told', async () => {
    const relay = await EngineRelay.open(engineHost);
    const test = await openDockerBackend({ image: busyboxImage, host: relay.address });
    const { process, output } = await startContainer(test, ['sh', '-c', 'echo up; sleep 0.3; exit 7']);
    await output.has('up');
    relay.cut();
    const direct = openEngine();
    await direct.call((client) => client.getContainer(`process-mcp-${process.spec.id}`).wait());
    direct.dispose();
    relay.restore();
    const exit = await process.exited;
    expect(exit.code).toBe(7);
    expect(exit.reason).toContain('what it printed since is missing');
  });

  it('leaves containers of dead servers to the next one, and those of living ones alone', async () => {
    const own = await ownIdentity();
    const dead = await openDockerBackend({
      image: busyboxImage,
      keeper: { ...own, start_time: '1' },
    });
    const orphan = await startContainer(dead, ['sleep', '60']);
    const alive = await openDockerBackend({ image: busyboxImage, ownerId: dead.ownerId });
    const mine = await startContainer(alive, ['sleep', '60']);
    await alive.backend.sweep();
    expect(await namesOf(dead.ownerId)).toEqual([`/process-mcp-${mine.process.spec.id}`]);
    // It was removed under the hands of its backend, which says so.
    expect((await orphan.process.exited).reason ?? 'ended').toMatch(/removed|ended/);
    expect(mine.process.status).toBe('running');
  });
});
