// docs/checks.md: in mode sandboxed a check runs in the sandbox of its task, or not at all.
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { gitIn, repository, writeFiles } from '../../harness/project-files.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { KEPT, sandboxed, SECRET } from './sandboxed.js';

const outputOf = async (bridge: TestBridge, id: string, at: number, folder = 'checks'): Promise<string> =>
  readFile(join(bridge.workplace.stateDir, 'tasks', id, folder, `${at}.txt`), 'utf8');

/** Runs a task with these checks to its end; its id, and what the checks printed. */
async function checked(bridge: TestBridge, commands: readonly string[], more: object = {}) {
  const checks = commands.map((command, at) => ({ name: `c${at}`, command, timeout_seconds: 60 }));
  const id = await bridge.start({ ...sandboxed, checks, ...more });
  expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
  const { checks: found } = await bridge.call('get_task_result', { task_id: id });
  const printed = await Promise.all(commands.map((_, at) => outputOf(bridge, id, at + 1).catch(() => '')));
  return { id, found, printed };
}

describeNewestClaude('checks in mode sandboxed', ({ binary }) => {
  it('run with exit codes of their own, write into the project, and know a temporary folder', async () => {
    const bridge = await startBridge({ claude: binary, script: [says('Done.')] });
    await repository(bridge.project, { 'a.txt': 'a\n' });
    const { found } = await checked(bridge, [
      'true',
      'exit 1',
      'exit 3',
      'exit 200',
      'no-such-program',
      'echo made > made.txt; echo x > "$TMPDIR/x"; [ "$(git status --porcelain)" = "?? made.txt" ]',
    ]);
    expect(found).toMatchObject({
      results: [
        { verdict: 'met' },
        { verdict: 'not met', why: 'exit code 1' },
        { verdict: 'not met', why: 'exit code 3' },
        { verdict: 'not met', why: 'exit code 202' },
        { verdict: 'not run', why: 'the shell did not find the command (exit code 127)' },
        { verdict: 'met', left_changed: ['made.txt'] },
      ],
    });
    expect(await bridge.read('made.txt')).toBe('made\n');
  });

  it('read no secret, under no name', async () => {
    const bridge = await startBridge({ claude: binary, script: [says('Done.')] });
    await writeFiles(bridge.project, { '.env': SECRET, 'sub/.env': SECRET, 'sub/deep/key.pem': SECRET });
    await symlink('.env', join(bridge.project, 'to-env'));
    await writeFiles(bridge.workplace.homeDir, { '.ssh/id_rsa': SECRET });
    const { printed } = await checked(bridge, [
      'cat .env sub/.env sub/deep/key.pem "$HOME/.ssh/id_rsa"; head -c 99 < .env; grep -r LEAKED .; python3 -c "print(open(\'.env\').read())"; true',
      'cp .env copy; cat copy; ln .env hard; cat hard; ln -s .env soft; cat soft; tar cf - . | tr -d "\\0"; dd if=.env; cat to-env; true',
      'mv sub other; cat other/.env; mv .env visible; cat visible; cat /proc/1/root/proc/self/root"$PWD"/.env; cat /proc/*/environ | tr "\\0" "\\n"; true',
    ]);
    const all = printed.join('\n');
    expect(all).toContain('ermission denied');
    expect(all).not.toContain(SECRET);
    expect(all).not.toMatch(/sk-ant|HOOK_TOKEN=/);
  });

  it('write nothing that runs or instructs later, and nothing outside, and reach and signal nothing', async () => {
    const listener = createServer((socket) => socket.end('REACHED'));
    const bridge = await startBridge({ claude: binary, script: [says('Done.')] });
    const socketPath = join(bridge.workplace.root, 'run', 'some.sock');
    listener.listen(socketPath);
    await once(listener, 'listening');
    onTestFinished(() => void listener.close());
    const live = [
      'CLAUDE.md',
      '.claude/settings.json',
      '.claude/rules/a.md',
      '.github/workflows/a.yml',
      '.mcp.json',
    ];
    const content = (name: string): string => (name.endsWith('.json') ? '{}' : KEPT);
    await writeFiles(bridge.project, Object.fromEntries(live.map((name) => [name, content(name)])));
    const missing = [
      'AGENTS.md',
      '.envrc',
      '.husky/pre-commit',
      '.vscode/tasks.json',
      '.claude/settings.local.json',
    ];
    missing.push('.claude/skills/x/SKILL.md', '.claude/agents/x.md', '.claude/commands/x.md');
    gitIn(bridge.project, 'init', '-q');
    const config = await bridge.read('.git/config');
    const hooks = await readdir(join(bridge.project, '.git/hooks'));
    const { port } = new URL(bridge.api.url);
    const connect = (family: string, where: string): string =>
      `python3 -c "import socket; s = socket.socket(socket.${family}); s.connect(${where}); print(s.recv(9))"`;
    const { printed } = await checked(bridge, [
      `for f in ${[...live, ...missing].join(' ')}; do mkdir -p "$(dirname $f)"; echo EVIL > $f; echo EVIL > x; mv -f x $f; ln -sf x $f; rm -f $f; done; for f in .git .claude .github; do mv $f moved; mkdir $f && echo EVIL > $f/CLAUDE.md; done; true`,
      'git config core.fsmonitor evil; echo EVIL >> .git/config; echo EVIL > .git/hooks/pre-commit; mkdir -p .git/modules/x; echo EVIL > .git/config.worktree; mkdir -p evil; echo ../evil > .git/commondir; mv evil .git/commondir; true',
      'unshare -Ur sh -c "umount CLAUDE.md .git/hooks .git/config; mount -t tmpfs t .git; echo EVIL > CLAUDE.md"; true',
      'for f in "$HOME/x" /tmp/x-of-a-check /var/tmp/x-of-a-check ../x "$HOME/.claude/settings.json" "$HOME/.bashrc"; do echo EVIL > "$f"; done; ln -s /tmp t; echo EVIL > t/evil-of-a-check; true',
      `${connect('AF_UNIX', `'${socketPath}'`)}; ${connect('AF_INET', `('127.0.0.1', ${port})`)}; curl -sS -m 5 --noproxy "*" http://127.0.0.1:${port}; curl -sS -m 5 http://127.0.0.1:${port}; curl -sS -m 5 http://example.com; true`,
      `kill -9 ${process.pid}; kill -9 ${process.ppid}; cat /proc/${process.pid}/environ; ls /proc | grep -c '^[0-9]'; true`,
    ]);
    for (const name of live) expect([name, await bridge.read(name)]).toEqual([name, content(name)]);
    for (const name of missing.filter(bridge.has))
      expect([name, await bridge.read(name)]).toEqual([name, '']);
    expect(await bridge.read('.git/config')).toBe(config);
    expect(await readdir(join(bridge.project, '.git/hooks'))).toEqual(hooks);
    expect(['.git/commondir', '.git/modules/x'].filter(bridge.has)).toEqual([]);
    if (bridge.has('.git/config.worktree')) expect(await bridge.read('.git/config.worktree')).toBe('');
    const { homeDir, projectsDir } = bridge.workplace;
    const places = [join(homeDir, 'x'), join(projectsDir, 'x'), '/tmp/x-of-a-check', '/var/tmp/x-of-a-check'];
    expect([...places, '/tmp/evil-of-a-check'].filter((place) => existsSync(place))).toEqual([]);
    expect(printed.join('\n')).not.toMatch(/REACHED|message_start/);
    expect(printed.at(-1)).toMatch(/^\d\d?$/m);
  });

  it('read nothing that a rule denies, once a person has allowed them', async () => {
    const denied = ['Read(./private/**)', 'Read(*.hidden)'].map((rule) => ({
      ...{ rule, verdict: 'deny', reason: 'Private.' },
    }));
    const bridge = await startBridge({
      claude: binary,
      env: { MCP_RULES: JSON.stringify(denied) },
      script: [says('Done.')],
    });
    await writeFiles(bridge.project, { 'private/a.txt': SECRET, 'sub/b.hidden': SECRET, 'c.txt': 'seen' });
    const command = 'cat private/a.txt sub/b.hidden c.txt; true';
    const id = await bridge.start({ ...sandboxed, checks: [{ name: 'reads', command }] });
    const { decision_id } = await bridge.decision(id);
    await bridge.command(['tasks', 'answer', id, decision_id, 'allow']);
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    const printed = await outputOf(bridge, id, 1);
    expect(printed).toContain('seen');
    expect(printed).not.toContain(SECRET);
  });

  it('in a worktree have what was installed in its project, which they do not write, and git works', async () => {
    const bridge = await startBridge({ claude: binary, script: [says('Done.')] });
    await repository(bridge.project, { '.gitignore': 'node_modules/\n' });
    await writeFiles(bridge.project, { 'node_modules/x.txt': KEPT, 'main.txt': KEPT });
    const config = await bridge.read('.git/config');
    const commit = 'git add a.txt && git -c user.name=a -c user.email=a@a.invalid commit -qm fine';
    const { id, found } = await checked(
      bridge,
      [
        'grep -q was node_modules/x.txt',
        `echo a > a.txt && ${commit}`,
        `echo EVIL > node_modules/x.txt || echo EVIL > ${join(bridge.project, 'main.txt')}`,
        `g=${bridge.project}/.git; w=$g/worktrees/$(basename "$PWD"); echo EVIL > .git; echo EVIL >> $g/config; echo EVIL > $g/hooks/post-commit; echo EVIL > $w/commondir; echo EVIL > $g/commondir; echo EVIL > $w/config.worktree; mv $w $w-x; mv $g $g-x; git config core.fsmonitor evil; false`,
      ],
      { on_conflict: 'always_worktree' },
    );
    expect(found).toMatchObject({ linked: ['node_modules'], results: [{}, {}, { verdict: 'not met' }, {}] });
    expect(found).toMatchObject({ summary: '2 of 4 checks met' });
    expect(await bridge.read('.git/config')).toBe(config);
    expect(['.git/hooks/post-commit', '.git/commondir'].filter(bridge.has)).toEqual([]);
    expect(await bridge.read('node_modules/x.txt')).toBe(KEPT);
    expect(await bridge.read('main.txt')).toBe(KEPT);
    expect(gitIn(join(bridge.project, '.claude', 'worktrees', id), 'log', '-1', '--format=%s')).toBe(
      'fine\n',
    );
  });

  it('are ended at their limit with all that they started', async () => {
    const bridge = await startBridge({ claude: binary, script: [says('Done.')] });
    const checks = [{ name: 'slow', command: 'setsid sleep 100 & sleep 100', timeout_seconds: 2 }];
    const id = await bridge.start({ ...sandboxed, checks });
    await bridge.end(id);
    expect((await bridge.call('get_task_result', { task_id: id })).checks).toMatchObject({
      results: [{ verdict: 'not met', why: 'it ran longer than 2 s and was ended' }],
    });
    // What is left of the task fails the test when the bridge is closed.
    await bridge.onlyServer();
  });

  it('in a clean copy they write into the copies alone, and read no secret of the project', async () => {
    const bridge = await startBridge({
      claude: binary,
      env: { MCP_TOOLSETS: 'tasks,checks' },
      script: [runs('echo b > b.txt'), says('Done.')],
    });
    await repository(bridge.project, { 'a.txt': 'a\n', '.gitignore': 'node_modules/\n' });
    await writeFiles(bridge.project, { '.env': SECRET, 'node_modules/x/index.js': 'x' });
    gitIn(bridge.project, 'add', '-f', '.env');
    gitIn(bridge.project, 'commit', '-qm', 'a secret');
    const command = `cat .env ${join(bridge.project, '.env')}; case $PWD in */after) cat node_modules/x/index.js; echo EVIL > node_modules/x/index.js; echo EVIL > ${bridge.project}/a.txt;; esac; echo x > "$TMPDIR/x" && echo fine > fine.txt; ls`;
    const { id } = await checked(bridge, [command]);
    const found = await bridge.call('verify_task', { task_id: id });
    expect(found).toMatchObject({ checks: { summary: '1 check met' } });
    const printed = await outputOf(bridge, id, 1, 'verified');
    expect(printed).not.toContain(SECRET);
    expect(printed).toContain('fine.txt');
    expect(await bridge.read('node_modules/x/index.js')).toBe('x');
    expect(await bridge.read('a.txt')).toBe('a\n');
  });

  it('what makes the sandbox is no program that a command wrote', async () => {
    const bin = join(tmpdir(), `bin-${process.pid}`);
    const marks = `${bin}-ran`;
    const fakes = `mkdir -p bin; for p in bwrap which socat; do printf '#!/bin/sh\\necho %s >> ${marks}\\nexec /usr/bin/%s "$@"\\n' $p $p > bin/$p; chmod +x bin/$p; done`;
    const bridge = await startBridge({
      claude: binary,
      env: { MCP_TOOLSETS: 'tasks,checks', PATH: `${bin}:${process.env['PATH']}` },
      script: [runs(fakes), runs('true'), says('Done.')],
    });
    await repository(bridge.project, { 'a.txt': 'a\n' });
    await writeFiles(bridge.project, { 'bin/x': '' });
    await symlink(join(bridge.project, 'bin'), bin);
    onTestFinished(async () => {
      for (const one of [bin, marks]) await rm(one, { force: true });
    });
    const { id, found } = await checked(bridge, ['[ -x bin/bwrap ]']);
    expect(found).toMatchObject({ summary: '1 check met' });
    expect(await bridge.call('verify_task', { task_id: id })).toMatchObject({
      checks: { summary: '1 check met' },
    });
    expect(existsSync(marks)).toBe(false);
  });

  it('in a clean copy wait for a person, too, while a rule of the project denies', async () => {
    const bridge = await startBridge({
      claude: binary,
      env: { MCP_TOOLSETS: 'tasks,checks' },
      script: [runs('echo b > b.txt'), says('Done.')],
    });
    const settings = JSON.stringify({ permissions: { deny: ['Read(./private/**)'] } });
    await repository(bridge.project, { 'a.txt': 'a\n', '.claude/settings.json': settings });
    const id = await bridge.start({ ...sandboxed, checks: [{ name: 'c', command: 'true' }] });
    const { decision_id } = await bridge.decision(id);
    await bridge.command(['tasks', 'answer', id, decision_id, 'deny']);
    await bridge.end(id);
    expect(await bridge.call('verify_task', { task_id: id })).toMatchObject({
      checks: { summary: '0 of 1 check met', results: [{ verdict: 'not run' }] },
    });
  });
});
