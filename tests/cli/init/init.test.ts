import { writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { BridgeError } from '../../../src/base/errors.js';
import { Cancelled, exitCodeOfError } from '../../../src/cli/exit-codes.js';
import { runInit } from '../../../src/cli/init/init.js';
import { npxServerCommand } from '../../harness/npx-server-command.js';
import { tempFolder } from '../../harness/temp-folder.js';

type InitOptions = Parameters<typeof runInit>[0];
/** What a scripted person answers; 'Ctrl-C' cancels. */
type Answer = string | boolean;

let homeDir: string;
let settings: string;
let desktop: string;

beforeEach(async () => {
  homeDir = await tempFolder();
  settings = join(homeDir, '.config', 'mcp-claude-bridge', 'config.json');
  desktop = join(homeDir, '.config', 'Claude', 'claude_desktop_config.json');
  // Claude Desktop is installed.
  await mkdir(dirname(desktop), { recursive: true });
  await mkdir(join(homeDir, 'Projects'));
  await mkdir(join(homeDir, 'Work'));
  await writeFile(join(homeDir, 'file'), '');
});

/** What the person answers about permission modes; left out, what stands there. */
interface ModeAnswers {
  readonly pick?: string;
  readonly choose?: readonly string[];
  readonly shown?: (choices: readonly { readonly value: string }[]) => void;
}

interface Run {
  readonly exitCode: number;
  readonly asked: readonly string[];
  readonly out: string;
  readonly err: string;
  readonly unasked: readonly Answer[];
}

async function init(
  answers: readonly Answer[] | 'no terminal',
  options: Partial<InitOptions> = {},
  modes: ModeAnswers = {},
): Promise<Run> {
  const left = answers === 'no terminal' ? [] : [...answers];
  const asked: string[] = [];
  const out: string[] = [];
  const err: string[] = [];
  const next = (message: string) => {
    asked.push(message);
    const answer = left.shift();
    if (answer === undefined) throw new Error(`Nobody answers: ${message}`);
    if (answer === 'Ctrl-C') throw new Cancelled();
    return answer;
  };
  const questions: InitOptions['questions'] = {
    text: async (message) => String(next(message)),
    error: (text) => void err.push(text),
    pick: async (_, choices) => {
      modes.shown?.(choices);
      return modes.pick ?? 'auto';
    },
    choose: async (message, choices) => {
      const all = choices.map(({ value }) => value);
      if (message.startsWith('Which modes')) return modes.choose ?? all;
      return next(message) === true ? all : [];
    },
    confirm: async (message) => next(message) === true,
  };
  const exitCode = await runInit({
    write: (text) => out.push(text),
    writeError: (text) => err.push(text),
    questions: answers === 'no terminal' ? undefined : questions,
    ...{ homeDir, env: {}, platform: 'linux', cwd: '/some/where', settingsFile: settings },
    ...{ command: 'bridge', serverCommand: npxServerCommand },
    ...options,
  }).catch((error: unknown) => {
    if (error instanceof BridgeError) err.push(`${error.code}: ${error.message}\n${error.hint}`);
    else if (error instanceof Cancelled) err.push(error.message);
    else throw error;
    return exitCodeOfError(error);
  });
  return { exitCode, asked, out: out.join('\n'), err: err.join('\n'), unasked: left };
}

async function place(path: string, text: string, mode = 0o600): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode });
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

/** Every file below the home folder with what it holds. */
async function filesAtHome(): Promise<Record<string, string>> {
  const entries = await readdir(homeDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (path) => [path, await readFile(path, 'utf8')] as const)),
  );
}

describe('on a fresh machine', () => {
  test('asks for the roots and writes them for the owner alone, and shows what it wrote', async () => {
    const run = await init(['~/Projects', join(homeDir, 'Work'), '', false]);
    expect(run).toMatchObject({ exitCode: 0, err: '', unasked: [] });
    const text = await readFile(settings, 'utf8');
    expect(JSON.parse(text)).toEqual({ allowed_roots: ['~/Projects', join(homeDir, 'Work')] });
    expect(run.out).toContain(`Wrote ${settings}:\n${text.trimEnd()}`);
    expect(await modeOf(settings)).toBe(0o600);
    expect(await modeOf(dirname(settings))).toBe(0o700);
    expect(await readdir(dirname(settings))).toEqual(['config.json']);
  });

  test('asks again for a folder that cannot be one', async () => {
    const run = await init([
      '',
      'src',
      '~other',
      '~/file',
      '/nowhere',
      false,
      '~/Projects',
      '~/Projects',
      '',
      false,
    ]);
    expect(run.exitCode).toBe(0);
    expect(run.err.split('\n')).toEqual([
      'The path of a folder is empty.',
      'src is a relative path. If you mean /some/where/src, write that.',
      '~other is the home of another user, which is not supported: write the absolute path.',
      '~/file is not a folder.',
    ]);
    expect(run.asked).toContain('/nowhere does not exist. Create it?');
    expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({ allowed_roots: ['~/Projects'] });
  });

  test('on macOS finds the settings of Claude Desktop, and the sandbox in a program of the system', async () => {
    const path = join(homeDir, 'Library/Application Support/Claude/claude_desktop_config.json');
    await mkdir(dirname(path), { recursive: true });
    const { out } = await init(['~/Projects', '', true], { platform: 'darwin', env: { PATH: '/nowhere' } });
    expect(await readFile(path, 'utf8')).toContain('claude-code-bridge');
    expect(out).toMatch(/It works here|\/usr\/bin\/sandbox-exec is missing\./);
  });
});

describe('the permission modes', () => {
  test('are written where the person chooses others than the defaults, the default among the allowed', async () => {
    const { out, exitCode } = await init(
      ['~/Projects', '', false],
      {},
      { pick: 'cautious', choose: ['sandboxed'] },
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({
      default_permission_mode: 'cautious',
      allowed_permission_modes: ['cautious', 'sandboxed'],
      allowed_roots: ['~/Projects'],
    });
    expect(out).toContain('"default_permission_mode": "cautious"');
  });

  test('have sandboxed first where it works; who does not take it reads where it is set', async () => {
    let first: { readonly value: string } | undefined;
    const shown = (choices: readonly { readonly value: string }[]) => void ([first] = choices);
    const env = { PATH: process.env['PATH'] };
    const { out } = await init(['~/Projects', '', false], { env }, { shown });
    const works = out.includes('It works here');
    expect(first).toMatchObject({ value: works ? 'sandboxed' : 'auto' });
    expect(out).toContain(`"default_permission_mode": "sandboxed" in ${settings}`);
    await rm(settings);
    const taken = await init(['~/Projects', '', false], { env }, { pick: 'sandboxed' });
    expect(taken.out).not.toMatch(/recommended/i);
    expect(JSON.parse(await readFile(settings, 'utf8'))).toMatchObject({
      default_permission_mode: 'sandboxed',
    });
  });

  test('that are set already are not asked about', async () => {
    await place(settings, '{ "allowed_roots": ["~/Projects"], "default_permission_mode": "sandboxed" }');
    await init([true, '', false], {}, { pick: 'auto', choose: ['auto'] });
    expect(JSON.parse(await readFile(settings, 'utf8'))).toMatchObject({
      default_permission_mode: 'sandboxed',
    });
  });
});

describe('the checks of projects', () => {
  beforeEach(async () => {
    await place(join(homeDir, 'Projects/web/package.json'), '{ "scripts": { "test": "vitest run" } }');
    await place(join(homeDir, 'Projects/web/Makefile'), 'build:\n\ttrue\ntest: build\n\ttrue\n');
    await place(join(homeDir, 'Projects/tool/Cargo.toml'), '');
    const unset = '{ "scripts": { "test": "echo \\"Error: no test specified\\" && exit 1" } }';
    await place(join(homeDir, 'Projects/new/package.json'), unset);
    await place(join(homeDir, 'Work/pyproject.toml'), '[tool.pytest.ini_options]\n');
    await place(join(homeDir, 'Work/inner/go.mod'), '');
  });

  test('are offered from the files of the roots and the folders in them, and written on a yes', async () => {
    const run = await init(['~/Projects', '~/Work', '', true, false]);
    expect(run).toMatchObject({ exitCode: 0, err: '', unasked: [] });
    expect(run.asked[3]).toContain('runs whatever the agent has written');
    const check = (command: string) => ({ name: command, command });
    expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({
      allowed_roots: ['~/Projects', '~/Work'],
      projects: {
        '~/Projects/tool': { checks: [check('cargo test')] },
        '~/Projects/web': { checks: [check('npm test'), check('make test')] },
        '~/Work': { checks: [check('pytest')] },
      },
    });
    const again = await init([true, '', false]);
    expect(again).toMatchObject({ exitCode: 0, unasked: [] });
  });

  test('are not written on a no, and go beside what is set for a project', async () => {
    const before =
      '{\n  "allowed_roots": ["~/Work"],\n  "projects": { "~/Work": { "own_hooks": false } } // mine\n}\n';
    await place(settings, before);
    expect(await init([true, '', false, false])).toMatchObject({ exitCode: 0, unasked: [] });
    expect(await readFile(settings, 'utf8')).toBe(before);
    await init([true, '', true, false]);
    const after = await readFile(settings, 'utf8');
    expect(after).toContain('// mine');
    expect(after).toMatch(/"~\/Work": \{\s*"own_hooks": false,\s*"checks": \[/);
  });
});

describe('what a newcomer needs', () => {
  test('a missing folder is created on a yes, once all questions are answered', async () => {
    await init(['~/new/projects', true, 'Ctrl-C']);
    expect(await readdir(homeDir)).not.toContain('new');
    await init(['~/new/projects', true, '', false]);
    expect((await stat(join(homeDir, 'new/projects'))).isDirectory()).toBe(true);
    expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({ allowed_roots: ['~/new/projects'] });
  });

  test('the end says how a client gets the server, and whether Claude Code is there', async () => {
    const { out } = await init(['~/Projects', '', false], {
      env: { PATH: '/nowhere' },
      command: 'npx bridge',
    });
    expect(out).toContain('Claude Code was not found on PATH');
    expect(out).toContain('\nnpx bridge init --client claude-desktop\n');
  });
});

describe('Ctrl-C', () => {
  test.each<readonly [string, readonly Answer[]]>([
    ['at the first question', ['Ctrl-C']],
    ['at the question about replacing', [false, '~/Work', '', true, 'Ctrl-C']],
  ])('%s leaves everything as it was', async (_where, answers) => {
    await place(settings, '{ "allowed_roots": ["~/Projects"] }');
    await place(desktop, '{ "mcpServers": { "claude-code-bridge": { "command": "other" } } }');
    const before = await filesAtHome();
    expect(await init(answers)).toMatchObject({
      exitCode: 130,
      err: 'Cancelled: nothing was written.',
      unasked: [],
    });
    expect(await filesAtHome()).toEqual(before);
  });
});

describe('settings that are there', () => {
  test('that change while the questions are open keep the change', async () => {
    await place(settings, '{ "allowed_roots": ["~/Work"] }');
    const changed = '{ "log_level": "debug", "allowed_roots": ["~/Work"] }';
    await init([true, '~/Projects', '', false], {}, { shown: () => writeFileSync(settings, changed) });
    expect(JSON.parse(await readFile(settings, 'utf8'))).toEqual({
      log_level: 'debug',
      allowed_roots: ['~/Work', '~/Projects'],
    });
  });

  const old = [
    '\ufeff{',
    '\t// mine',
    '\t"log_level": "debug", // loud',
    '\t"allowed_roots": [',
    '\t\t"~/Projects" // first',
    '\t],',
    '\t"shell": "/bin/sh",',
    '}',
    '',
  ].join('\r\n');

  test('keep their roots and other keys when --roots names more, which are named', async () => {
    await place(settings, old);
    const run = await init('no terminal', { roots: '~/Work,~/Projects' });
    expect(run.out).toContain('Allowed roots so far, which stay: ~/Projects');
    expect(await readFile(settings, 'utf8')).toBe(
      old.replace('"~/Projects" // first', '"~/Projects", // first\r\n\t\t"~/Work"'),
    );
    expect((await init('no terminal', { roots: '~/Work' })).out).toContain(
      'The allowed roots stay as they are.',
    );
  });

  test.each(['{ "allowed_roots": [', '{ "allowed_roots": 7 }'])(
    'that are broken are left as they are: %s',
    async (text) => {
      await place(settings, text);
      const run = await init([]);
      expect(run.exitCode).toBe(78);
      expect(run.err).toContain(`${settings}:1: `);
      expect(run.err).toContain('The file was not changed. Correct it, then try again.');
      expect(await readFile(settings, 'utf8')).toBe(text);
    },
  );

  test('behind a link are written where the link points', async () => {
    const kept = join(homeDir, 'dotfiles.json');
    await writeFile(kept, '{}');
    await mkdir(dirname(settings), { recursive: true });
    await symlink(kept, settings);
    await init(['~/Work', '', false]);
    expect(JSON.parse(await readFile(kept, 'utf8'))).toEqual({ allowed_roots: ['~/Work'] });
  });
});

describe("Claude Desktop's settings", () => {
  const old =
    '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": { "command": "x", "env": { "KEY": "secret" } }\n    }\n}\n';

  test('keep all that is there, and a copy of what was', async () => {
    await place(desktop, old, 0o640);
    const run = await init(['~/Projects', '', true]);
    expect(run.exitCode).toBe(0);
    expect(run.out).not.toContain('secret');
    const text = await readFile(desktop, 'utf8');
    expect(text.startsWith(old.slice(0, old.indexOf(' }\n    }')))).toBe(true);
    expect(text).toContain('        "claude-code-bridge": {\n            "command": "npx",');
    expect(await readFile(`${desktop}.claude-code-bridge.bak`, 'utf8')).toBe(old);
    expect(await modeOf(desktop)).toBe(0o640);
    expect(await modeOf(`${desktop}.claude-code-bridge.bak`)).toBe(0o640);
  });

  test('with another entry of this name show it, and it is replaced only on a yes', async () => {
    const other = '{ "mcpServers": { "claude-code-bridge": { "command": "node", "args": ["main.js"] } } }';
    await place(desktop, other);
    const refused = await init(['~/Projects', '', true, false]);
    expect(refused.exitCode).toBe(0);
    expect(refused.out).toContain('"command": "node"');
    expect(await readFile(desktop, 'utf8')).toBe(other);
    await init([true, '', true, true]);
    expect(await readFile(desktop, 'utf8')).toContain('"npx"');
  });

  test.each(['{ "mcpServers": ', '{ "mcpServers": {}, "mcpServers": {} }'])(
    'that are broken are named and left as they are: %s',
    async (text) => {
      await place(desktop, text);
      const asked = await init(['~/Projects', '', true]);
      expect(asked).toMatchObject({ exitCode: 0, unasked: [] });
      expect(asked.err).toContain(`Claude Desktop is left out. ${desktop}: `);
      const named = await init('no terminal', { client: ['claude-desktop', 'cursor'], roots: '~/Work' });
      expect(named.exitCode).toBe(1);
      expect(named.err).toContain(`Claude Desktop is left out. ${desktop}: `);
      expect(Object.keys(await filesAtHome())).toContain(join(homeDir, '.cursor/mcp.json'));
      expect(await readFile(desktop, 'utf8')).toBe(text);
    },
  );
});

describe('without questions', () => {
  test('a root that contains the home folder is written, and named', async () => {
    for (const roots of ['~', '/']) {
      const { out } = await init('no terminal', { roots });
      expect(out).toContain(`${roots} contains your whole home folder: tasks may work everywhere in it.`);
    }
    expect((await init('no terminal', { roots: '~/Work' })).out).not.toContain('whole home');
  });

  test('a yes alone does not touch Claude Desktop', async () => {
    expect(await init([], { roots: '~/Projects', yes: true })).toMatchObject({ exitCode: 0, asked: [] });
    expect(Object.keys(await filesAtHome())).not.toContain(desktop);
  });

  test('missing roots are an error that names the flag, unless some are set', async () => {
    const run = await init('no terminal');
    expect(run.exitCode).toBe(64);
    expect(run.err).toBe(
      'INVALID_ARGUMENTS: No allowed roots are set, and there is no terminal to ask in.\nPass them with --roots, separated by commas.',
    );
    await place(settings, '{ "allowed_roots": ["~/Work"] }');
    expect(await init('no terminal', { client: ['claude-desktop'] })).toMatchObject({ exitCode: 0 });
  });

  test('a folder that cannot be a root is named, and nothing is written', async () => {
    const run = await init('no terminal', { roots: '~/Projects,,src' });
    expect(run.exitCode).toBe(64);
    expect(run.err).toContain(
      'INVALID_ARGUMENTS: flag --roots: The path of a folder is empty.\nflag --roots: src is a relative path. If you mean /some/where/src, write that.',
    );
    expect(Object.keys(await filesAtHome())).toEqual([join(homeDir, 'file')]);
  });

  test('another entry is replaced with --yes only', async () => {
    await place(desktop, '{ "mcpServers": { "claude-code-bridge": { "command": "node" } } }');
    const flags = { roots: '~/Projects', client: ['claude-desktop'] };
    expect(await init('no terminal', flags)).toMatchObject({ exitCode: 64 });
    expect(await readFile(desktop, 'utf8')).toContain('"node"');
    expect(await init('no terminal', { ...flags, yes: true })).toMatchObject({ exitCode: 0 });
    expect(await readFile(desktop, 'utf8')).toContain('"npx"');
  });
});

describe('without a wizard', () => {
  test('removes what it added, and says what is left', async () => {
    await place(desktop, '{\n  "mcpServers": { "other": { "command": "x" } }\n}\n');
    const before = await filesAtHome();
    await init('no terminal', { roots: '~/Projects', client: ['claude-desktop', 'cursor'] });
    expect(Object.keys(await filesAtHome())).toHaveLength(Object.keys(before).length + 3);
    const run = await init('no terminal', { remove: true });
    expect(run).toMatchObject({ exitCode: 0, err: '' });
    expect(run.out).toContain(`Removed claude-code-bridge from ${desktop}.`);
    expect(run.out).toContain('\nrm -r ~/.config/mcp-claude-bridge');
    await rm(dirname(settings), { recursive: true });
    expect(await filesAtHome()).toEqual(before);
    expect((await init('no terminal', { remove: true })).out).toContain('No client has an entry');
  });

  test('adds to every client that is installed with all, and refuses an unknown one with the list', async () => {
    await mkdir(join(homeDir, '.kiro'));
    await init('no terminal', { roots: '~/Projects', client: ['all'] });
    const files = Object.keys(await filesAtHome());
    expect(files).toContain(desktop);
    expect(files).toContain(join(homeDir, '.kiro/settings/mcp.json'));
    expect(files).toHaveLength(4);
    expect((await init('no terminal', { client: [] })).err).toContain('The list of clients is empty.');
    const wrong = await init('no terminal', { client: ['kiwi'] });
    expect(wrong.exitCode).toBe(64);
    expect(wrong.err).toContain(
      'No chat client has the id "kiwi".\nKnown clients: claude-desktop, claude-code,',
    );
  });
});

describe('a client whose settings are not JSON', () => {
  test('is left to the person: init shows its own command or what to paste, and how to take it out', async () => {
    const codex = join(homeDir, '.codex', 'config.toml');
    await place(codex, 'model = "m" # mine\n');
    const flags = { roots: '~/Projects', client: ['codex', 'goose', 'cursor'] };
    const run = await init('no terminal', flags);
    expect(run).toMatchObject({ exitCode: 0, err: '' });
    expect(run.out).toContain('\ncodex mcp add claude-code-bridge -- npx -y claude-code-bridge\n');
    expect(run.out).toContain(
      'config.yaml, below its extensions if it has them:\nextensions:\n  claude-code-bridge:\n',
    );
    expect(await readFile(codex, 'utf8')).toBe('model = "m" # mine\n');
    expect(Object.keys(await filesAtHome()).filter((path) => path.includes('goose'))).toEqual([]);
    await place(codex, 'model = "m"\n[mcp_servers.claude-code-bridge]\ncommand = "npx"\n');
    const removed = await init('no terminal', { remove: true });
    expect(removed.out).toContain(
      `${codex} mentions claude-code-bridge. To take it out of Codex, run: codex mcp remove`,
    );
    expect(removed.out).not.toContain('Goose');
  });
});

describe('copies of old settings', () => {
  test('leave those of the person alone, and give the settings back byte for byte', async () => {
    const text = '{"mcpServers":{"other":{"command":"x"}},"n":1.0}\n\n\n';
    await place(desktop, text);
    await place(`${desktop}.bak`, 'my own');
    const flags = { roots: '~/Projects', client: ['claude-desktop'], yes: true };
    await init('no terminal', { ...flags, serverCommand: { command: 'node', args: ['/old.js'] } });
    await init('no terminal', flags);
    await init('no terminal', { remove: true });
    expect(await readFile(desktop, 'utf8')).toBe(text);
    expect(await readFile(`${desktop}.bak`, 'utf8')).toBe('my own');
    expect(await readdir(dirname(desktop))).toHaveLength(2);
  });

  test('stay when the settings were changed since, whose changes stay too', async () => {
    await place(desktop, '{ "mcpServers": { "other": { "command": "x" } } }\n');
    await init('no terminal', { roots: '~/Projects', client: ['claude-desktop'] });
    const added = await readFile(desktop, 'utf8');
    await place(desktop, added.replace('"x"', '"y"'));
    const run = await init('no terminal', { remove: true });
    expect(await readFile(desktop, 'utf8')).toContain('"y"');
    expect(run.out).toContain(`A copy of older settings is left in ${desktop}.claude-code-bridge.bak`);
  });
});
