import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { kinds } from '../../../scripts/new-user/kinds.js';
import { tryKind } from '../../../scripts/new-user/try-kind.js';
import { makeRelease } from '../../../scripts/release/make-release.js';
import { readProject } from '../../../scripts/release/project.js';

const MAX_TYPED = 4;
const project = readProject(resolve(import.meta.dirname, '..', '..', '..'));

describe('a new user with Node alone, and Claude Code', () => {
  let release: string;
  beforeAll(async () => {
    release = await mkdtemp(join(tmpdir(), 'release-'));
    await makeRelease(project, release);
  });
  afterAll(() => rm(release, { recursive: true }));

  test.each(kinds)(
    'gets the bridge by $name, delegates a task, and leaves nothing of it behind',
    async (kind) => {
      const claude = inject('claudeVersions').at(-1)?.binary;
      if (claude === undefined) throw new Error('the newest pinned Claude Code is missing');
      const { typed, seconds, left } = await tryKind(kind, { project, release, claude });
      process.stderr.write(
        `${kind.name}: ${typed.length} typed, ${seconds.toFixed(1)} s to the end of the task\n`,
      );
      expect(left).toEqual([]);
      expect(typed.length).toBeLessThanOrEqual(MAX_TYPED);
    },
  );
});
