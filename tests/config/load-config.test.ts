import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { faults, load, place } from './config-place.js';

describe('where settings come from', () => {
  test('a flag beats the environment, the environment beats the file, the file beats the default', async () => {
    const at = await place({ default_tree_depth: 3, task_history_size: 30, default_header_lines: 33 });
    const { config, source } = await load(at, {
      env: { MCP_TREE_DEPTH: '4', MCP_TASK_HISTORY_SIZE: '40' },
      overrides: [{ key: 'default_tree_depth', source: 'flag --depth', text: '5' }],
    });
    expect(config).toMatchObject({ default_tree_depth: 5, task_history_size: 40, default_header_lines: 33 });
    expect(source).toBe(at.path);
  });

  test('the variables of earlier servers count where ours are not set, and beat the file', async () => {
    const at = await place({ log_level: 'error', max_log_size_bytes: 5_000 });
    const env = { LOG_LEVEL: 'warn', MCP_CLAUDE_DEBUG: 'true', MAX_OUTPUT_BUFFER: '2000000' };
    expect(await load(at, { env: { ...env, TASK_TIMEOUT: '900000' } })).toMatchObject({
      config: { log_level: 'warn', max_log_size_bytes: 2_000_000, default_timeout_seconds: 900 },
      warnings: [],
    });
    const ours = { MCP_LOG_LEVEL: 'info', MCP_MAX_LOG_SIZE: '7000', MCP_DEFAULT_TIMEOUT: '60' };
    expect((await load(at, { env: { ...env, TASK_TIMEOUT: '900000', ...ours } })).config).toMatchObject({
      log_level: 'info',
      max_log_size_bytes: 7_000,
      default_timeout_seconds: 60,
    });
  });

  test('a value of such a variable that does not fit is reported, and the next source counts', async () => {
    const at = await place({ max_log_size_bytes: 5_000 });
    const env = {
      LOG_LEVEL: 'trace',
      MCP_CLAUDE_DEBUG: 'true',
      MAX_OUTPUT_BUFFER: '10MB',
      TASK_TIMEOUT: '30',
    };
    expect(await load(at, { env })).toMatchObject({
      config: { log_level: 'debug', max_log_size_bytes: 5_000, default_timeout_seconds: 3_600 },
      warnings: [
        'environment variable TASK_TIMEOUT: default_timeout_seconds: found "30", expected a whole number of milliseconds from 1000 to 86400000; it is ignored',
        expect.stringMatching(/^environment variable MAX_OUTPUT_BUFFER: .*; it is ignored$/) as unknown,
        'environment variable LOG_LEVEL: log_level: found "trace", expected one of "debug", "info", "warn", "error"; it is ignored',
      ],
    });
  });

  test('--config beats the variable, the variable beats the default file', async () => {
    const at = await place({ log_level: 'error' });
    const named = join(at.cwd, 'named.json');
    const flagged = join(at.homeDir, 'flagged.json');
    await writeFile(named, '{ "log_level": "warn" }', { mode: 0o600 });
    await writeFile(flagged, '{ "log_level": "debug" }', { mode: 0o600 });
    const env = { MCP_CLAUDE_BRIDGE_CONFIG: 'named.json' };
    expect(await load(at, { env })).toMatchObject({ source: named, config: { log_level: 'warn' } });
    expect(await load(at, { env, configPath: '~/flagged.json' })).toMatchObject({ source: flagged });
  });

  test('a named file that is missing is a fault, not a reason to take another one', async () => {
    const at = await place({ log_level: 'error' });
    expect(await faults(at, { configPath: '/nowhere/x.json' })).toEqual([
      '/nowhere/x.json (named by flag --config): found no file, expected a readable file of JSON',
    ]);
    expect(await faults(at, { env: { MCP_CLAUDE_BRIDGE_CONFIG: '' } })).toEqual([
      'environment variable MCP_CLAUDE_BRIDGE_CONFIG: found "", expected the path of a settings file (~/ is your home folder; ~name is not supported)',
    ]);
  });
});

describe('the file', () => {
  test('comments, trailing commas, a byte order mark and Windows line ends are welcome', async () => {
    const at = await place('\ufeff{\r\n  // roots\r\n  "default_tree_depth": 4, /* deep */\r\n}\r\n');
    expect((await load(at)).config.default_tree_depth).toBe(4);
  });

  test('broken JSON is named by line and column', async () => {
    const at = await place('{\n  "log_level": "info"\n  "shell": "/bin/sh"\n}');
    expect(await faults(at)).toEqual([`${at.path}:3: column 3: broken JSON: comma expected`]);
  });

  test.each([
    ['', '1: the file is empty, expected a JSON object such as { "allowed_roots": [] }'],
    ['[]', '1: found a list, expected a JSON object'],
    ['"x"', '1: found a string, expected a JSON object'],
    ['null', '1: found null, expected a JSON object'],
    ['['.repeat(100_000), '1: the JSON is nested too deeply'],
    ['{ "shell": "/a",\n "shell": "/b" }', '2: duplicate key "shell" (first defined on line 1)'],
  ])('%.40j is refused', async (text, error) => {
    const at = await place(text);
    expect(await faults(at)).toEqual([`${at.path}:${error}`]);
  });

  test('an unknown key is named with the nearest known one, and its value is not shown', async () => {
    const at = await place('{\n  "alowed_root": ["/secret"],\n  "__proto__": 1\n}');
    expect(await faults(at)).toEqual([
      `${at.path}:2: unknown key "alowed_root"; did you mean "allowed_roots"?`,
      expect.stringContaining(`${at.path}:3: unknown key "__proto__"`),
    ]);
  });

  test('a device behind a link, a folder, a giant and a binary file are refused', async () => {
    const at = await place();
    const inFolder = (name: string) => join(at.homeDir, name);
    await symlink('/dev/zero', inFolder('zero'));
    await writeFile(inFolder('big'), ' '.repeat(1_048_577));
    await writeFile(inFolder('binary'), Buffer.from([0x7b, 0xff, 0x7d]));
    const refused = async (name: string) => (await faults(at, { configPath: inFolder(name) }))[0];
    expect(await refused('zero')).toContain('it is not a regular file');
    expect(await refused('.')).toContain('it is a folder');
    expect(await refused('big')).toContain('it is larger than 1048576 bytes');
    expect(await refused('binary')).toContain('it is not UTF-8 text');
  });

  test('one that every user can write is read with a warning', async () => {
    const at = await place({});
    await chmod(at.path, 0o666);
    expect((await load(at)).warnings).toEqual([expect.stringContaining('is writable by every user')]);
  });
});

describe('the environment', () => {
  test.each(['10MB', '', '99999999999999999999'])('a number written as %j is refused', async (text) => {
    const lines = await faults(await place(), { env: { MCP_MAX_LOG_SIZE: text } });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^environment variable MCP_MAX_LOG_SIZE: max_log_size_bytes: found .*, expected a whole number from 4096 to 1073741824/,
    );
  });

  test.each(['/a,', ' '])('a list with an empty part is refused: %j', async (text) => {
    expect(await faults(await place(), { env: { MCP_ALLOWED_ROOTS: text } })).toEqual([
      `environment variable MCP_ALLOWED_ROOTS: allowed_roots: found ${JSON.stringify(text)}, expected a list separated by commas, without empty parts`,
    ]);
  });

  test('what is neither true nor false allows nothing: it is a fault', async () => {
    const [line] = await faults(await place(), { env: { MCP_ALLOW_PROTECTED_WRITES: 'maybe' } });
    expect(line).toContain('expected true or false');
  });

  test('folders whose names hold commas are written as a JSON list', async () => {
    const at = await place();
    const read = (text: string) => load(at, { env: { MCP_ALLOWED_ROOTS: text } });
    expect((await read('["/a,b", "~/c d"]')).config.allowed_roots).toEqual(['/a,b', `${at.homeDir}/c d`]);
    const [line] = await faults(at, { env: { MCP_ALLOWED_ROOTS: '["/a"' } });
    expect(line).toContain('expected a list of at most 100 folders');
  });

  test('a project is found by its real path, however it is written', async () => {
    const at = await place();
    const project = join(at.homeDir, 'app');
    await mkdir(project);
    await symlink('app', join(at.homeDir, 'link'));
    for (const name of ['~/app', '~/app/', '~//app', '~/link', '/gone/../gone/']) {
      const { config } = await load(at, { env: { MCP_PROJECTS: `{"${name}":{"own_hooks":false}}` } });
      expect(config.projects).toEqual({ [name.startsWith('~') ? project : '/gone']: { own_hooks: false } });
    }
  });

  test('a variable that is nearly ours is a warning', async () => {
    const { warnings } = await load(await place(), { env: { MCP_ALLOWED_ROOT: '/a', MCP_TIMEOUT: '5' } });
    expect(warnings).toEqual([
      'Unknown environment variable MCP_ALLOWED_ROOT; did you mean MCP_ALLOWED_ROOTS?',
    ]);
  });
});

describe('values', () => {
  const file = 'FILE';

  test.each<[object, string]>([
    [
      { allowed_roots: ['~root'] },
      'allowed_roots[0]: found "~root", expected an absolute path, or one that begins with ~/ (~name, the home of another user, is not supported)',
    ],
    [
      { allowed_roots: '/a' },
      'allowed_roots: found "/a", expected a list of at most 100 folders, each an absolute path, or one that begins with ~/',
    ],
    [
      { projects: { x: {} } },
      'a key of projects: found "x", expected an absolute path, or one that begins with ~/',
    ],
    [
      { projects: { '/a': { checks: [1, 2].map(() => ({ name: 'x', command: 'y' })) } } },
      'projects./a.checks: found [{"name":"x","command":"y"},{"name":"x","command":"y"}], expected names of their own, and two checks have the name "x"',
    ],
    [
      { projects: { '/a': { checks: [{ name: 'x' }] } } },
      'projects./a.checks[0].command: found nothing, expected a list of at most 10 checks, each { "name", "command", "timeout_seconds"?, "tests"?, "each"?, "setup"? }, with names of their own',
    ],
    [
      { projects: { '/a': { checks: [{ name: 'x', command: 'y', limit: 1 }] } } },
      'projects./a.checks[0]: found {"name":"x","command":"y","limit":1}, expected an object with any of "name", "command", "timeout_seconds", "tests", "each" and "setup"; unknown: limit',
    ],
    [
      { projects: { '/a\nb': { trust: { c: 1 } } } },
      'projects./a ⏎ b.trust.c: found 1, expected the hash of each file, by its name',
    ],
    [
      { shell: 'bin/sh' },
      'shell: found "bin/sh", expected the name of a program to find on PATH, or an absolute path, or one that begins with ~/',
    ],
    [{ default_tree_depth: 2.5 }, 'default_tree_depth: found 2.5, expected a whole number from 1 to 10'],
    [
      { toolsets: ['all'] },
      'toolsets[0]: found "all", expected the name of a toolset, such as "tasks" ("all" cannot be in a list)',
    ],
    [
      { pass_environment: ['*'] },
      'pass_environment[0]: found "*", expected the name of an environment variable, such as "GOPATH", or a prefix and a *, such as "AWS_*"',
    ],
    [
      { auto_approve_patterns: ['ok', 'y*'] },
      'auto_approve_patterns[1]: found "y*", expected a regular expression that does not match the empty string',
    ],
    [
      { auto_approve_patterns: ['(?=x)'] },
      'auto_approve_patterns[0]: found "(?=x)", expected a regular expression in RE2 syntax (error parsing regexp: invalid or unsupported Perl syntax: `(?=`)',
    ],
    [
      { task_container: { memory_mb: 1 } },
      'task_container.memory_mb: found 1, expected a whole number from 512 to 1048576',
    ],
    [
      { task_container: { img: 'my-claude' } },
      'task_container: found {"img":"my-claude"}, expected an object with any of "image", "network", "memory_mb" and "home"',
    ],
  ])('%j is refused', async (settings, line) => {
    const at = await place(settings);
    expect((await faults(at)).map((error) => error.replace(`${at.path}:1`, file))).toEqual([
      `${file}: ${line}`,
    ]);
  });

  test('a toolset that does not exist is an error among the others, where the names are given', async () => {
    const at = await place({ toolsets: ['tasks', 'taks', 'x'], task_history_size: 0 });
    expect(await faults(at, { toolsets: ['git', 'tasks'] })).toEqual([
      `${at.path}:1: toolsets[1]: found "taks", expected one of git, tasks; did you mean "tasks"?`,
      `${at.path}:1: toolsets[2]: found "x", expected one of git, tasks`,
      expect.stringContaining('task_history_size: found 0'),
    ]);
    expect((await load(await place({ toolsets: ['taks'] }))).config.toolsets).toEqual(['taks']);
  });

  test('the value of a variable that was written instead of its name is not shown', async () => {
    const lines = await faults(await place({ pass_environment: ['GITHUB_TOKEN=ghp_secret'] }));
    expect(lines.join('\n')).toContain('found "GITHUB_TOKEN=…"');
    expect(lines.join('\n')).not.toContain('secret');
  });

  test.each([
    { url: 'htps://hooks.example/s3cret' },
    { webhook: 'https://hooks.example/s3cret' },
    ['https://hooks.example/s3cret'],
  ])('the address and the secret of notices are not shown: %j', async (notify) => {
    const text = typeof notify === 'string' ? notify : JSON.stringify(notify);
    const lines = [
      ...(await faults(await place({ notify }))),
      ...(await faults(await place({}), { env: { MCP_NOTIFY: text } })),
    ];
    expect(lines.join('\n')).toContain('MCP_NOTIFY');
    expect(lines.join('\n')).toMatch(/notify.*expected/);
    expect(lines.join('\n')).not.toContain('s3cret');
  });
});
