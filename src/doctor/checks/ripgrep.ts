import { findRipgrep } from '../../os/find-ripgrep.js';
import { ok, type Check } from '../check.js';
import { systemCommands } from '../system-commands.js';

export const ripgrep: Check = {
  id: 'ripgrep',
  category: 'optional',
  look: async ({ env, platform, run, settings }) => {
    const program = await findRipgrep(env['PATH'], (await settings()).config.allowed_roots);
    const answer = program === undefined ? undefined : await run(program, ['--version']);
    if (program !== undefined && answer?.how === 'exited' && answer.code === 0)
      return ok(answer.stdout.split('\n', 1)[0] ?? 'ripgrep', [program]);
    return {
      status: 'warning',
      summary: `ripgrep (${program ?? 'rg'}) was not found or does not run: search_files does not work`,
      remedy: {
        words:
          'Install the bridge again with its optional packages, or install ripgrep outside of the allowed roots.',
        command: systemCommands(platform).install('ripgrep'),
      },
    };
  },
};
