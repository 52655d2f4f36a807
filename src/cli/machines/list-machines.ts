import { BridgeError } from '../../base/errors.js';
import { countedNoun, oneLine, shownLine } from '../../base/text.js';
import type { Machine } from '../../machines/machine.js';
import { openMachines } from '../../machines/machines.js';
import type { CommandContext } from '../command.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { fitted, padded, withCommand, type Style } from '../terminal-text.js';
import { machineSettings } from './machine-settings.js';
import { pasted } from './place.js';

const LIMIT_MS = 10_000;
const MAX_WHY_CHARS = 300;
/** More than run on one machine. */
const MAX_ACTIVE = 1_000;

/** What a machine says when it is asked. */
interface Answer {
  readonly name: string;
  readonly command: readonly string[];
  readonly live: boolean;
  readonly version?: string;
  readonly hostname?: string;
  /** That have not ended. */
  readonly tasks?: number;
  /** Two names with the same one are one machine and one user. */
  readonly state_id?: string;
  /** It does not answer. */
  readonly why?: string;
}

/** Asks all machines of the settings at once, each for at most ten seconds, and prints what they say. */
export async function listMachines(json: boolean, context: CommandContext): Promise<ExitCode> {
  const { command, look, output } = context;
  const settings = await machineSettings(context);
  const names = Object.keys(settings.machines);
  const machines = openMachines({ ...context, config: settings });
  let answers: Answer[];
  try {
    answers = await Promise.all(
      names.map((name) => ask(machines.get(name), settings.machines[name]?.command ?? [])),
    );
  } finally {
    machines.dispose();
  }
  const width = Math.max(0, ...names.map((name) => name.length));
  const indent = ' '.repeat(width + 2);
  const lines = answers.flatMap((one) => {
    const [style, state] = stateWords(one, answers);
    return [
      fitted(`${padded(one.name, width)}  ${shownLine(pasted(one.command))}`, look, indent),
      look.paint(style, fitted(`${indent}${state}`, look, indent)),
    ];
  });
  const none = withCommand('No machines. To add one:', `${command} machines add gpu ssh://me@gpu`, look);
  const text = `${(names.length === 0 ? [none] : lines).join('\n')}\n`;
  void output.write(json ? `${JSON.stringify(answers, null, 2)}\n` : text);
  return exitCodes.done;
}

async function ask(machine: Machine, command: readonly string[]): Promise<Answer> {
  const { name } = machine;
  try {
    const query = { status: 'active' as const, limit: MAX_ACTIVE };
    const { tasks } = await machine.call('task.list', query, { timeoutMs: LIMIT_MS, repeats: true });
    const { state } = machine;
    if (state.how !== 'live') return { name, command, live: false, why: 'the line was cut' };
    const { version, hostname, state_id } = state.far;
    return { name, command, live: true, version, hostname, tasks: tasks.length, state_id };
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    return { name, command, live: false, why: oneLine(error.data['why'] ?? error.message, MAX_WHY_CHARS) };
  }
}

function stateWords({ name, ...one }: Answer, all: readonly Answer[]): readonly [Style, string] {
  const { version = '', hostname = '', tasks = 0, state_id, why } = one;
  if (why !== undefined) return ['red', `does not answer: ${why}`];
  const twin = all.find((other) => other.name !== name && other.state_id === state_id);
  const same =
    twin === undefined ? '' : `; the same machine and user as ${twin.name}, so its tasks are listed twice`;
  const facts = `${shownLine(hostname)}, version ${shownLine(version)}, ${countedNoun(tasks, 'task')} running`;
  return [twin === undefined ? 'green' : 'yellow', `live: ${facts}${same}`];
}
