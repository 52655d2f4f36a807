import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandOf } from './marked-processes.js';
import { writeProgram } from './scripted-agent.js';
import { serverEntry } from './start-bridge.js';
import { until } from './until.js';
import { createWorkplace, type Workplace } from './workplace.js';

/** Another machine: a user with folders of its own, and a command that gives a shell there. */
export interface FarWorkplace extends Workplace {
  /** Of the setting `machines`. */
  readonly setting: { readonly command: readonly string[]; readonly bridge: readonly string[] };
  /** Ends the line, which cannot be opened until `mend`. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** The environment there is made from nothing; `more` gives what a workplace does not have, such as the program of its tasks. */
export async function farWorkplace(
  more: (workplace: Workplace) => Promise<Readonly<Record<string, string>>>,
): Promise<FarWorkplace> {
  const workplace = await createWorkplace();
  const roots = JSON.stringify([workplace.projectsDir, workplace.homeDir]);
  const env = { ...workplace.env, MCP_ALLOWED_ROOTS: roots, ...(await more(workplace)) };
  const words = Object.entries(env).map(
    ([name, value]) => `'${name}=${value.replaceAll("'", String.raw`'\''`)}'`,
  );
  const down = join(workplace.root, 'down');
  const program = await writeProgram(
    workplace,
    'wire',
    `[ -e '${down}' ] && { echo 'No route to host' >&2; exit 255; }\nexec env -i ${words.join(' ')} "$@"`,
  );
  const servers = async (): Promise<number[]> => {
    const pids = await workplace.processes();
    const commands = await Promise.all(pids.map(commandOf));
    return pids.filter((_, index) => commands[index]?.includes('--link') === true);
  };
  return {
    ...workplace,
    setting: { command: [program], bridge: [process.execPath, serverEntry] },
    cut: async () => {
      await writeFile(down, '');
      for (const pid of await servers()) process.kill(pid, 'SIGKILL');
      await until('the line is down', async () => (await servers()).length === 0);
    },
    mend: () => rm(down),
  };
}
