// Pure: the command that takes a step.
import type { Step, StepName } from '../base/errors.js';

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

/** For the sentence about a step; `command` is how a person runs this program. */
export function byCommand(command: string): (step: Step) => string {
  return ({ do: name, task = '' }) =>
    ` (\`${`${command} ${commands[name]} ${task}`.trimEnd()}${name === 'continue' ? ' "Go on."' : ''}\`)`;
}
