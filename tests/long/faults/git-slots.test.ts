import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Slots } from '../../../src/base/lifecycle.js';
import { ProjectExplorer } from '../../../src/files/project-explorer.js';
import { queryEnvironment } from '../../../src/git/run/git-settings.js';
import { GitAt, GitRunner } from '../../../src/git/run/run-git.js';
import { ActiveProject } from '../../../src/projects/active-project.js';
import { AllowedRoots } from '../../../src/projects/allowed-roots.js';
import { PathOpener } from '../../../src/projects/path-opener.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { gitPlace, type GitPlace } from '../../git/git-harness.js';
import { programFile } from '../../harness/programs-on-path.js';

const MAX_AT_ONCE = 16;
const signal = (): AbortSignal => new AbortController().signal;
const never = signal();

/** A folder with a git that writes down how many of it run when it begins. */
async function countingGit(root: string): Promise<{ readonly bin: string; readonly log: string }> {
  const [bin, log, pids] = [join(root, 'bin'), join(root, 'log'), join(root, 'pids')];
  for (const folder of [bin, pids]) await mkdir(folder);
  const git = programFile('git');
  const count = `for one in '${pids}'/*; do kill -0 "\${one##*/}" 2>/dev/null && n=$((n+1)); done`;
  const text = `#!/bin/sh\n: >'${pids}'/$$\nn=0\n${count}\necho $n >>'${log}'\nsleep 0.1\nexec '${git ?? ''}' "$@"\n`;
  await writeFile(join(bin, 'git'), text);
  await chmod(join(bin, 'git'), 0o755);
  return { bin, log };
}

function explorerOf(place: GitPlace): ProjectExplorer {
  const roots = new AllowedRoots([place.projects], place.homeDir);
  const host = place.context;
  return new ProjectExplorer({
    opener: new PathOpener(roots),
    roots,
    activeProject: new ActiveProject(roots),
    git: new GitRunner(host),
    env: queryEnvironment(host),
    defaultDepth: 3,
  });
}

describe('many calls at once', () => {
  it('run at most 16 git processes, and all are answered', async () => {
    const root = await tempFolder();
    const { bin, log } = await countingGit(root);
    const place = await gitPlace({ gitFolder: bin });
    await place.write('a.txt', 'needle\n');
    // Repositories in a folder that is in none: each has rules of its own.
    for (let n = 0; n < 12; n++) {
      await mkdir(join(place.projects, 'many', `r${n}`), { recursive: true });
      await place.gitIn(join(place.projects, 'many', `r${n}`), 'init', '--quiet');
      await writeFile(join(place.projects, 'many', `r${n}`, 'file'), '');
    }
    await rm(log);
    const explorer = explorerOf(place);
    const calls: Promise<unknown>[] = [];
    for (let n = 0; n < 12; n++) {
      calls.push(place.service.status({ path: place.repo, signal: signal() }));
      calls.push(explorer.names({ path: place.repo }, signal()));
      calls.push(explorer.names({ path: join(place.projects, 'many') }, signal()));
      calls.push(explorer.search({ path: place.repo, query: 'needle' }, signal()));
    }
    await Promise.all(calls);
    const running = (await readFile(log, 'utf8')).trim().split('\n').map(Number);
    expect(running.length).toBeGreaterThan(MAX_AT_ONCE);
    expect(Math.max(...running)).toBeLessThanOrEqual(MAX_AT_ONCE);
  });

  it('wait in order, and a cancelled one is not started', async () => {
    const slots = new Slots(1);
    const first = await slots.take(never);
    const cancel = new AbortController();
    const begun: string[] = [];
    const cancelled = slots.take(cancel.signal).then(() => begun.push('cancelled'));
    const next = slots.take(never).then((slot) => {
      begun.push('next');
      return slot;
    });
    const last = slots.take(never).then(() => begun.push('last'));
    cancel.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
    first.dispose();
    (await next).dispose();
    await last;
    expect(begun).toEqual(['next', 'last']);
    await expect(slots.take(AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  });

  it('do not start git for a call that was cancelled while it waited', async () => {
    const place = await gitPlace();
    const gitWith = (stop: AbortSignal) => new GitAt(place.runner, { cwd: place.repo, signal: stop });
    const hold = new AbortController();
    setMaxListeners(0, hold.signal);
    const held = Array.from({ length: MAX_AT_ONCE }, () =>
      gitWith(hold.signal)
        .output(['-c', 'alias.hang=!sleep 600', 'hang'])
        .catch(() => 'ended'),
    );
    const cancel = new AbortController();
    const queued = gitWith(cancel.signal).output(['init', 'made']);
    cancel.abort(new Error('enough'));
    await expect(queued).rejects.toThrow('enough');
    hold.abort();
    await Promise.all(held);
    await expect(readFile(join(place.repo, 'made', '.git', 'HEAD'))).rejects.toThrow();
  });
});
