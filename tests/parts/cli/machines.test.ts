import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { VERSION } from '../../../src/base/package.js';
import type { CommandContext } from '../../../src/cli/command.js';
import { exitCodes } from '../../../src/cli/exit-codes.js';
import { addMachine, checkMachine, removeMachine } from '../../../src/cli/machines/machine-commands.js';
import { StandardOutput } from '../../../src/cli/standard-output.js';
import { piped } from '../../cli/looks.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { until } from '../../harness/until.js';

const PATH = process.env['PATH'] ?? '';
const BASE = '.local/share/claude-code-bridge';
/** What a doctor there says of a machine without roots: words that would drive a terminal, too. */
const FINDINGS = {
  version: VERSION,
  status: 'error',
  checks: [
    finding('git', 'system', 'ok', 'git 2.40'),
    finding('allowed-roots', 'settings', 'error', 'No roots \u001b[31m are set', 'bridge init --roots ~/x'),
    finding('clients', 'clients', 'error', 'No chat client'),
  ],
};
const IDLES = 'if (process.argv[2] === "idle") setInterval(() => undefined, 1000);';

function finding(
  id: string,
  category: string,
  status: string,
  summary: string,
  command: string | null = null,
) {
  const facts = { details: [], remediation: command && 'Set some.', fixed: null, duration_ms: 1 };
  return { id, category, status, summary, command, ...facts };
}

/** A person here, with a small package in the place of this one, and the home folder of another machine. */
async function place(program = '') {
  const root = await tempFolder();
  const [homeDir, far, own] = [join(root, 'here'), join(root, 'there'), join(root, 'own')];
  const files: Record<string, string> = {
    'own/package.json': JSON.stringify({ version: VERSION, files: ['dist'], dependencies: { needed: '1' } }),
    'own/dist/main.js': `${program}
      const [, , word] = process.argv;
      if (word === '--version') console.log(${JSON.stringify(VERSION)});
      if (word === 'doctor') console.log(${JSON.stringify(JSON.stringify(FINDINGS))}), process.exitCode = require('needed').code;
      ${IDLES}`,
    'own/dist/node_modules/left-out.js': '',
    'node_modules/needed/package.json': JSON.stringify({
      version: '1',
      main: 'index.js',
      dependencies: { needed: '1' },
    }),
    'node_modules/needed/index.js': 'exports.code = 2;',
    'here/.config/mcp-claude-bridge/config.json': '{\n  // mine\n  "log_level": "warn"\n}\n',
    'there/.profile': 'echo never read',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const stdout = new PassThrough();
  const said: string[] = [];
  const context: CommandContext = {
    ...{ env: { HOME: homeDir, PATH }, homeDir, folder: root, program: 'bridge', command: 'bridge' },
    ...{ serverEntry: join(own, 'dist', 'main.js'), keeperEntry: '', boardEntry: '', configPath: undefined },
    ...{
      output: new StandardOutput(stdout),
      look: piped,
      errorLook: piped,
      say: (line) => void said.push(line),
    },
    ending: () => () => Promise.resolve(),
  };
  const never = new AbortController().signal;
  const there = ['env', '-i', `HOME=${far}`, `PATH=${PATH}`];
  return {
    ...{ context, said, far, there, own },
    settings: () => readFile(join(homeDir, '.config/mcp-claude-bridge/config.json'), 'utf8'),
    /** What was printed since the last call. */
    printed: () => String(stdout.read() ?? ''),
    versions: async () => (existsSync(join(far, BASE)) ? (await readdir(join(far, BASE))).sort() : []),
    add: (words: readonly string[] = there, signal = never) => addMachine('box', words, context, signal),
    check: () => checkMachine('box', {}, context, never),
    remove: (isPurge: boolean) => removeMachine('box', isPurge, context, never),
  };
}

/** Runs a program of a version there until the test is over, or what this resolves with is called. */
async function running(file: string) {
  const child = spawn(process.execPath, [file, 'idle'], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const end = async (): Promise<void> => {
    child.kill();
    await exited;
  };
  onTestFinished(end);
  await once(child, 'spawn');
  return end;
}

it('adds a machine: this build with what it needs, its launcher, what is missing there, and the setting beside comments', async () => {
  const { add, there, far, settings, printed, versions, said } = await place();
  expect(await add()).toBe(exitCodes.errorsFound);
  const [version = '', launcher] = await versions();
  expect([version, launcher]).toEqual([expect.stringMatching(`^${VERSION}-[0-9a-f]{12}$`), 'bridge']);
  const files = await readdir(join(far, BASE, version), { recursive: true });
  expect(files).toEqual(expect.arrayContaining(['dist/main.js', 'node_modules/needed/index.js']));
  expect(files).not.toContain('dist/node_modules/left-out.js');
  expect((await stat(join(far, BASE, 'bridge'))).mode & 0o777).toBe(0o700);
  const text = await settings();
  expect(text).toContain('// mine');
  expect(JSON.parse(text.replace('// mine', ''))).toEqual({
    log_level: 'warn',
    machines: { box: { command: there } },
  });
  const out = printed();
  expect(out).toContain('No roots \\u001b[31m are set');
  expect(out).toContain('bridge init --roots ~/x');
  expect(out).not.toContain('chat client');
  // Once more, it brings what is new: nothing.
  expect(await add([])).toBe(exitCodes.errorsFound);
  expect(said.at(-2)).toContain('is there already');
  expect(await settings()).toBe(text);
});

it.each([
  [
    'the far side says another version',
    'if (process.argv[2] === "--version") { console.log("9"); process.exit() }',
    [],
    'it does not run there',
  ],
  [
    'no file there may be that long',
    '',
    ['sh', '-c', 'ulimit -f 1; exec "$@"', 'sh'],
    'did not take version',
  ],
  [
    'the doctor there says nothing',
    'if (process.argv[2] === "doctor") process.exit(1);',
    [],
    'gave no report',
  ],
])('leaves no setting and nothing half where %s', async (_, program, limits, why) => {
  const { add, there, settings, versions } = await place(program);
  const before = await settings();
  await expect(add([...there, ...limits])).rejects.toThrow(why);
  expect(await settings()).toBe(before);
  expect((await versions()).filter((name) => name.startsWith('.'))).toEqual([]);
});

it('has npm there bring what was built for another platform', async () => {
  const { add, own, versions, far } = await place();
  const [good, built] = [join(own, '..', 'good'), join(own, '..', 'node_modules', 'needed')];
  await cp(built, good, { recursive: true });
  await writeFile(join(good, 'package.json'), '{ "version": "1.0.0" }');
  await writeFile(join(built, 'index.js'), 'throw new Error("invalid ELF header");');
  const manifest = { version: VERSION, files: ['dist'], dependencies: { needed: `file:${good}` } };
  await writeFile(join(own, 'package.json'), JSON.stringify(manifest));
  expect(await add()).toBe(exitCodes.errorsFound);
  const [version = ''] = await versions();
  // npm links a package that is named by its folder.
  expect(await realpath(join(far, BASE, version, 'node_modules', 'needed'))).toBe(good);
});

it('takes the first Node that is new enough', async () => {
  const { add, there, far, said } = await place();
  const bin = join(far, 'bin');
  const old = 'Object.defineProperty(process, "versions", { value: { node: "18.20.0" } })';
  await mkdir(bin, { recursive: true });
  await mkdir(join(far, '.local', 'bin'), { recursive: true });
  await writeFile(join(bin, 'old.cjs'), old);
  const script = `#!/bin/sh\nexec ${process.execPath} -r ${bin}/old.cjs "$@"\n`;
  await writeFile(join(bin, 'node'), script, { mode: 0o755 });
  await symlink(process.execPath, join(far, '.local', 'bin', 'node'));
  await add([...there.slice(0, -1), `PATH=${bin}:${PATH}`]);
  expect(said[1]).toContain(`Node ${process.versions.node}, `);
});

it('leaves nothing at Ctrl-C in the middle of the copy', async () => {
  const { add, there, settings, versions, context } = await place();
  const before = await settings();
  const stop = new AbortController();
  const say = (line: string): void => {
    if (line.startsWith('Copying')) stop.abort();
  };
  await expect(addMachine('box', there, { ...context, say }, stop.signal)).rejects.toThrow(
    'nothing was written',
  );
  expect(await settings()).toBe(before);
  await until('nothing is left there', async () => (await versions()).length === 0);
  expect(await add()).toBe(exitCodes.errorsFound);
});

it('removes the versions in which nothing runs', async () => {
  const { add, far, versions } = await place();
  for (const name of ['0.0.1-a', '0.0.2-b']) {
    await mkdir(join(far, BASE, name, 'dist'), { recursive: true });
    await writeFile(join(far, BASE, name, 'dist', 'main.js'), IDLES);
  }
  await running(join(far, BASE, '0.0.1-a', 'dist', 'main.js'));
  await add();
  expect(await versions()).toEqual(['0.0.1-a', expect.stringMatching(`^${VERSION}-`), 'bridge']);
});

it('checks the line, both versions, and what the doctor there finds', async () => {
  const { add, check, printed } = await place();
  await add();
  printed();
  expect(await check()).toBe(2);
  expect(printed()).toMatch(
    new RegExp(
      `The machine box\\n  ✓ box answers; version ${VERSION} is there and here\\n  ✓ git 2.40\\n[^]*✗ No roots`,
    ),
  );
});

it('takes a machine out with its setting alone, and with --purge removes the bridge there, unless something runs with it', async () => {
  const { add, remove, settings, far, versions, printed } = await place();
  await add();
  const [version = ''] = await versions();
  printed();
  await remove(false);
  expect(await settings()).not.toContain('box');
  expect(await settings()).toContain('// mine');
  expect(printed()).toContain(`rm -r ~/${BASE}`);
  await add();
  const end = await running(join(far, BASE, version, 'dist', 'main.js'));
  await expect(remove(true)).rejects.toThrow('box has tasks or programs that run');
  expect(await settings()).toContain('box');
  await end();
  await remove(true);
  expect(await versions()).toEqual([]);
  expect(await settings()).not.toContain('box');
});

it('changes nothing where the environment has the setting', async () => {
  const { remove, context, settings } = await place();
  context.env['MCP_MACHINES'] = '{"box":{"command":["false"]}}';
  await expect(remove(true)).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
  expect(await settings()).not.toContain('machines');
});

it.each([
  [['false'], 'false ended with exit code 1'],
  [['sh', '-c', 'echo "ssh: Permission denied (publickey)." >&2; exit 255'], 'Permission denied (publickey)'],
  [['/no/such/program'], 'was not found'],
])('of %j it says why there is no line', async (words, why) => {
  const { add, settings } = await place();
  const before = await settings();
  await expect(add(words)).rejects.toMatchObject({
    code: 'MACHINE_UNREACHABLE',
    message: expect.stringContaining(why) as string,
  });
  expect(await settings()).toBe(before);
});

it('refuses a name that is taken by another place, and one that is not there without a place', async () => {
  const { add, remove } = await place();
  await expect(add([])).rejects.toMatchObject({ code: 'MACHINE_NOT_FOUND' });
  await expect(remove(false)).rejects.toMatchObject({ code: 'MACHINE_NOT_FOUND' });
  await add();
  await expect(add(['ssh://elsewhere'])).rejects.toThrow('A machine is named box already');
});
