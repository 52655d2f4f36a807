import { readFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, readdir, readlink, rename, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { BridgeError } from '../../../src/base/errors.js';
import { AllowedRoots } from '../../../src/projects/allowed-roots.js';
import { PathOpener } from '../../../src/projects/path-opener.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { faultOf } from '../../files/file-service.js';
import { rounds } from '../../harness/rounds.js';
import { swapper } from '../../harness/swapper.js';

const run = promisify(execFile);
const isLinux = process.platform === 'linux';
const platforms: readonly NodeJS.Platform[] = isLinux ? ['linux', 'darwin'] : [process.platform];

async function openDescriptors(): Promise<number> {
  return (await readdir('/dev/fd')).length;
}

describe.each(platforms)('opening paths on %s', (platform) => {
  let base: string;
  let root: string;
  let outside: string;
  let opener: PathOpener;

  beforeEach(async () => {
    base = await tempFolder();
    root = join(base, 'root');
    outside = join(base, 'outside');
    await mkdir(join(root, 'folder'), { recursive: true });
    await mkdir(outside);
    await writeFile(join(root, 'file'), 'inside');
    await writeFile(join(outside, 'secret'), 'secret');
    opener = new PathOpener(new AllowedRoots([root], base), platform);
  });

  test('a file is opened for reading, a directory for its entries, each with its real path', async () => {
    await symlink('file', join(root, 'link'));
    const file = await opener.openFile(join(root, 'link'));
    expect(file.path).toBe(join(root, 'file'));
    expect(readFileSync(file.handle.fd, 'utf8')).toBe('inside');
    await file.handle.close();
    const folder = await opener.openDirectory(root);
    expect(await readFile(folder.entry('file'), 'utf8')).toBe('inside');
    const inner = await opener.directoryIn(folder, 'folder');
    expect(inner?.path).toBe(join(root, 'folder'));
    expect(await opener.directoryIn(folder, 'file')).toBeUndefined();
    expect(await opener.directoryIn(folder, 'none')).toBeUndefined();
    await symlink(outside, join(root, 'out'));
    expect(await opener.directoryIn(folder, 'out')).toBeUndefined();
    await inner?.handle.close();
    await folder.handle.close();
  });

  test('errors outside are the same for a file, a folder, a pipe and nothing', async () => {
    await run('mkfifo', [join(outside, 'pipe')]);
    for (const name of ['secret', 'pipe', 'none', 'none/deeper', 'secret/x', '']) {
      const path = join(outside, name);
      const ways = [
        () => opener.openFile(path),
        () => opener.openDirectory(path),
        () => opener.openEither(path),
      ];
      for (const open of ways) {
        const error = await faultOf(open());
        expect(error.code).toBe('PATH_NOT_ALLOWED');
        expect(error.message).toBe(`Path '${path}' is not within allowed roots. Allowed roots: ${root}`);
      }
    }
  });

  test('links to outside are refused, even dangling ones, and the error names the target', async () => {
    await symlink(join(outside, 'secret'), join(root, 'one'));
    await symlink(join(outside, 'none'), join(root, 'two'));
    await symlink(outside, join(root, 'three'));
    for (const name of ['one', 'two', 'three/secret', 'three/none']) {
      const error = await faultOf(opener.openFile(join(root, name)));
      expect(error.code, name).toBe('PATH_NOT_ALLOWED');
      expect(error.message).toMatch(/ It leads to '.*\/outside\/(secret|none)' through a link\.$/);
    }
  });

  test('a missing path, a wrong kind and a lack of permission are reported', async () => {
    const missing = await faultOf(opener.openFile(join(root, 'none')));
    expect(missing.code).toBe('PATH_NOT_FOUND');
    expect(missing.message).toBe(`Path '${root}/none' does not exist.`);
    expect((await faultOf(opener.openFile(join(root, 'file/x')))).code).toBe('PATH_NOT_FOUND');
    expect((await faultOf(opener.openFile(join(root, 'folder')))).code).toBe('NOT_A_FILE');
    expect((await faultOf(opener.openDirectory(join(root, 'file')))).code).toBe('NOT_A_DIRECTORY');
    await symlink('circle', join(root, 'circle'));
    expect((await faultOf(opener.openFile(join(root, 'circle')))).code).toBe('PATH_NOT_FOUND');
    expect((await faultOf(opener.openFile('file'))).code).toBe('INVALID_ARGUMENTS');
    expect((await faultOf(opener.openFile(`${root}/a\0b`))).code).toBe('INVALID_ARGUMENTS');
  });

  test('a name that looks like one that is there is named, with what differs as escapes', async () => {
    const folder = join(root, 'Cafe\u0301');
    await mkdir(folder);
    await writeFile(join(folder, 'Shot 10.00\u202fAM.png'), '');
    for (const [path, alike] of [
      ['Caf\u00e9', 'Cafe\\u0301'],
      ['Caf\u00e9/none', 'Cafe\\u0301'],
      ['Cafe\u0301/Shot 10.00 AM.png', 'Cafe\\u0301/Shot 10.00\\u202fAM.png'],
      ['FILE', 'file'],
    ] as const) {
      const fault = await faultOf(opener.openEither(join(root, path)));
      expect(fault.code).toBe('PATH_NOT_FOUND');
      expect(fault.hint).toContain(`Did you mean "${root}/${alike}" (as JSON)?`);
    }
    await symlink(outside, join(root, 'out'));
    expect((await faultOf(opener.openFile(join(root, 'out/SECRET')))).code).toBe('PATH_NOT_ALLOWED');
  });

  test('a file without permission is reported as unreadable, except to the superuser', async () => {
    await chmod(join(root, 'file'), 0);
    if (process.getuid?.() === 0) {
      const opened = await opener.openFile(join(root, 'file'));
      await opened.handle.close();
      return;
    }
    const error = await faultOf(opener.openFile(join(root, 'file')));
    expect(error.code).toBe('NOT_READABLE');
    expect(error.message).toBe(`Path '${root}/file' cannot be read: EACCES.`);
  });

  test('pipes, sockets, devices and endless files are refused immediately', async () => {
    await run('mkfifo', [join(root, 'pipe')]);
    const server = createServer();
    server.listen(join(root, 'socket'));
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    for (const [name, kind] of [
      ['pipe', 'a named pipe'],
      ['socket', 'a socket'],
    ] as const) {
      const error = await faultOf(opener.openEither(join(root, name)));
      expect(error.code).toBe('NOT_A_FILE');
      expect(error.message).toBe(`Path '${join(root, name)}' is ${kind}, not a regular file.`);
    }
    const anywhere = new PathOpener(new AllowedRoots(['/'], base), platform);
    const kernelFiles = isLinux ? ['/proc/self/environ', '/proc/kmsg', '/sys/kernel/notes'] : [];
    for (const path of ['/dev/zero', '/dev/null', '/dev/tty', ...kernelFiles]) {
      expect((await faultOf(anywhere.openFile(path))).code, path).toMatch(/^NOT_A_FILE$|^PATH_NOT_FOUND$/);
    }
  });

  test('refusals leave no descriptor open', async () => {
    await run('mkfifo', [join(root, 'pipe')]);
    const before = await openDescriptors();
    for (const path of ['pipe', 'folder', 'none', '../outside/secret'])
      await faultOf(opener.openFile(join(root, path)));
    expect(await openDescriptors()).toBe(before);
  });
});

describe.runIf(isLinux)('a path that is swapped while it is being opened', () => {
  test.each(['the file', 'its folder'])('nothing outside is ever read: %s', async (what) => {
    const base = await tempFolder();
    const root = join(base, 'root');
    const outside = join(base, 'outside');
    await mkdir(join(root, 'folder'), { recursive: true });
    await mkdir(outside);
    await writeFile(join(root, 'folder/file'), 'inside');
    await writeFile(join(outside, 'file'), 'secret');
    const opener = new PathOpener(new AllowedRoots([root], base));
    const place = what === 'the file' ? join(root, 'folder/file') : join(root, 'folder');
    await symlink(what === 'the file' ? join(outside, 'file') : outside, join(root, 'trap'));
    await swapper(place, join(root, 'aside'), join(root, 'trap'));
    const seen = new Map<string, number>();
    const count = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1);
    for (let turn = 0; turn < rounds(3_000); turn++) {
      try {
        const opened = await opener.openFile(join(root, 'folder/file'));
        count(readFileSync(opened.handle.fd, 'utf8'));
        await opened.handle.close();
      } catch (thrown) {
        if (!(thrown instanceof BridgeError)) throw thrown;
        count(thrown.code);
      }
    }
    expect([...seen.keys()].filter((name) => !/^inside$|^PATH_NOT|^FILE_CHANGED$/.test(name))).toEqual([]);
    expect(seen.get('inside') ?? 0).toBeGreaterThan(0);
  });

  test('an open directory stays the one that was checked, whatever gets its name', async () => {
    const base = await tempFolder();
    const root = join(base, 'root');
    await mkdir(join(root, 'folder'), { recursive: true });
    await mkdir(join(base, 'outside'));
    const opener = new PathOpener(new AllowedRoots([root], base));
    const held = await opener.openDirectory(join(root, 'folder'));
    await rename(join(root, 'folder'), join(root, 'moved'));
    await symlink(join(base, 'outside'), join(root, 'folder'));
    await writeFile(held.entry('note'), 'here');
    expect(await readFile(join(root, 'moved/note'), 'utf8')).toBe('here');
    expect(await readlink(join(root, 'folder'))).toBe(join(base, 'outside'));
    await held.handle.close();
  });
});
