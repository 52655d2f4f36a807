import { chmod, chown, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allChecks } from '../../../src/doctor/all-checks.js';
import type { DoctorParts, DoctorPlace } from '../../../src/doctor/check.js';
import type { Entry } from '../../../src/doctor/report.js';
import { runChecks } from '../../../src/doctor/run-checks.js';
import { sampleMachine, type SampleMachine } from '../../doctor/sample-machine.js';

interface Fault {
  readonly name: string;
  readonly check: string;
  readonly breaks: (machine: SampleMachine) => Promise<Partial<DoctorPlace & DoctorParts> | void>;
  /** Part of the summary or of a detail. */
  readonly says: RegExp;
  readonly command: RegExp;
  /** Runs the command, with `EDITOR` writing the settings of a healthy machine; then the doctor is content. */
  readonly mends?: true;
}

const isRoot = process.getuid?.() === 0;

const faults: readonly Fault[] = [
  {
    name: 'a shell for terminals that is not there',
    check: 'terminal',
    breaks: (machine) => withSettings(machine, { shell: '/no/such/shell' }),
    says: /The shell of terminals \(setting shell\) cannot be used/,
    command: /config\.json$/,
    mends: true,
  },
  {
    name: 'no git',
    check: 'git',
    breaks: ({ bin }) => rm(join(bin, 'git')),
    says: /git was not found/,
    command: /install.* git$/,
  },
  {
    name: 'a git that does not start',
    check: 'git',
    breaks: ({ bin, script }) => script(join(bin, 'git'), `echo 'xcrun: error: invalid path' >&2; exit 1`),
    says: /git does not work: xcrun: error: invalid path/,
    command: /install.* git$/,
  },
  {
    name: 'an old git',
    check: 'git',
    breaks: ({ bin, script }) => script(join(bin, 'git'), `echo 'git version 2.25.1'`),
    says: /git version 2\.25\.1 is old/,
    command: /install.* git$/,
  },
  {
    name: 'settings that are no JSON',
    check: 'settings-file',
    breaks: ({ settingsFile }) => writeFile(settingsFile, '{ "allowed_roots": [ }'),
    says: /config\.json:1: column \d+: broken JSON/,
    command: /^\$\{EDITOR:-vi\} .*config\.json$/,
    mends: true,
  },
  {
    name: 'a variable that holds no setting',
    check: 'settings-file',
    breaks: (machine) => withEnv(machine, { MCP_DEFAULT_TIMEOUT: 'soon' }),
    says: /environment variable MCP_DEFAULT_TIMEOUT/,
    command: /^unset MCP_DEFAULT_TIMEOUT$/,
  },
  {
    name: 'settings that everybody may write',
    check: 'settings-file',
    breaks: ({ settingsFile }) => chmod(settingsFile, 0o666),
    says: /is writable by every user/,
    command: /^chmod o-w /,
    mends: true,
  },
  {
    name: 'no allowed roots',
    check: 'allowed-roots',
    breaks: (machine) => withSettings(machine, { allowed_roots: [] }),
    says: /No allowed roots are set/,
    command: /^mkdir -p ~\/Projects && claude-code-bridge init --roots /,
  },
  {
    name: 'an allowed root that does not exist',
    check: 'allowed-roots',
    breaks: ({ project }) => rm(project, { recursive: true }),
    says: /app does not exist/,
    command: /^mkdir -p .*app$/,
    mends: true,
  },
  {
    name: 'no Claude Code',
    check: 'claude-found',
    breaks: ({ claude }) => rm(claude),
    says: /'claude' was not found on PATH \(.*\) or where Claude Code installs itself/,
    command: /^npm install -g @anthropic-ai\/claude-code$/,
  },
  {
    name: 'a Claude Code that does not start',
    check: 'claude-version',
    breaks: ({ claude, script }) =>
      script(
        claude,
        `[ "$2" = status ] && exec cat "$HOME/claude-login"; echo 'claude native binary not installed'; exit 1`,
      ),
    says: /--version prints no version of Claude Code/,
    command: /--version \|\| npm install -g @anthropic-ai\/claude-code$/,
  },
  {
    name: 'a Claude Code that is too old',
    check: 'claude-version',
    breaks: ({ home }) => writeFile(join(home, 'claude-version'), '2.0.14\n'),
    says: /Claude Code 2\.0\.14 is too old: the bridge needs 2\.1\.330/,
    command: /claude update$/,
    mends: true,
  },
  {
    name: 'a Claude Code that is not logged in',
    check: 'claude-login',
    breaks: ({ home }) => writeFile(join(home, 'claude-login'), '{"loggedIn":false,"authMethod":"none"}'),
    says: /not logged in/,
    command: /claude auth login$/,
    mends: true,
  },
  {
    name: 'hooks to other addresses alone, in large settings behind a byte order mark',
    check: 'hooks',
    breaks: ({ claudeSettings }) => {
      const settings = { allowedHttpHookUrls: ['https://example.com/*'], note: 'x'.repeat(3_000_000) };
      return writeFile(claudeSettings, `\ufeff${JSON.stringify(settings)}`);
    },
    says: /does not allow hooks to http:\/\/127\.0\.0\.1 \(allowedHttpHookUrls\)/,
    command: /^\$\{EDITOR:-vi\} .*\.claude\/settings\.json$/,
  },
  {
    name: 'a company policy that allows only its own hooks',
    check: 'hooks',
    breaks: ({ policies }) => writeFile(policies, '{ "allowManagedHooksOnly": true }'),
    says: /allows only the hooks of an administrator \(allowManagedHooksOnly\)/,
    command: /^sudo \$\{EDITOR:-vi\} .*policies\.json$/,
  },
  {
    name: 'settings of Claude Code that are no JSON',
    check: 'hooks',
    breaks: ({ claudeSettings }) => writeFile(claudeSettings, '{ "hooks": '),
    says: /Claude Code cannot use its settings/,
    command: /^\$\{EDITOR:-vi\} .*\.claude\/settings\.json$/,
  },
  {
    name: 'a state directory that others can enter',
    check: 'state-directory',
    breaks: ({ stateDir }) => chmod(stateDir, 0o755),
    says: /The state directory .* has the mode 0755/,
    command: /^chmod 700 /,
    mends: true,
  },
  {
    name: 'a state directory that is a file',
    check: 'state-directory',
    breaks: async ({ stateDir }) => {
      await rm(stateDir, { recursive: true });
      await writeFile(stateDir, '');
    },
    says: /is a file, not a folder/,
    command: /^mv .* .*\.aside$/,
    mends: true,
  },
  {
    name: 'no client that knows the bridge',
    check: 'clients',
    breaks: ({ clientSettings }) => writeFile(clientSettings, '{}'),
    says: /No chat client that was found here knows the bridge/,
    command: /^claude-code-bridge init --client claude-code$/,
  },
  {
    name: 'a client that reads no comments, with a comment in its settings',
    check: 'clients',
    breaks: ({ clientSettings }) => writeFile(clientSettings, '{\n  // mine\n  "mcpServers": {}\n}\n'),
    says: /line 2: .*Claude Code reads JSON without comments/,
    command: /^\$\{EDITOR:-vi\} .*\.claude\.json$/,
  },
  {
    name: 'a client that starts a program which is gone',
    check: 'clients',
    breaks: ({ clientSettings, project }) => {
      const server = { command: 'node', args: [join(project, 'dist', 'main.js')] };
      return writeFile(clientSettings, JSON.stringify({ mcpServers: { 'claude-code-bridge': server } }));
    },
    says: /Claude Code: starts node .*main\.js .*, but .*main\.js does not exist/,
    command: /^claude-code-bridge init --yes --client claude-code$/,
  },
  {
    name: 'containers for tasks without Docker',
    check: 'docker',
    breaks: async (machine) => {
      await withSettings(machine, { task_container: { image: 'claude:1' } });
      return withEnv(machine, { DOCKER_HOST: `unix://${machine.root}/none.sock` });
    },
    says: /Tasks run in containers .* but Docker does not answer/,
    command: /docker/i,
  },
  {
    name: 'a task that is not done',
    check: 'whole-task',
    breaks: async () => ({
      tryTask: async () => ({ ok: false, report: 'line one\nThe demo failed: no hooks' }),
    }),
    says: /The demo failed: no hooks/,
    command: /^claude-code-bridge demo --claude /,
  },
];

describe('the doctor', () => {
  it('finds nothing to mend on a machine where all is well', async () => {
    const machine = await sampleMachine();
    const entries = await runChecks(allChecks, machine.context(), { fix: false });
    expect(troubles(entries)).toEqual([]);
    expect(entries.map(({ id }) => id)).toEqual(allChecks.map(({ id }) => id));
  });

  it.each(faults)('names $name, and what mends it', async (fault) => {
    const { check, breaks, says, command, mends } = fault;
    const machine = await sampleMachine();
    const more = (await breaks(machine)) ?? {};
    const entries = await runChecks(allChecks, machine.context(more), { fix: false });
    expect(troubles(entries)).toEqual([check]);
    const entry = entries.find(({ id }) => id === check);
    expect([entry?.summary, ...(entry?.details ?? [])].join('\n')).toMatch(says);
    expect(entry?.command).toMatch(command);
    expect(entry?.remediation).toMatch(/[.:]$/);
    if (mends === undefined) return;
    await machine.script(join(machine.bin, 'editor'), `cat > "$1" <<'END'\n${healthy(machine)}\nEND`);
    await machine.shell(entry?.command ?? '');
    expect(troubles(await runChecks(allChecks, machine.context(more), { fix: false }))).toEqual([]);
  });

  it.runIf(isRoot)('names a state directory of another user', async () => {
    const machine = await sampleMachine();
    await chown(machine.stateDir, 12_345, 12_345);
    const entries = await runChecks(allChecks, machine.context(), { fix: false });
    expect(troubles(entries)).toEqual(['state-directory']);
    const entry = entries.find(({ id }) => id === 'state-directory');
    expect(entry?.command).toMatch(/^sudo chown -R 0 /);
  });

  it('mends with --fix what is safe, and says what it did', async () => {
    const machine = await sampleMachine();
    await chmod(machine.stateDir, 0o755);
    await rm(machine.project, { recursive: true });
    const entries = await runChecks(allChecks, machine.context(), { fix: true });
    expect(troubles(entries)).toEqual(['allowed-roots']);
    expect(fixes(entries)).toEqual({ 'state-directory': `chmod 700 ${machine.stateDir}` });
    expect((await stat(machine.stateDir)).mode & 0o777).toBe(0o700);
    const again = await runChecks(allChecks, machine.context(), { fix: true });
    expect(fixes(again)).toEqual({});
  });
});

function troubles(entries: readonly Entry[]): string[] {
  return entries.filter(({ status }) => status === 'warning' || status === 'error').map(({ id }) => id);
}

function fixes(entries: readonly Entry[]): Record<string, string> {
  return Object.fromEntries(entries.flatMap(({ id, fixed }) => (fixed === null ? [] : [[id, fixed]])));
}

function healthy({ project, stateDir }: SampleMachine): string {
  return JSON.stringify({ allowed_roots: [project], state_dir: stateDir });
}

async function withSettings(machine: SampleMachine, more: Readonly<Record<string, unknown>>): Promise<void> {
  await machine.settings({ allowed_roots: [machine.project], state_dir: machine.stateDir, ...more });
}

async function withEnv(
  machine: SampleMachine,
  more: Readonly<Record<string, string>>,
): Promise<Partial<DoctorPlace>> {
  return { env: { ...machine.context().env, ...more } };
}
