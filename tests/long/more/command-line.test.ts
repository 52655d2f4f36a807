import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/exit-codes.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { runCommand, type Ended } from '../../harness/run-command.js';
import { serverEntry } from '../../harness/start-bridge.js';

const commands = [['serve'], ['run'], ['tasks'], ['tasks', 'answer']];

describe('the command line', () => {
  let homeDir: string;

  beforeEach(async () => {
    homeDir = await tempFolder();
  });

  /** Runs a command with a home folder of its own. */
  function run(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    return runCommand(words, { cwd: homeDir, env: { HOME: homeDir, PATH: process.env['PATH'], ...env } });
  }

  it.each(commands)('%s %s has a help that names the global options and has examples', async (...words) => {
    const { code, out, err } = await run([...words, '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`Usage: claude-code-bridge ${words.join(' ')} `);
    expect(out).toContain('--config <file>');
    expect(out).toMatch(new RegExp(`\\nExamples:\\n {2}.*main\\.js'? ${words.join(' ')}`));
    expect((await run(['--config', 'x.json', ...words, '--help'])).out).toBe(out);
  });

  it('global options stand before a command or after it', async () => {
    const lines = [
      ['--config', 'none.json', 'tasks', 'list'],
      ['tasks', 'list', '--config', 'none.json'],
      ['--config=none.json', 'attach'],
    ];
    for (const words of lines) {
      const { code, err } = await run(words);
      expect(code, words.join(' ')).toBe(exitCodes.badSettings);
      expect(err).toContain('none.json (named by flag --config)');
    }
  });

  it('what it suggests names the settings file of --config', async () => {
    await writeFile(join(homeDir, 'own.json'), '{}');
    const { out } = await run(['doctor', '--quick', '--config', 'own.json']);
    expect(out).toContain('main.js --config ~/own.json init --roots ~/Projects');
  });

  it('a folder that was removed is named by what needs one', async () => {
    const gone = join(homeDir, 'gone');
    await mkdir(gone);
    const script = 'rmdir "$PWD"; exec "$0" "$@"';
    const child = await promisify(execFile)('sh', ['-c', script, process.execPath, serverEntry, 'run', 'x'], {
      cwd: gone,
      env: { HOME: homeDir, PATH: process.env['PATH'], MCP_ALLOWED_ROOTS: homeDir },
    }).catch((error: unknown) => error);
    expect(String(child)).toContain('PATH_NOT_FOUND: The current folder was removed');
  });

  it.each([
    [['bogus'], "INVALID_ARGUMENTS: unknown command 'bogus'\nRun "],
    [
      ['tasks', 'bogus'],
      "unknown command 'bogus' (known: list, show, log, follow, diff, verify, answer, message, interrupt, kill, finish, prune, rm)",
    ],
    [['run'], 'run --help for its arguments and options.'],
    [['run', 'x', '--queue', '--worktree'], 'cannot be used with option'],
    [['run', 'x', '--mode', 'bogus'], "'bogus' is invalid"],
    [['tasks', 'list', '--bogus'], "unknown option '--bogus'"],
    [['tasks', 'finish', 'task_1'], "missing required argument 'merge|apply|discard|undo'"],
    [['tasks', 'list', 'bogus'], "too many arguments for 'list'"],
    [['tasks', 'kill'], "INVALID_ARGUMENTS: missing required argument 'task'"],
    [['tasks', 'answer', 'task_1', 'y', 'perhaps'], "'y perhaps' is more than one answer"],
    [
      ['tasks', 'finish', 'task_1', 'keep'],
      "'keep' is invalid for argument 'merge|apply|discard|undo'. Allowed choices are merge, apply, discard, undo.",
    ],
    [['tasks', 'prune', '--keep', 'x'], "--keep must be a whole number from 0 to 99999 (got 'x')"],
    [['attach', '--detach-key', 'bogus'], 'INVALID_ARGUMENTS'],
    [['serve', '--bogus'], 'INVALID_ARGUMENTS'],
    [['init', '--roots', 'relative'], 'relative is a relative path'],
  ])('%j is a wrong command line', async (words, says) => {
    const { code, out, err } = await run(words);
    expect({ code, out }).toEqual({ code: exitCodes.badCommandLine, out: '' });
    expect(err).toContain(says);
  });

  it('a state directory that is not there is not made by a question about it', async () => {
    for (const [words, code] of [
      [['state'], 0],
      [['state', 'adopt'], exitCodes.notFound],
    ] as const)
      expect(await run(words)).toMatchObject({
        code,
        out: expect.stringMatching(/^There is no state directory at \/.* yet\./) as unknown,
      });
    expect(await readdir(homeDir)).toEqual([]);
  });
});
