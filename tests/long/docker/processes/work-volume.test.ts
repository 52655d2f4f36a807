import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { describeDocker } from '../../../harness/docker-engine.js';
import { openDockerBackend, openEngine, startContainer } from './open-docker-backend.js';

describeDocker('the working directory', ({ busyboxImage }) => {
  it('belongs to the agent also in an image that knows neither it nor the user', async () => {
    const engine = openEngine();
    const image = `claude-code-bridge-test/bare-${randomBytes(6).toString('hex')}:latest`;
    const made = await engine.call(async (client) => {
      const donor = await client.createContainer({ Image: busyboxImage, Entrypoint: ['true'] });
      try {
        const programs = await donor.getArchive({ path: '/bin' });
        const [repo, tag] = image.split(':');
        const imported = await client.importImage(programs, { repo, tag });
        await new Promise((resolve, reject) => {
          imported.on('end', resolve);
          imported.on('error', reject);
          imported.resume();
        });
      } finally {
        await donor.remove({ force: true });
      }
    });
    expect(made.kind).toBe('value');
    onTestFinished(async () => {
      await engine.call((client) => client.getImage(image).remove({ force: true }));
      engine.dispose();
    });
    const test = await openDockerBackend({ image });
    const { process, output } = await startContainer(
      test,
      ['/bin/sh', '-c', 'echo x > file && mkdir sub && ls -ldn . | cut -c1-10 && id -u && pwd'],
      { env: { PATH: '/bin' } },
    );
    expect((await process.exited).code).toBe(0);
    expect(output.all).toBe('drwxr-xr-x\n1000\n/home/agent\n');
  });
});
