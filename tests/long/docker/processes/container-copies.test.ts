import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { messageOf } from '../../../../src/base/errors.js';
import { ContainerCopies } from '../../../../src/processes/docker/container-copies.js';
import { AllowedRoots } from '../../../../src/projects/allowed-roots.js';
import { PathOpener } from '../../../../src/projects/path-opener.js';
import { tempFolder } from '../../../harness/temp-folder.js';
import { describeDocker } from '../../../harness/docker-engine.js';
import {
  direct,
  namesOf,
  openDockerBackend,
  startContainer,
  type OpenedDockerBackend,
} from './open-docker-backend.js';

/** A folder of this machine, and copies between it and the containers of the backend. */
async function openCopies(test: OpenedDockerBackend) {
  const folder = await tempFolder();
  const roots = new AllowedRoots([folder], '/');
  const copies = new ContainerCopies({
    lend: async (processId, use) => {
      const asked = direct.getContainer(`process-mcp-${processId}`).inspect();
      const isRunning = await asked.then(
        ({ State }) => State.Running,
        () => false,
      );
      return test.backend.lend(processId, isRunning, (one) => use(one, isRunning));
    },
    roots,
    opener: new PathOpener(roots),
    refuse: () => Promise.resolve(),
  });
  return { folder, copies };
}

function refusal(copy: Promise<unknown>): Promise<string> {
  return copy.then(
    () => 'not refused',
    (error: unknown) => messageOf(error),
  );
}

describeDocker('copies', ({ busyboxImage }) => {
  it('leave secrets of a folder out, and bring in one that is named', async () => {
    const test = await openDockerBackend({ image: busyboxImage });
    const { folder, copies } = await openCopies(test);
    for (const name of ['app/src/.ssh', 'app/secrets']) await mkdir(join(folder, name), { recursive: true });
    for (const name of ['.env', 'main.sh', 'src/.ssh/id_rsa', 'src/api.KEY', 'secrets/a'])
      await writeFile(join(folder, 'app', name), 'swordfish\n');
    const { process, output } = await startContainer(test, ['sh']);
    const processId = process.spec.id;
    const copied = await copies.copyTo({ processId, source: join(folder, 'app'), destination: '.' });
    expect(copied).toMatchObject({ files: 1, folders: 2 });
    expect(copied.secrets.toSorted()).toEqual(['.env', 'secrets', 'src/.ssh', 'src/api.KEY']);
    await copies.copyTo({ processId, source: join(folder, 'app/.env'), destination: 'named' });
    await process.write(Buffer.from('find app named -type f | sort; echo listed\n'));
    await output.has('listed');
    expect(output.text('stdout')).toBe('app/main.sh\nnamed/.env\nlisted\n');
  });

  it('brings files in and out of a running container, and out of one that has ended', async () => {
    const test = await openDockerBackend({ image: busyboxImage });
    const { folder, copies } = await openCopies(test);
    await mkdir(join(folder, 'src/empty'), { recursive: true });
    await writeFile(join(folder, 'src/main.sh'), 'echo "it ran"\n');
    await chmod(join(folder, 'src/main.sh'), 0o755);
    await writeFile(join(folder, 'src/nothing'), '');
    const { process, output } = await startContainer(test, ['sh']);
    const processId = process.spec.id;
    const copied = await copies.copyTo({ processId, source: join(folder, 'src'), destination: 'a/b' });
    expect(copied).toEqual({ files: 2, folders: 2, bytes: 14, path: '/home/agent/a/b/src', secrets: [] });

    // The agent owns it, the folders that were made for it included.
    await process.write(
      Buffer.from(
        "ls -lnR a | awk '/^[d-]/ {print $1, $3, $9}' && mkdir a/new a/b/src/new && a/b/src/main.sh\n",
      ),
    );
    await output.has('it ran');
    expect(output.text('stderr')).toBe('');
    expect(output.text('stdout')).not.toMatch(/^\S+ 0 /m);

    const out = await copies.copyFrom({ processId, source: '/home/agent/a', destination: folder });
    expect(out).toMatchObject({ files: 2, path: join(folder, 'a') });
    expect(await readFile(join(folder, 'a/b/src/main.sh'), 'utf8')).toBe('echo "it ran"\n');
    expect((await stat(join(folder, 'a/b/src/main.sh'))).mode & 0o777).toBe(0o755);

    await process.write(
      Buffer.from('echo result > result; ln -s /etc/passwd link; mkfifo pipe; echo done\n'),
    );
    await output.has('done');
    for (const [source, words] of [
      ['link', 'is a symlink'],
      ['pipe', 'is a fifo'],
      ['.', 'is a symlink'],
      ['no-such', 'has no "/home/agent/no-such"'],
      ['/tmp/x', 'is in /tmp'],
      ['/', 'cannot be copied'],
    ] as const) {
      const destination = source === '.' ? join(folder, 'whole') : folder;
      expect(await refusal(copies.copyFrom({ processId, source, destination }))).toContain(words);
    }
    expect((await readdir(folder)).toSorted()).toEqual(['a', 'src']);

    await process.endInput();
    await process.exited;
    const late = { processId, source: 'result', destination: join(folder, 'renamed') };
    expect(await copies.copyFrom(late)).toMatchObject({ files: 1, bytes: 7 });
    expect(await readFile(join(folder, 'renamed'), 'utf8')).toBe('result\n');
    const elsewhere = copies.copyFrom({ processId, source: '/etc/passwd', destination: folder });
    expect(await refusal(elsewhere)).toContain('only /home/agent is left');
    await process.dispose();
    expect(await namesOf(test.ownerId)).toEqual([]);
  });

  it('takes nothing to where it would not arrive, no links, and nothing from outside the roots', async () => {
    const test = await openDockerBackend({ image: busyboxImage });
    const { folder, copies } = await openCopies(test);
    await writeFile(join(folder, 'file'), 'x');
    await mkdir(join(folder, 'linked'));
    await symlink('/etc/passwd', join(folder, 'linked/words'));
    const { process, output } = await startContainer(
      test,
      'ln -s /tmp away; echo x > plain; echo up; exec sleep 60',
    );
    await output.has('up');
    const processId = process.spec.id;
    const file = join(folder, 'file');
    for (const [source, destination, words] of [
      [file, '/tmp', 'is in /tmp'],
      [file, '/home/agent/../../proc', 'is in /proc'],
      [file, '/project/x', 'mounted read only'],
      [file, 'away/x', 'is a link to "/tmp"'],
      [file, 'plain/x', 'is not a folder'],
      [join(folder, 'linked'), '.', '"linked/words" is a link'],
    ] as const) {
      expect(await refusal(copies.copyTo({ processId, source, destination }))).toContain(words);
    }
    const outside = copies.copyTo({ processId, source: '/etc/passwd', destination: '.' });
    await expect(outside).rejects.toMatchObject({ code: 'PATH_NOT_ALLOWED' });
    const linked = copies.copyTo({ processId, source: join(folder, 'linked/words'), destination: '.' });
    await expect(linked).rejects.toMatchObject({ code: 'PATH_NOT_ALLOWED' });
    const away = copies.copyFrom({ processId, source: 'plain', destination: '/etc' });
    await expect(away).rejects.toMatchObject({ code: 'PATH_NOT_ALLOWED' });
  });
});
