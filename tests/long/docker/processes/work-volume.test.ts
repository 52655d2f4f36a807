import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { describeDocker } from '../../../harness/docker-engine.js';
import { direct, openDockerBackend, startContainer } from './open-docker-backend.js';

describeDocker('the working directory', ({ busyboxImage }) => {
  it('belongs to the agent also in an image that knows neither it nor the user', async () => {
    const image = `claude-code-bridge-test/bare-${randomBytes(6).toString('hex')}:latest`;
    const donor = await direct.createContainer({ Image: busyboxImage, Entrypoint: ['true'] });
    const programs = await donor.getArchive({ path: '/bin' });
    const [repo, tag] = image.split(':');
    const imported = await direct.importImage(programs, { repo, tag });
    await new Promise((resolve, reject) => imported.on('end', resolve).on('error', reject).resume());
    await donor.remove({ force: true });
    onTestFinished(() => direct.getImage(image).remove({ force: true }));
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
