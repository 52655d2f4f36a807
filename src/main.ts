import { readEnvironment } from './config/read-environment.js';

/** Of the mode of a new file. Some services start programs with umask 000, and keepers, agents and git take it from here. */
const WRITABLE_BY_OTHERS = 0o002;
process.umask(process.umask(WRITABLE_BY_OTHERS) | WRITABLE_BY_OTHERS);

/** Options that ask for words rather than for a server. */
const questions = ['-h', '--help', '-V', '--version'];

/** Words that begin a command; anything else (nothing, or an option) serves. */
const [first = 'serve'] = process.argv.slice(2);
if (first === 'serve' || (first.startsWith('-') && !questions.includes(first))) {
  const { serve } = await import('./cli/serve.js');
  await serve(process.argv.slice(first === 'serve' ? 3 : 2), readEnvironment());
} else {
  const { runProgram } = await import('./cli/program.js');
  process.exitCode = await runProgram(process.argv, readEnvironment());
}
