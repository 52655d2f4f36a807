import { ok, unchecked, type Check } from '../check.js';
import { foundClaude } from '../found-claude.js';

/** It takes some seconds, and many on a busy machine. */
const LIMIT_MS = 150_000;
const REPORT_LINES = 25;

/** A small task with the real Claude Code and a scripted model, in folders of its own: no account is needed. */
export const wholeTask: Check = {
  id: 'whole-task',
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
    const startedMs = performance.now();
    const { ok: isDone, report } = await context.tryTask(program, context.signal);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    if (isDone) return ok(`A task with a scripted model was done in ${seconds} s`);
    return {
      status: 'error',
      summary: 'A task with a scripted model was not done',
      details: report.trimEnd().split('\n').slice(-REPORT_LINES),
      remedy: {
        words: 'Mend what is named above first; then run it alone to see all of it.',
        command: `${context.command} demo --claude ${program}`,
      },
    };
  },
};
