import { ok, unchecked, type Check } from '../check.js';
import { foundClaude } from '../found-claude.js';

/** A session of some thirty calls; a busy machine takes a minute. */
const LIMIT_MS = 180_000;

/** Whether this Claude Code holds rules as the bridge relies on, by a session with a scripted model in folders of its own. */
export const rules: Check = {
  id: 'rules',
  category: 'task',
  limitMs: LIMIT_MS,
  alone: true,
  look: async (context) => {
    const found = await foundClaude(context);
    if ('finding' in found) return found.finding;
    const { command, isClaude } = found.installation;
    const [program = '', ...args] = command;
    if (!isClaude || args.length > 0)
      return unchecked(`tasks start '${command.join(' ')}', which a scripted model cannot drive.`);
    const differences = await context.tryRules(program, context.signal);
    if (differences.length === 0) return ok('Claude Code holds rules as the bridge relies on');
    return {
      status: 'error',
      summary: 'Claude Code does not hold rules as the bridge relies on',
      details: differences,
      remedy: {
        words: `Use a version that is tested: ${context.testedClaude.join(' or ')}. Until then no rule of a task is sure.`,
        command: `npm install -g @anthropic-ai/claude-code@${context.testedClaude.at(-1) ?? 'latest'}`,
      },
    };
  },
};
