import { access, chmod, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitPlace } from './git-harness.js';
import { tricks } from './hostile-tricks.js';

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

describe('a hostile repository', () => {
  it.each(tricks)('runs nothing by $name, and is shown as it is', async (trick) => {
    const place = await gitPlace();
    const canary = join(place.root, 'canary');
    const program = join(place.root, 'program');
    await writeFile(program, `#!/bin/sh\necho ran >> "${canary}"\ncat\n`);
    await chmod(program, 0o755);
    await place.write('kept.txt', 'one\n');
    await place.write('same.txt', 'same\n');
    await place.git('add', '.');
    await place.git('commit', '--quiet', '-m', 'first');
    await trick.set(place, program);
    await place.write('kept.txt', 'two\n');
    await place.write('new.txt', 'new\n');
    // Looked at again by git, since its times no longer fit.
    await utimes(join(place.repo, 'same.txt'), new Date(), new Date(1_000_000_000_000));

    const { service, target } = place;
    const status = await service.status(target());
    expect(status.lists.modified).toEqual(['kept.txt']);
    expect(status.lists.untracked).toContain('new.txt');
    expect(status.branch).toBe('main');
    const diff = await service.diff(target(), {});
    expect(diff.text).toContain('-one\n+two\n');
    expect(diff.text).not.toContain('same.txt');
    expect((await service.diff(target(), { base: 'HEAD' })).text).toBe(diff.text);
    expect((await service.diff(target(), { cached: true })).text).toBe('');
    expect((await service.diffStat(target(), false)).files).toEqual([
      { file: 'kept.txt', insertions: 1, deletions: 1 },
    ]);
    const log = await service.log(target(), { maxCount: 10 });
    expect(log.commits.map((one) => one.subject)).toContain('first');
    const first = log.commits.at(-1)?.commit ?? '';
    expect((await service.show(target(), { revision: first })).patch.text).toContain('+one\n');
    await service.init(place.repo, {}, target().signal);
    expect(await exists(canary)).toBe(false);
    if (trick.bites !== true) return;
    for (const args of [['status'], ['diff', '--submodule=diff'], ['log', '-p']])
      await place.git(...args).catch(() => 'a filter that changes everything may fail');
    expect(await exists(canary)).toBe(true);
  });
});
