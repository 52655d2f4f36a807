import { readdir, readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject } from 'vitest';
import { startScriptedApi, type Script, type ScriptedApi } from '../../../src/cli/demo/scripted-api.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startSshMachine, type SshMachine } from '../../harness/ssh-machines.js';
import { until } from '../../harness/until.js';

/** The model runs what the prompt, or the output of what it ran last, tells it: a line `DO <command>`. */
export const doesAsTold: Script = ({ userText, toolResults }) => {
  const told = toolResults.length > 0 ? toolResults.map(({ text }) => text).join('\n') : userText;
  const command = /^DO (.+)$/m.exec(told)?.[1];
  return command === undefined ? says('Done.') : runs(command);
};

/** The suite where other machines can be made, with the newest pinned Claude Code; else it is left out, and the run names that. */
export function describeMachines(name: string, suite: (claude: string) => void): void {
  const claude = inject('claudeVersions').at(-1)?.binary;
  if (claude === undefined || inject('missing').includes('machines')) describe.skip(name, () => {});
  else describe(name, () => suite(claude));
}

export interface SharedMachines {
  readonly all: readonly SshMachine[];
  readonly api: ScriptedApi;
  /** The setting `machines` of a server of this machine. */
  readonly env: Readonly<Record<string, string>>;
  /** The machine of this number, from 1 on. */
  machine(number: number): SshMachine;
}

export interface SharedOptions {
  readonly claude: string;
  readonly count: number;
  readonly script?: Script;
  /** Further environment of the user of a machine, by its name. */
  readonly env?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** More of each entry of the setting. */
  readonly setting?: Readonly<Record<string, unknown>>;
}

/**
 * Machines `far1`, `far2`, … for all tests around the call. After the last test the lines must be gone: no process of their commands here, no
 * server there.
 */
export function sharedMachines({ claude, count, script, env, setting }: SharedOptions): () => SharedMachines {
  let shared: SharedMachines | undefined;
  const all: SshMachine[] = [];
  let api: ScriptedApi | undefined;
  beforeAll(async () => {
    api = await startScriptedApi(script ?? doesAsTold);
    for (let number = 1; number <= count; number++) {
      const name = `far${number}`;
      all.push(await startSshMachine({ name, apiUrl: api.url, claude, env: env?.[name] ?? {} }));
    }
    const machines = Object.fromEntries(all.map(({ name, command }) => [name, { command, ...setting }]));
    shared = {
      all,
      api,
      env: { MCP_MACHINES: JSON.stringify(machines) },
      machine: (number) => {
        const found = all[number - 1];
        if (found === undefined) throw new Error(`there is no machine ${number}`);
        return found;
      },
    };
  });
  afterEach(async () => {
    for (const machine of all) await machine.restore();
  });
  afterAll(async () => {
    try {
      await until('no line is left', async () => expect(await linesOf(all)).toEqual([]));
    } finally {
      for (const machine of all) await machine.end();
      await api?.dispose();
    }
  });
  return () => {
    if (shared === undefined) throw new Error('the machines are started before the first test');
    return shared;
  };
}

/** The command lines of what holds lines to these machines: commands here, and servers there. */
export async function linesOf(machines: readonly SshMachine[]): Promise<string[]> {
  const found: string[] = [];
  for (const { command, processes } of machines) {
    const config = command[2] ?? '';
    found.push(
      ...(await commandLines()).filter((words) => words.startsWith('ssh ') && words.includes(config)),
    );
    found.push(...(await serversOf({ processes })).values());
  }
  return found;
}

/** The far ends of lines, by their pids on this machine. */
export async function serversOf({ processes }: Pick<SshMachine, 'processes'>): Promise<Map<number, string>> {
  return new Map([...(await processes())].filter(([, words]) => words.includes('serve --link')));
}

/** Of all processes of this machine. */
export async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.map((line) => line.replaceAll('\0', ' ').trim());
}
