import { expect, it } from 'vitest';
import { Collector } from '../../../contracts/process-backend/under-test.js';
import { ownIdentity } from '../../../../src/store/process-identity.js';
import { describeDocker } from '../../../harness/docker-engine.js';
import { engineHost, EngineRelay } from './engine-relay.js';
import { namesOf, openDockerBackend, startContainer } from './open-docker-backend.js';

describeDocker('an engine that goes away', ({ busyboxImage }) => {
  it('ends the process with the reason, and starts the next one when it is back; nothing is left behind', async () => {
    const relay = await EngineRelay.open(engineHost);
    const test = await openDockerBackend({ image: busyboxImage, host: relay.address });
    const { process, output } = await startContainer(test, 'echo up; exec sleep 60');
    await output.has('up');
    relay.cut();
    const exit = await process.exited;
    expect(exit.code).toBeUndefined();
    expect(exit.signal).toBeUndefined();
    expect(exit.reason).toContain('How the process ended is not known');
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

  it('leaves containers of dead servers to the next one, and those of living ones alone', async () => {
    const own = await ownIdentity();
    const dead = await openDockerBackend({ image: busyboxImage, keeper: { ...own, start_time: '1' } });
    const orphan = await startContainer(dead, ['sleep', '60']);
    const alive = await openDockerBackend({ image: busyboxImage, ownerId: dead.ownerId });
    const mine = await startContainer(alive, ['sleep', '60']);
    await alive.backend.sweep();
    expect(await namesOf(dead.ownerId)).toEqual([`/process-mcp-${mine.process.spec.id}`]);
    // It was removed under the hands of its backend, which says so.
    expect((await orphan.process.exited).reason ?? 'ended').toMatch(/gone|ended/);
    expect(mine.process.status).toBe('running');
  });
});
