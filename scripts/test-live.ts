// `npm run test:live -- [--dir <project>] [--prompt <text>] [--mode auto|cautious]`: a task for your own, logged-in Claude Code, by the
// built program.
import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { expandHome } from '../src/config/places.js';

const PROGRAM = resolve(import.meta.dirname, '..', 'dist', 'main.js');
const { values: flags } = parseArgs({
  options: {
    dir: { type: 'string' },
    prompt: { type: 'string' },
    mode: { type: 'string', default: 'cautious' },
  },
});

const person = createInterface({ input: process.stdin, output: process.stdout });
const dir = flags.dir ?? (await person.question('Project directory: '));
const prompt =
  flags.prompt ?? (await person.question('Prompt (for example "List the files in this directory"): '));
// What the person types next is for the program.
person.close();
const path = resolve(expandHome(dir.trim(), homedir()));
// Your own environment, on purpose: your login, your settings. Only the roots are narrowed to this project.
const env = { ...process.env, MCP_ALLOWED_ROOTS: path };
const args = [PROGRAM, 'run', '--path', path, '--mode', flags.mode, '--', prompt];
const task = spawn(process.execPath, args, { env, stdio: 'inherit' });
// The program answers Ctrl-C itself.
process.on('SIGINT', () => undefined);
task.once('exit', (code) => (process.exitCode = code ?? 1));
