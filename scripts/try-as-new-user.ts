// Goes the way of a new user with each package of a release that is made for it. Usage: npm run test:new-user [-- KIND...]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findOrFetchClaude, PINNED_VERSION } from '../src/cli/demo/fetch-claude.js';
import { messageOf } from '../src/base/errors.js';
import { kinds } from './new-user/kinds.js';
import { tryKind } from './new-user/try-kind.js';
import { makeRelease } from './release/make-release.js';
import { readProject } from './release/project.js';

const MAX_TYPED = 3;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const wanted = process.argv.slice(2);
const project = readProject(resolve(fileURLToPath(new URL('..', import.meta.url))));
const env = process.env;
const claude = await findOrFetchClaude({
  version: PINNED_VERSION,
  cacheDir: join(project.root, '.cache', 'claude'),
  env,
  log: say,
});
const folder = await mkdtemp(join(tmpdir(), 'new-user-release-'));
try {
  const release = join(folder, 'release');
  await makeRelease(project, release);
  for (const kind of kinds.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    try {
      const { typed, seconds, left } = await tryKind(kind, { project, release, claude });
      say(`${kind.name}: ${typed.length} typed, ${seconds.toFixed(1)} s to the end of the task`);
      for (const line of typed) say(`  $ ${line}`);
      for (const line of left) say(`  ${line}`);
      if (typed.length > MAX_TYPED || left.length > 0) process.exitCode = 1;
    } catch (error) {
      say(`${kind.name}: ${messageOf(error)}`);
      process.exitCode = 1;
    }
  }
} finally {
  await rm(folder, { recursive: true });
}
