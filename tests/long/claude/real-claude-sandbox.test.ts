import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { systemCodeOf } from '../../../src/base/errors.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { SANDBOX_PROXY_LISTENS } from '../../harness/sandbox-proxy.js';
import { writeFiles } from '../../harness/project-files.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

const drivers = ['interactive', 'print'] as const;

/** What each command of the session printed, in order. */
function printed({ api }: TestBridge): string[] {
  return api.requests
    .filter(({ kind }) => kind === 'turn')
    .flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
}

describeNewestClaude('a task in mode sandboxed', ({ binary }) => {
  it.each(drivers)(
    'its commands run without a question, and reach neither secrets nor what runs later nor the world outside (%s)',
    async (driver) => {
      const bridge = await startBridge({
        claude: binary,
        script: [
          runs('for name in made; do echo "$name" > "$name.txt"; done'),
          runs(
            'cat .env; python3 -c "print(open(\'.env\').read())"; cat "$HOME/.aws/credentials" "$HOME/../state/board/door.key"; echo read',
          ),
          runs('echo planted > CLAUDE.md; mkdir -p .github; echo planted > "$HOME/outside"; echo written'),
          runs('env; echo told'),
          says('All done.'),
        ],
      });
      await writeFiles(bridge.project, { '.env': 'LEAKED', 'CLAUDE.md': 'as it was' });
      await writeFiles(bridge.workplace.homeDir, { '.aws/credentials': 'LEAKED' });
      await bridge.call('list_tasks', {});
      await writeFiles(bridge.workplace.stateDir, { 'board/door.key': 'LEAKED' });
      const id = await bridge.start({
        prompt: 'Go.',
        path: bridge.project,
        permission_mode: 'sandboxed',
        driver,
      });
      expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All done.' });
      const [, read, , told] = printed(bridge);
      expect(await readFile(join(bridge.project, 'made.txt'), 'utf8')).toBe('made\n');
      expect(read).toMatch(/denied[^]*read/);
      expect(read).not.toContain('LEAKED');
      expect(await readFile(join(bridge.project, 'CLAUDE.md'), 'utf8')).toBe('as it was');
      expect(existsSync(join(bridge.workplace.homeDir, 'outside'))).toBe(false);
      expect(existsSync(join(bridge.project, '.github'))).toBe(false);
      expect(told).toContain('CLAUDE_CODE_BRIDGE_MARK=');
      expect(told).not.toMatch(/ANTHROPIC_API_KEY|HOOK_TOKEN=/);
    },
  );

  it.each(drivers)('a command that is to run outside is asked as a decision (%s)', async (driver) => {
    const outside = (name: string) => ({
      tools: [
        {
          name: 'Bash',
          input: { command: `touch "$HOME/${name}"`, description: 'x', dangerouslyDisableSandbox: true },
        },
      ],
    });
    const bridge = await startBridge({
      claude: binary,
      script: [outside('denied'), outside('allowed'), says('Done.')],
    });
    const id = await bridge.start({
      prompt: 'Go.',
      path: bridge.project,
      permission_mode: 'sandboxed',
      driver,
    });
    const asked = await bridge.answerNext(id, { verdict: 'deny' });
    expect(asked.summary).toContain(`Bash, outside of the sandbox(touch "$HOME/denied")`);
    await bridge.answerNext(id, { verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(existsSync(join(bridge.workplace.homeDir, 'denied'))).toBe(false);
    expect(existsSync(join(bridge.workplace.homeDir, 'allowed'))).toBe(true);
  });

  it.each(drivers)('no host is reached without a setting, and nothing is asked (%s)', async (driver) => {
    const bridge = await startBridge({
      claude: binary,
      script: [
        runs(
          `${SANDBOX_PROXY_LISTENS}; curl -sS -m 5 http://asked.invalid/; curl -sS -m 5 "$ANTHROPIC_BASE_URL"`,
        ),
        says('Done.'),
      ],
    });
    const id = await bridge.start({
      prompt: 'Go.',
      path: bridge.project,
      permission_mode: 'sandboxed',
      driver,
    });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(printed(bridge)[0]).toContain('blocked by network allowlist');
  });

  it('the hosts of the settings are reached, and others are refused', async () => {
    const bridge = await startBridge({
      claude: binary,
      env: { MCP_SANDBOX_DOMAINS: 'named.invalid,*.below.invalid' },
      script: ['named', 'some.below', 'other'].map((name) =>
        runs(`${SANDBOX_PROXY_LISTENS}; curl -sS -m 5 http://${name}.invalid/`),
      ),
    });
    const id = await bridge.start({
      prompt: 'Go.',
      path: bridge.project,
      permission_mode: 'sandboxed',
      driver: 'print',
    });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    const [named, below, other] = printed(bridge);
    // There is no such host: the proxy let the request through and found nobody.
    expect(named).toContain('Bad Gateway');
    expect(below).toContain('Bad Gateway');
    expect(other).toContain('blocked by network allowlist');
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
