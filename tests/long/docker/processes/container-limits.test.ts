import { randomBytes } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AllowedRoots } from '../../../../src/projects/allowed-roots.js';
import { Collector, run } from '../../../contracts/process-backend/under-test.js';
import { tempFolder } from '../../../harness/temp-folder.js';
import { describeDocker } from '../../../harness/docker-engine.js';
import { direct, openDockerBackend, startContainer } from './open-docker-backend.js';

describeDocker('what a container may do', ({ busyboxImage }) => {
  it('is an unprivileged user without network, capabilities or a way to more, as read inside', async () => {
    const script = `
      id -u; id -g
      grep -E '^(CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Uid):' /proc/self/status
      cp /bin/busybox /tmp/program && /tmp/program true || echo "tmp: no"
      cp /bin/busybox /var/tmp/program && /var/tmp/program true || echo "var/tmp: no"
      cp /bin/busybox ./busybox && ./busybox echo "home: yes"
      (echo x > /etc/written) 2>/dev/null || echo "etc: no"
      grep -c : /proc/net/dev; grep -o 'lo:' /proc/net/dev
      grep -E ' /tmp | /var/tmp ' /proc/mounts
      env | sort`;
    const { output, exit } = await run(await openDockerBackend({ image: busyboxImage }), script, {
      env: { GIVEN: 'yes' },
    });
    expect(exit.code).toBe(0);
    const told = output.text('stdout').replace(/\t/g, ' ');
    for (const name of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(told).toContain(`${name}: 0000000000000000`);
    expect(told).toContain('1000\n1000\n');
    expect(told).toContain('NoNewPrivs: 1');
    expect(told).toContain('Uid: 1000 1000 1000 1000');
    expect(told).toContain('tmp: no\nvar/tmp: no\nhome: yes\netc: no\n1\nlo:\n');
    const mounts = told.split('\n').filter((line) => line.startsWith('tmpfs '));
    expect(mounts).toHaveLength(2);
    for (const mount of mounts) expect(mount).toMatch(/nosuid.*noexec|noexec.*nosuid/);
    expect(told).toContain('GIVEN=yes');
    expect(told).toContain('HOME=/home/agent');
    // Nothing of the server's environment goes along.
    expect(told).not.toContain('VITEST');
  });

  it('has the limits that are promised, as the engine holds them', async () => {
    const test = await openDockerBackend({ image: busyboxImage });
    const { process, output } = await startContainer(test, 'echo up; exec cat');
    await output.has('up');
    const name = `process-mcp-${process.spec.id}`;
    const { HostConfig, Mounts } = await direct.getContainer(name).inspect();
    expect(HostConfig).toMatchObject({
      Memory: 512 * 1024 * 1024,
      MemorySwap: 512 * 1024 * 1024,
      NanoCpus: 1e9,
      PidsLimit: 4096,
      CapDrop: ['ALL'],
      Privileged: false,
      UsernsMode: '',
      NetworkMode: 'none',
    });
    expect(Mounts).toMatchObject([
      { Type: 'volume', Name: `process-mcp-volume-${process.spec.id}`, Destination: '/home/agent' },
    ]);
    const stats = await process.stats();
    expect(stats.processCount).toBe(1);
    expect(stats.memoryBytes).toBeGreaterThan(0);
    expect(stats.memoryBytes).toBeLessThan(64 * 1024 * 1024);
    await process.dispose();
    await expect(direct.getContainer(name).inspect()).rejects.toMatchObject({ statusCode: 404 });
  });

  it('goes on with a volume that was named before, and takes none of another program', async () => {
    const test = await openDockerBackend({ image: busyboxImage });
    const volume = `notes-${test.ownerId}`;
    const first = await startContainer(test, 'echo remembered > note', { volume });
    expect((await first.process.exited).code).toBe(0);
    const second = await startContainer(test, ['cat', 'note'], { volume: `process-mcp-volume-${volume}` });
    expect((await second.process.exited).code).toBe(0);
    expect(second.output.text('stdout')).toBe('remembered\n');

    const foreign = `process-mcp-volume-foreign-${test.ownerId}`;
    await direct.createVolume({ Name: foreign });
    onTestFinished(() => direct.getVolume(foreign).remove());
    for (const [options, words] of [
      [{ volume: foreign }, 'not made by the bridge'],
      [{ volume: '../../etc' }, 'cannot be the name of a volume'],
      [{ network: 'container:other' }, 'cannot be the name of a network'],
    ] as const) {
      const answer = test.backend.spawn(test.spec(['true'], options), new Collector());
      const message: unknown = expect.stringContaining(words);
      await expect(answer).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS', message });
    }
  });

  it('sees the project where it is asked for, and cannot write there', async () => {
    const folder = await tempFolder();
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'read.me'), 'hello from outside\n', { mode: 0o644 });
    const mountProject = await new AllowedRoots([folder], '/').resolveDirectory(folder);
    const test = await openDockerBackend({ image: busyboxImage });
    const script = 'cat read.me; echo x > read.me || echo "no: $?"; mkdir sub || echo no sub';
    const { process, output } = await startContainer(test, script, { mountProject, cwd: '/project' });
    await process.exited;
    expect(output.text('stdout')).toBe('hello from outside\nno: 1\nno sub\n');
    expect(output.text('stderr')).toContain('Read-only file system');
  });

  it('has a working directory of the agent also in an image that knows neither it nor the user', async () => {
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
