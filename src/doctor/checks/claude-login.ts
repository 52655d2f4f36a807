import { z } from 'zod';
import { shellWord } from '../../base/text/shell-word.js';
import { ok, unchecked, type Check } from '../check.js';
import { foundClaude } from '../found-claude.js';

const statusSchema = z.object({
  loggedIn: z.boolean(),
  authMethod: z.string().optional(),
  apiProvider: z.string().optional(),
});

/** Whether Claude Code says that it is logged in; whether the service accepts that login, only a real task shows. */
export const claudeLogin: Check = {
  id: 'claude-login',
  category: 'claude',
  look: async (context) => {
    const found = await foundClaude(context);
    if ('finding' in found) return found.finding;
    const { command, isClaude } = found.installation;
    if (!isClaude) return unchecked('tasks start another program than Claude Code.');
    const [program = '', ...args] = command;
    const answer = await context.run(program, [...args, 'auth', 'status', '--json']);
    const status = answer.how === 'exited' ? statusOf(answer.stdout) : undefined;
    if (status === undefined)
      return unchecked('this version of Claude Code does not say whether it is logged in.');
    if (status.loggedIn) {
      const method = status.authMethod === undefined ? '' : ` (${status.authMethod})`;
      return ok(`Claude Code is logged in${method}; whether the service accepts it, the first task shows`);
    }
    return {
      status: 'error',
      summary: 'Claude Code is not logged in, so every task ends at its first turn',
      remedy: {
        words:
          'Log in once in a terminal. If a variable of your own holds the login, name it in pass_environment.',
        command: `${command.map((word) => shellWord(word, context.homeDir)).join(' ')} auth login`,
      },
    };
  },
};

function statusOf(text: string): z.infer<typeof statusSchema> | undefined {
  try {
    return statusSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
