import { systemClock } from '../base/system-clock.js';
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { Config } from '../config/schema.js';
import { bridgeStart } from './bridge-start.js';
import { Line } from './line.js';
import type { Machine, Machines } from './machine.js';

export interface MachinesOptions {
  readonly config: Pick<Config, 'machines'>;
  /** The user's own environment: that of the commands, and where the variables of `pass_environment` are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly clock?: Clock;
}

/** The machines of the settings. No line is open before its first request. */
export function openMachines({ config, env, homeDir, clock = systemClock }: MachinesOptions): Machines {
  const lines = Object.entries(config.machines).map(([machine, { command, bridge, pass_environment }]) => {
    const variables = passedVariables(pass_environment, env);
    const script = bridgeStart(machine, bridge, Object.keys(variables));
    return new Line({ machine, command, cwd: homeDir, env, variables, ...script }, clock);
  });
  const all: readonly Machine[] = lines;
  return {
    all,
    get: (name) => all.find((one) => one.name === name) ?? notFound(name, all),
    dispose: () => {
      for (const line of lines) line.dispose();
    },
  };
}

/** The values here of the variables that `pass_environment` names, as far as they have one. */
export function passedVariables(
  names: readonly string[] = [],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function notFound(name: string, all: readonly Machine[]): never {
  const names = all.map((one) => one.name).join(', ');
  throw new BridgeError(
    'MACHINE_NOT_FOUND',
    `The setting machines has no ${JSON.stringify(name)}.`,
    names === '' ? 'It has none: `claude-code-bridge machines add` adds one.' : `It has: ${names}.`,
  );
}
