import { fault, ok, unchecked, type Check, type DoctorContext, type Finding } from '../check.js';
import { aboutClaude } from './claude.js';

const REPORT_LINES = 25;

/** A check by a session with a scripted model: no account is needed. */
function scripted(look: (program: string, context: DoctorContext) => Promise<Finding>): Check['look'] {
  return aboutClaude(async ({ command, isClaude }, context) => {
    const [program = '', ...args] = command;
    return isClaude && args.length === 0
      ? look(program, context)
      : unchecked(`tasks start '${command.join(' ')}', which a scripted model cannot drive.`);
  });
}

/** A small task with the real Claude Code, in folders of its own. It takes some seconds, and many on a busy machine. */
export const wholeTask: Check = {
  id: 'whole-task',
  category: 'task',
  limitMs: 150_000,
  alone: true,
  look: scripted(async (program, { tryTask, signal, command }) => {
    const startedMs = performance.now();
    const { ok: isDone, report } = await tryTask(program, signal);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    if (isDone) return ok(`A task with a scripted model was done in ${seconds} s`);
    return fault(
      'A task with a scripted model was not done',
      'Mend what is named above first; then run it alone to see all of it.',
      `${command} demo --claude ${program}`,
      report.trimEnd().split('\n').slice(-REPORT_LINES),
    );
  }),
};

/** Whether this Claude Code holds rules as the bridge relies on: a session of some thirty calls; a busy machine takes a minute. */
export const rules: Check = {
  id: 'rules',
  category: 'task',
  limitMs: 180_000,
  alone: true,
  look: scripted(async (program, { tryRules, signal, testedClaude }) => {
    const details = await tryRules(program, signal);
    if (details.length === 0) return ok('Claude Code holds rules as the bridge relies on');
    return fault(
      'Claude Code does not hold rules as the bridge relies on',
      `Use a version that is tested: ${testedClaude.join(' or ')}. Until then no rule of a task is sure.`,
      `npm install -g @anthropic-ai/claude-code@${testedClaude.at(-1) ?? 'latest'}`,
      details,
    );
  }),
};
