import { ok, type Check } from '../check.js';
import { systemCommands } from '../system-commands.js';

export const ripgrep: Check = {
  id: 'ripgrep',
  category: 'optional',
  look: async ({ run, platform }) => {
    const answer = await run('rg', ['--version']);
    if (answer.how === 'exited' && answer.code === 0) return ok(answer.stdout.split('\n', 1)[0] ?? 'ripgrep');
    return {
      status: 'optional',
      summary: 'ripgrep (rg) was not found: the search of the explore tools works without it, and slower',
      remedy: { words: 'Install ripgrep.', command: systemCommands(platform).install('ripgrep') },
    };
  },
};
