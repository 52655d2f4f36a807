import { connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Collector } from '../../../contracts/process-backend/under-test.js';
import { ownIdentity } from '../../../../src/store/process-identity.js';
import { describeDocker } from '../../../harness/docker-engine.js';
import { portOf } from '../../../harness/listening.js';
import { namesOf, openDockerBackend, startContainer } from './open-docker-backend.js';

/** A way to the engine of the tests that can be cut and opened again: what is behind it goes on. Closed with the test. */
async function engineRelay() {
  const path = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '');
  const sockets = new Set<Socket>();
  let isCut = false;
  // Both ways end on their own: input may be over long before output.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (isCut) return void near.resetAndDestroy();
    const far = connect({ path, allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined);
    }
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const port = await portOf(server);
  onTestFinished(() => {
    cut();
    server.close();
  });
  return { host: `tcp://127.0.0.1:${port}`, cut, restore: () => void (isCut = false) };
}

describeDocker('an engine that goes away', ({ busyboxImage }) => {
  it('ends the process with the reason, and starts the next one when it is back; nothing is left behind', async () => {
    const { host, cut, restore } = await engineRelay();
    const test = await openDockerBackend({ image: busyboxImage, host });
    const { process, output } = await startContainer(test, 'echo up; exec sleep 60');
    await output.has('up');
    cut();
    const exit = await process.exited;
    expect(exit.code).toBeUndefined();
    expect(exit.signal).toBeUndefined();
    expect(exit.reason).toContain('How the process ended is not known');
    await expect(process.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'PROCESS_NOT_RUNNING' });
    const refused = test.backend.spawn(test.spec(['true']), new Collector());
    await expect(refused).rejects.toMatchObject({ code: 'DOCKER_UNAVAILABLE' });
    expect(await namesOf(test.ownerId)).toEqual([`/process-mcp-${process.spec.id}`]);

    restore();
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
