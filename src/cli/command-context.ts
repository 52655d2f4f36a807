import type { Command } from 'commander';

/** What the commands are run with. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly serverEntry: string;
  /** How a person runs this program. */
  readonly command: string;
  readonly exitWith: (code: number) => void;
}

/** The settings file that the command line names. */
export function configPath(program: Command): string | undefined {
  return program.opts<{ config?: string }>().config;
}
