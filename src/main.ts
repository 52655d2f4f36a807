import { serveOptions } from './cli/serve-options.js';
import { readEnvironment } from './config/own-places.js';

/** Of the mode of a new file. Some services start programs with umask 000, and keepers, agents and git take it from here. */
const WRITABLE_BY_OTHERS = 0o002;
process.umask(process.umask(WRITABLE_BY_OTHERS) | WRITABLE_BY_OTHERS);

let folder: string | undefined;
try {
  folder = process.cwd();
} catch {
  // The folder was removed. Relative paths have no meaning there, and most programs do not start in it.
  process.chdir('/');
  process.stderr.write('The current folder was removed; claude-code-bridge goes on in /.\n');
}

const words = process.argv.slice(2);
const options = serveOptions(words);
if (options === undefined) {
  const { runProgram } = await import('./cli/program.js');
  process.exitCode = await runProgram(process.argv, readEnvironment(), folder);
} else {
  const { serve } = await import('./cli/serve.js');
  await serve(options, readEnvironment());
}
