import { access, chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FilesPatchQuery } from '../../../src/git/diff/files-patch.js';
import { gitServices } from '../../../src/services/git-services.js';
import { bridgeOptions } from '../../services/bridge-options.js';
import { gitPlace, type GitPlace } from '../../git/git-harness.js';

const { signal } = new AbortController();
let place: GitPlace;
let first: string;

beforeEach(async () => {
  place = await gitPlace();
  await place.write('a.txt', 'one\n');
  await place.write('b.txt', 'one\n');
  await place.commit('first');
  first = (await place.git('rev-parse', 'HEAD')).trim();
});

async function patch(query: Omit<FilesPatchQuery, 'repository'>): Promise<string> {
  const chunks: Buffer[] = [];
  const read = gitServices(bridgeOptions(place.homeDir), place.parts.roots).readPatch;
  await read({ repository: place.repo, ...query }, (one) => void chunks.push(one), signal);
  return Buffer.concat(chunks).toString();
}

describe('the patch of files', () => {
  it('shows tracked, new and deleted files of the working tree, and no others', async () => {
    await place.write('a.txt', 'two\n');
    await place.write('new/c.txt', 'new\n');
    await place.write('other.txt', 'not asked for\n');
    await rm(join(place.repo, 'b.txt'));
    const before = await place.git('status', '--porcelain=v2');
    const text = await patch({ base: first, files: ['a.txt', 'b.txt', 'new/c.txt', 'gone.txt'] });
    expect(text).toContain('-one\n+two\n');
    expect(text).toContain('deleted file mode 100644');
    expect(text).toContain('new file mode 100644\n');
    expect(text).toContain('+++ b/new/c.txt\n@@ -0,0 +1 @@\n+new\n');
    expect(text).not.toContain('other');
    expect(await place.git('status', '--porcelain=v2')).toBe(before);
    // It can be applied as any patch of git.
    await place.gitIn(place.projects, 'clone', '--quiet', place.repo, 'copy');
    await writeFile(join(place.root, 'all.patch'), text);
    await place.gitIn(join(place.projects, 'copy'), 'apply', join(place.root, 'all.patch'));
  });

  it('ends at a commit or a tree, and names one that is not there', async () => {
    await place.write('a.txt', 'two\n');
    await place.git('commit', '--quiet', '-a', '-m', 'second');
    await place.write('a.txt', 'three\n');
    for (const end of ['HEAD', 'HEAD^{tree}'])
      expect(await patch({ base: first, end })).toContain('-one\n+two\n');
    await expect(patch({ base: first, end: 'nothing' })).rejects.toMatchObject({
      code: 'REVISION_NOT_FOUND',
    });
  });

  it('begins with nothing before the first commit', async () => {
    expect(await patch({ base: null, end: first })).toContain('+++ b/b.txt');
  });

  it('runs no program of the repository, and none of a repository in it', async () => {
    const spy = join(place.root, 'spy');
    const ran = join(place.root, 'ran');
    await writeFile(spy, `#!/bin/sh\ntouch '${ran}'\ncat\n`);
    await chmod(spy, 0o755);
    await place.write('.gitattributes', '* filter=spy diff=spy\n');
    await place.git('config', 'filter.spy.clean', spy);
    await place.git('config', 'diff.external', spy);
    await place.git('config', 'core.fsmonitor', spy);
    await place.write('inner/x', 'x\n');
    await place.gitIn(join(place.repo, 'inner'), 'init', '--quiet');
    await place.write('new.txt', 'new\n');
    await place.write('a.txt', 'two\n');
    const text = await patch({ base: first, files: ['a.txt', 'new.txt', 'inner'] });
    expect(text).toContain('+two\n');
    expect(text).toContain('+new\n');
    await expect(access(ran)).rejects.toThrow('ENOENT');
  });
});
