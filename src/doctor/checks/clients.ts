import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import type { ChatClient, ClientPlace } from '../../clients/chat-client.js';
import { readClientSettings, settingsPath } from '../../clients/client-settings.js';
import { installedClients, isThere, windowsHome } from '../../clients/find-clients.js';
import { SERVER_NAME } from '../../clients/server-command.js';
import { findOnPath } from '../../os/find-on-path.js';
import { runProgram } from '../../os/run-program.js';
import {
  editCommand,
  fault,
  ok,
  unchecked,
  warning,
  type Check,
  type DoctorContext,
  type Finding,
} from '../check.js';

/** What the entries of all clients have in common: a program with arguments, in one of three spellings. */
const entrySchema = z.looseObject({
  command: z.union([z.string(), z.array(z.string())]).optional(),
  cmd: z.string().optional(),
  args: z.array(z.string()).optional(),
});

/** What is known of one client; `path`: of the settings that cannot be read. */
interface FoundClient {
  readonly client: ChatClient;
  readonly state: 'ready' | 'absent' | 'mentioned' | 'broken' | 'dead';
  readonly words: string;
  readonly path?: string;
}

/** The settings of the chat clients that are installed here. */
export const clients: Check = {
  id: 'clients',
  category: 'clients',
  look: async (context) => {
    const { env, homeDir, platform } = context;
    const place: ClientPlace = { env, homeDir, platform, windowsHome: await windowsHome(env) };
    const installed = await installedClients(place);
    const found = await Promise.all(
      installed.map(async (client) => ({ client, ...(await stateOf(client, place)) })),
    );
    const details = found.map(({ client, words }) => `${client.title}: ${words}`);
    return { ...findingOf(found, context), details };
  },
};

function findingOf(found: readonly FoundClient[], { command, homeDir }: DoctorContext): Finding {
  const of = (wanted: FoundClient['state']): readonly FoundClient[] =>
    found.filter(({ state }) => state === wanted);
  const titles = (some: readonly FoundClient[]): string => some.map(({ client }) => client.title).join(', ');
  const ids = (some: readonly FoundClient[]): string => some.map(({ client }) => client.id).join(',');
  const [broken] = of('broken');
  if (broken !== undefined) {
    const summary = `The bridge cannot read the settings of ${broken.client.title}`;
    return warning(summary, 'Correct the file.', editCommand(broken.path ?? '', homeDir));
  }
  const dead = of('dead');
  if (dead.length > 0) {
    const again = `${command} init --yes --client ${ids(dead)}`;
    return fault(`${titles(dead)} cannot start the bridge`, 'Write the entry again.', again);
  }
  if (of('ready').length > 0) return ok(`${titles(of('ready'))} can start the bridge`);
  if (of('mentioned').length > 0)
    return ok(`The settings of ${titles(of('mentioned'))} mention the bridge; more is not known`);
  const absent = of('absent');
  return warning(
    'No chat client that was found here knows the bridge',
    'Add it to the clients that you use.',
    absent.length === 0 ? `${command} init` : `${command} init --client ${ids(absent)}`,
  );
}

async function stateOf(client: ChatClient, place: ClientPlace): Promise<Omit<FoundClient, 'client'>> {
  const absent = { state: 'absent', words: 'has no entry for the bridge' } as const;
  const path = await settingsPath(client, place);
  if (path === undefined) return absent;
  try {
    const { entry, servers, text, note } = await readClientSettings(client, path);
    if (servers === undefined && text.includes(SERVER_NAME)) {
      // Settings that are not JSON are read no further.
      const { ownCommand } = client;
      const show = ownCommand === undefined ? '' : `; ${ownCommand} get ${SERVER_NAME} shows its entry`;
      return { state: 'mentioned', words: `${path} mentions ${SERVER_NAME}${show}` };
    }
    if (entry === undefined) return absent;
    const { said, fault } = await lookAtEntry(entry, place);
    const words = `${said} (${path})${fault === undefined ? '' : `, but ${fault}`}`;
    return {
      state: fault === undefined ? 'ready' : 'dead',
      words: note === undefined ? words : `${words}. ${note}`,
    };
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    return { state: 'broken', words: error.message, path };
  }
}

/** What an entry starts, and why that is not possible here. */
async function lookAtEntry(
  entry: unknown,
  { env }: ClientPlace,
): Promise<{ readonly said: string; readonly fault?: string }> {
  const { command, cmd, args = [] } = entrySchema.safeParse(entry).data ?? {};
  const [program = '', ...rest] = Array.isArray(command) ? command : [command ?? cmd ?? ''];
  const words = [program, ...rest, ...args];
  const said = `starts ${words.join(' ')}`;
  if (program === '') return { said: 'has an entry', fault: 'it names no program' };
  // A program of Windows, which starts the bridge in WSL.
  if (program.endsWith('.exe')) return { said };
  const isFound = isAbsolute(program)
    ? await isThere(program)
    : (await findOnPath(program, env['PATH'])) !== undefined;
  if (!isFound) return { said, fault: `${program} was not found` };
  const file = words.slice(1).find((word) => isAbsolute(word) && /\.[cm]?js$/.test(word));
  return file === undefined || (await isThere(file)) ? { said } : { said, fault: `${file} does not exist` };
}

/** Claude Code 2.1.330 and 2.1.332 wait 2.7 s for the first answer, then speak the older protocol, in which no task calls back. */
const WAITS_MS = 2_700;
const GOOD_MS = 1_000;
const START_LIMIT_MS = 15_000;

const discover = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'server/discover',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'doctor', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
})}\n`;

export const serverStart: Check = {
  id: 'server-start',
  category: 'clients',
  alone: true,
  limitMs: START_LIMIT_MS,
  look: async ({ serverEntry, signal, homeDir, ...context }) => {
    const env = Object.fromEntries(
      Object.entries(context.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    const startMs = performance.now();
    let answeredMs: number | undefined;
    const call = { program: process.execPath, args: [serverEntry], cwd: homeDir, env, signal };
    await runProgram({ ...call, timeLimitMs: START_LIMIT_MS, input: Buffer.from(discover) }, () => {
      answeredMs ??= performance.now() - startMs;
    });
    if (answeredMs === undefined) return unchecked('the server answered nothing.');
    const summary = `The server answers ${Math.round(answeredMs)} ms after its start`;
    if (answeredMs <= GOOD_MS) return ok(summary);
    const late = warning(
      `${summary}; Claude Code waits ${WAITS_MS / 1_000} s, and is not called at the end of a task when that is over`,
      'Install the package on this machine, instead of starting it with npx, and close what else keeps it busy.',
      'npm install -g claude-code-bridge',
    );
    return answeredMs < WAITS_MS ? { ...late, status: 'ok' } : late;
  },
};
