import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { systemCodeOf } from '../../../src/base/errors.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { SANDBOX_PROXY_LISTENS } from '../../harness/sandbox-proxy.js';
import { gitIn, repository, writeFiles } from '../../harness/project-files.js';
import { runs } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';
import { attack, KEPT, sandboxed, SECRET } from './sandboxed.js';

/** Git says so where there is no such file: a masked one cannot be read. */
const MASKED = /^warning: unable to access '\.gitattributes': Permission denied\n?/gm;
const COMMIT = 'git add -A && git -c user.name=a -c user.email=a@a.invalid commit -qm';
const STASH = 'git -c user.name=a -c user.email=a@a.invalid stash';

describeNewestClaude('a task in mode sandboxed', ({ binary }) => {
  it('the hosts of the settings are reached, and others are refused', async () => {
    const bridge = await startBridge({
      claude: binary,
      env: { MCP_SANDBOX_DOMAINS: 'named.invalid,*.below.invalid' },
      script: ['named', 'some.below', 'other'].map((name) =>
        runs(`${SANDBOX_PROXY_LISTENS}; curl -sS -m 5 http://${name}.invalid/`),
      ),
    });
    await attack(bridge);
    const [named, below, other] = bridge.told();
    // There is no such host: the proxy let the request through and found nobody.
    expect(named).toContain('Bad Gateway');
    expect(below).toContain('Bad Gateway');
    expect(other).toContain('blocked by network allowlist');
  });

  it('git sees and commits the files of the agent, and nothing that the sandbox masks', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [
        runs('mkdir -p src && echo made > src/made.txt && git status --porcelain'),
        runs(`${COMMIT} work && git show --format= --name-only HEAD`),
        runs(
          `echo more > more.txt; echo ignored > x.own; cd src; git status --porcelain; git add . ; ${STASH} -u -q`,
        ),
        runs(`${STASH} pop -q > /dev/null; cd ..; git add . && git status --porcelain`),
        { tools: [{ name: 'Write', input: { file_path: 'AGENTS.md', content: 'allowed' } }] },
        runs(`${COMMIT} real && git show --format= --name-only HEAD`),
      ],
    });
    await writeFiles(bridge.workplace.homeDir, { '.config/git/ignore': '*.own\n' });
    await repository(bridge.project, { 'a.txt': 'a', 'CLAUDE.md': KEPT, '.gitignore': '.env\n' });
    // Secrets that no ignore file names.
    await writeFiles(bridge.project, { 'deep/er/x.pem': SECRET, 'deep/er/[1].key': SECRET });
    const id = await bridge.start(sandboxed);
    expect((await bridge.answerNext(id, { verdict: 'allow' })).summary).toBe('Write(AGENTS.md)');
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    const printed = bridge.told().map((text) => text.replaceAll(MASKED, '').trim());
    expect(printed.slice(0, 4)).toEqual(['?? src/', 'src/made.txt', '?? more.txt', 'A  more.txt']);
    // What is made with a person's leave is a file as any other.
    expect(printed.at(-1)).toMatch(/AGENTS.md\nmore.txt$/);
    expect(gitIn(bridge.project, 'log', '--format=%s')).toBe('real\nwork\nfirst\n');
  });

  it('where a program is missing, or namespaces are switched off, it is refused with what mends it; the first answer names what is not mounted', async () => {
    const workplace = await createWorkplace();
    const env = { PATH: await programs(workplace.root, ['bwrap', 'socat']) };
    const bridge = await startBridge({ claude: binary, workplace, env });
    const task = { prompt: 'Go.', path: bridge.project, permission_mode: 'sandboxed' };
    const both = await bridge.refusal('start_task', task);
    expect(both).toMatch(/^SANDBOX_UNAVAILABLE: .*Missing on PATH: bwrap, socat/);
    expect(both).toContain('sudo apt install bubblewrap socat');
    await symlink('/bin/true', join(env.PATH, 'bwrap'));
    expect(await bridge.refusal('start_task', task)).toContain('Missing on PATH: socat');
    await symlink('/bin/true', join(env.PATH, 'socat'));
    await rm(join(env.PATH, 'bwrap'));
    const said = 'bwrap: setting up uid map: Permission denied';
    await writeFile(join(env.PATH, 'bwrap'), `#!/bin/sh\necho '${said}' >&2\nexit 1\n`, { mode: 0o755 });
    expect(await bridge.refusal('start_task', task)).toContain(`bwrap cannot create a sandbox: ${said}`);
    expect(await bridge.call('list_tasks')).toMatchObject({ tasks: [] });
    // A system that allows a sandbox, but no mount over the folder that other sessions share.
    const refusing = '[ "$1" != --dev-bind ] || exit 1\nexec /usr/bin/bwrap "$@"';
    await writeFile(join(env.PATH, 'bwrap'), `#!/bin/sh\n${refusing}\n`, { mode: 0o755 });
    const shared = join(bridge.env['TMPDIR'] ?? '/tmp', `claude-${process.getuid?.() ?? 0}`);
    expect(await bridge.call('start_task', task)).toMatchObject({
      message: expect.stringContaining(
        `Commands of this task can write ${shared}, where your other sessions`,
      ),
    });
  });
});

/** A folder for PATH with all programs of this machine but some. */
async function programs(root: string, without: readonly string[]): Promise<string> {
  const folder = join(root, 'programs');
  await mkdir(folder);
  for (const from of ['/usr/bin', '/bin', dirname(process.execPath)]) {
    for (const name of await readdir(from)) {
      if (without.includes(name) || existsSync(join(folder, name))) continue;
      await symlink(join(from, name), join(folder, name)).catch((error: unknown) => {
        // A link that leads nowhere, under a name that is taken.
        if (systemCodeOf(error) !== 'EEXIST') throw error;
      });
    }
  }
  return folder;
}
