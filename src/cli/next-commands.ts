// Pure: the command that takes a step.
import { nextWords, type Next, type Step, type StepName } from '../base/errors.js';
import { cellsOf, withCommand, type Look } from './terminal-text.js';

const commands: Readonly<Record<StepName, string>> = {
  answer: 'tasks answer',
  choose: 'run --path',
  continue: 'run --continue',
  end: 'tasks kill',
  list: 'tasks list',
  message: 'tasks message',
  result: 'tasks show',
  screen: 'attach',
  start: 'run',
  status: 'tasks show',
  wait: 'tasks follow',
};

/** `command` is how a person runs this program. */
function commandOf({ do: name, task = '' }: Step, command: string): string {
  return `${`${command} ${commands[name]} ${task}`.trimEnd()}${name === 'continue' ? ' "Go on."' : ''}`;
}

/** For the sentence about a step; `command` is how a person runs this program. */
export function byCommand(command: string): (step: Step) => string {
  return (step) => ` (\`${commandOf(step, command)}\`)`;
}

/** What to do next: in sentences, or, where these are wider than the terminal, a line each with its command, which is copied whole. */
export function nextLines(next: Next, command: string, look: Look): string {
  const whole = nextWords(next, byCommand(command));
  if (look.columns === undefined || cellsOf(whole) <= look.columns) return whole;
  return next
    .map((one) =>
      typeof one === 'string'
        ? one
        : withCommand(nextWords([one]).replace(/\.$/, ':'), commandOf(one, command), look),
    )
    .join('\n');
}
