import { execFileSync } from 'node:child_process';
import { access, appendFile, chmod, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testedGits } from '../../harness/gits.js';
import { repository } from '../../harness/project-files.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

describe.each(testedGits())('a task in a worktree of a hostile repository, by $version', ({ folder }) => {
  it('and all that is asked about it run nothing of the repository', async () => {
    const path = [folder, process.env['PATH']].filter(Boolean).join(delimiter);
    const bridge = await startBridge({ claude: scriptedAgent, env: { PATH: path } });
    const { project } = bridge;
    await repository(project);
    const [canary, program] = [join(bridge.env['HOME'] ?? '', 'canary'), join(project, '.git', 'program')];
    await writeFile(program, `#!/bin/sh\necho "$*" >>'${canary}'\ncat\n`);
    await chmod(program, 0o755);
    const hooks = ['post-checkout', 'post-index-change', 'post-merge', 'reference-transaction'].map(
      (event) => `[hook "x-${event}"]\n\tevent = ${event}\n\tcommand = ${program} ${event}\n`,
    );
    await appendFile(
      join(project, '.git', 'config'),
      `${hooks.join('')}[core]\n\tfsmonitor = ${program}\n[diff]\n\texternal = ${program}\n[merge "evil"]\n\tdriver = ${program}\n`,
    );
    await writeFile(join(project, '.git', 'info', 'attributes'), '* merge=evil\n');
    const first = await bridge.agent('never-exits');
    for (const action of ['merge', 'apply', 'discard'] as const) {
      const task_id = await bridge.agent('exit 0', { on_conflict: 'worktree' });
      expect(await bridge.end(task_id)).toMatchObject({ status: 'completed' });
      await writeFile(join(project, '.claude', 'worktrees', task_id, `${action}.txt`), 'work\n');
      expect(await bridge.call('git_status', { path: project })).toMatchObject({ branch: 'main' });
      await bridge.call('git_diff', { path: project });
      await bridge.call('search_files', { path: project, query: 'one' });
      const { reviewed } = await bridge.call('get_task_result', { task_id });
      expect(await bridge.call('finish_task', { task_id, action, reviewed })).toMatchObject({ action });
    }
    await bridge.call('kill_task', { task_id: first });
    await expect(access(canary)).rejects.toThrow('ENOENT');
    execFileSync('git', ['status'], { cwd: project, env: { ...bridge.env, PATH: path } });
    await access(canary);
  });
});
