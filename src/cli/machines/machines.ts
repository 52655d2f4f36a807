import type { Command } from 'commander';
import {
  addCommand,
  addDefaultList,
  requireOutsideTasks,
  untilStopped,
  type CommandContext,
} from '../command.js';

/** Adds `machines` and its commands; what they need is loaded for them alone. */
export function addMachines(parent: Command, context: CommandContext): void {
  const { env, ending } = context;
  const load = () => import('./machine-commands.js');
  const words = 'list, add and check other machines on which tasks may run';
  const machines = addCommand(parent, context, 'machines', words, '', 'add gpu ssh://me@gpu');
  const add = (name: string, description: string, ...examples: string[]): Command =>
    addCommand(machines, context, name, description, ...examples);
  const list = ending(async ({ json = false }: { json?: boolean }) =>
    (await load()).listMachines(json, context),
  );
  add('list', 'list your machines, and whether each answers (the default)', '', '--json')
    .option('--json', 'print one JSON value instead of text')
    .action(list);
  addDefaultList(machines, list);
  add(
    'add',
    'install the bridge on a machine, check it, and write it into your settings; of one that is there, bring this version there',
    'gpu ssh://me@gpu',
    'box -- docker exec -i box',
    'gpu',
  )
    .argument('<name>', 'what the machine is called here: small letters, digits and dashes')
    .argument(
      '[place...]',
      'ssh://user@host[:port], or after -- a command that gives a shell there; default: that of the settings',
    )
    .action(
      ending(async (name: string, place: readonly string[]) => {
        await requireOutsideTasks(env, 'add machines');
        return (await load()).addMachine(name, place, context, untilStopped());
      }),
    );
  add('doctor', 'check a machine: the line to it, the bridge there, and all that tasks need there', 'gpu')
    .argument('<name>')
    .option('--json', 'print one JSON value instead of text')
    .option('--quick', 'leave out the task with a scripted model, which takes some seconds')
    .action(
      ending(async (name: string, flags: { json?: boolean; quick?: boolean }) =>
        (await load()).checkMachine(name, flags, context, untilStopped()),
      ),
    );
  add('rm', 'take a machine out of your settings; what is there stays', 'gpu', 'gpu --purge')
    .argument('<name>')
    .option('--purge', 'also remove the bridge there, unless something runs with it')
    .action(
      ending(async (name: string, { purge = false }: { purge?: boolean }) => {
        await requireOutsideTasks(env, 'remove machines');
        return (await load()).removeMachine(name, purge, context, untilStopped());
      }),
    );
}
