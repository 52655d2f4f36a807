import { readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { gitIn, repository, writeFiles } from '../../harness/project-files.js';
import { runs } from '../../harness/scripted-turns.js';
import { until } from '../../harness/until.js';
import { attack, KEPT, sandboxed, scriptedBridge, SECRET } from './sandboxed.js';

/** Makes a folder that git may take for a repository whose config starts a program. */
const EVIL_REPOSITORY =
  "mkdir -p evil/objects evil/refs; printf 'ref: refs/heads/main\\n' > evil/HEAD; printf '[core]\\n\\tfsmonitor = evil\\n' > evil/config";

describeNewestClaude('what lies around the project of a sandbox', ({ binary }) => {
  it('logins and other secrets of the home directory and of .claude are not read', async () => {
    const home = [
      ...['.claude/.credentials.json', '.cargo/credentials.toml', '.m2/settings.xml', '.bash_history'],
      ...['mykey.pem', '.env.production', '.local/share/keyrings/login.keyring'],
    ];
    const project = ['.claude/.env', '.claude/sub/secrets/x'];
    const { bridge, script } = await scriptedBridge(binary);
    await writeFiles(bridge.workplace.homeDir, Object.fromEntries(home.map((name) => [name, SECRET])));
    await writeFiles(bridge.project, Object.fromEntries(project.map((name) => [name, SECRET])));
    script.push(runs(`cat ${[...home.map((name) => `"$HOME/${name}"`), ...project].join(' ')}; true`));
    await attack(bridge);
    const told = bridge.told().join('\n');
    // A masked folder is empty.
    expect(told.match(/denied|No such file/g)).toHaveLength(home.length + project.length);
    expect(told).not.toContain(SECRET);
  });

  it('worktrees and files of other tasks, hooks that the config names, and modules are not written', async () => {
    const { bridge, script } = await scriptedBridge(binary);
    const app = bridge.project;
    await repository(app);
    gitIn(app, 'config', 'include.path', '../team.inc');
    await writeFiles(app, { 'team.inc': '[include]\n\tpath = more.inc\n' });
    await repository(join(app, 'lib/repo'));
    const hooks = 'lib/repo/.git/hooks';
    await rm(join(app, hooks), { recursive: true });
    const live = [
      ...['.claude/worktrees/other/CLAUDE.md', '.claude/worktrees/other/.git', '.claude/statusline.sh'],
      ...['.claude/sub/CLAUDE.md', 'scripts/hooks/pre-commit'],
    ];
    await writeFiles(app, Object.fromEntries(live.map((name) => [name, KEPT])));
    await writeFiles(app, { 'more.inc': '[core]\n\thooksPath = scripts/hooks\n' });
    const made = ['.claude/worktrees/other/.claude/settings.json', '.claude/worktrees/new/CLAUDE.md'];
    const modules = '.git/modules/vendor/lib/config';
    const names = [...live, ...made, modules, 'more.inc', `${hooks}/post-checkout`];
    const tries = names.map((name) => `mkdir -p "$(dirname ${name})"; echo EVIL > ${name}; rm -f ${name}`);
    script.push(
      runs(`${tries.join('; ')}; true`),
      runs('mv .claude/mcp-logs moved; rm -rf .claude/mcp-logs; ln -s /tmp .claude/mcp-logs; true'),
    );
    await attack(bridge);
    for (const name of live) expect([name, await bridge.read(name)]).toEqual([name, KEPT]);
    expect([...made, modules, '.git/modules', hooks].filter(bridge.has)).toEqual([]);
    expect(await readdir(join(app, '.claude/mcp-logs'))).toContain('.gitignore');
    expect(await bridge.read('more.inc')).toContain('scripts/hooks');
  });

  it('a project without a repository gets none, and no file is read for git outside of the sandbox', async () => {
    const { bridge, script } = await scriptedBridge(binary);
    await writeFiles(bridge.workplace.homeDir, { '.ssh/id_rsa': SECRET });
    await symlink('/dev/null', join(bridge.project, 'z'));
    const excludes = 'cat "$CLAUDE_CODE_TMPDIR"/../git-excludes-* "$CLAUDE_CODE_TMPDIR"/git-excludes-*; true';
    const outside = { command: 'echo innocent', description: 'x', dangerouslyDisableSandbox: true };
    script.push(
      runs(
        'git init -q; git config core.fsmonitor evil; mkdir new; cd new; git init -q; git config core.excludesFile "$HOME/.ssh/id_rsa"; ln -s /dev/null z; true',
      ),
      runs('cd new; git config --get core.excludesFile'),
      { tools: [{ name: 'Bash', input: outside }] },
      runs(excludes),
    );
    const id = await bridge.start(sandboxed);
    await bridge.answerNext(id, { verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(bridge.has('.git')).toBe(false);
    script.push(runs(excludes));
    await attack(bridge, { driver: 'interactive', continue_from: id });
    expect(bridge.told().join('\n')).toContain('innocent');
    expect(bridge.told().join('\n')).not.toContain(SECRET);
  });

  it('what two tasks hold in one repository stays held until both have ended', async () => {
    const { bridge, script } = await scriptedBridge(binary);
    const app = bridge.project;
    await repository(app);
    script.push(runs('touch first; sleep 300'));
    const first = await bridge.start(sandboxed);
    await bridge.untilHas('first');
    script.push(
      runs(
        `${EVIL_REPOSITORY}; touch second; for i in $(seq 200); do echo "$PWD/evil" > ${app}/.git/commondir; [ -e third ] && break; sleep .1; done; true`,
      ),
    );
    const second = await bridge.start({ ...sandboxed, on_conflict: 'worktree' });
    await bridge.untilHas(`.claude/worktrees/${second}/second`);
    await bridge.call('kill_task', { task_id: first });
    const held = await bridge.read('.git/commondir');
    await writeFile(join(app, '.claude/worktrees', second, 'third'), '');
    expect(await bridge.end(second)).toMatchObject({ status: 'completed' });
    expect(held).toBe('.\n');
    await until('it is held no more', () => !bridge.has('.git/commondir'));
    expect(await readdir(join(bridge.workplace.stateDir, 'sandboxes'))).toEqual([]);
  });

  it('a worktree that another task gets while the sandbox runs is not written', async () => {
    const { bridge, script } = await scriptedBridge(binary);
    await repository(bridge.project);
    script.push(
      runs(
        'for i in $(seq 150); do ls .claude/worktrees/task_* >/dev/null 2>&1 && break; sleep .1; done; for w in .claude/worktrees/task_*; do mkdir -p $w/.claude; echo EVIL > $w/CLAUDE.md; echo EVIL > $w/.claude/settings.json; done; true',
      ),
    );
    const first = await bridge.start(sandboxed);
    await until('the command is asked for', () => script.length === 0);
    const second = await bridge.start({ on_conflict: 'worktree' });
    for (const id of [first, second]) expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(bridge.told().join('\n')).toContain('Read-only file system');
    const worktree = `.claude/worktrees/${second}`;
    expect([`${worktree}/CLAUDE.md`, `${worktree}/.claude/settings.json`].filter(bridge.has)).toEqual([]);
  });
});
