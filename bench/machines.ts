import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { isThere } from '../tests/harness/need-table.js';
import { startSshMachine, type Cut, type SshMachine } from '../tests/harness/ssh-machines.js';
import { figuresOf, inTurn, memoryOf } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';

const MACHINES = 3;
const ROUNDS = 12;
const CUTS = 10;
/** All of them are noticed; the line comes back at any moment of a try. */
const CUT_MS = { least: 11_000, more: 900 };
/** Between two looks for a byte. */
const LOOK_MS = 2;
/** Prints when its project has the file `go`, which it takes away, until it has the file `stop`. */
const AGENT = `#!/bin/bash
[ "$1" = --version ] && { echo 'agent 1.0'; exit; }
until [ -e stop ]; do if [ -e go ]; then rm go; echo BYTE; else sleep 0.005; fi; done
`;
const startSchema = z.object({ task_id: z.string() });
const outputSchema = z.object({ cursor: z.string(), text: z.string() });

/** What a machine over ssh costs: a first byte and a call, compared with this machine; a cut line; memory. Root on Linux only. */
export async function measureMachines(): Promise<unknown> {
  if (!isThere.machines()) return 'left out: needs root on Linux, and scripts/fetch-sshd.sh .cache/sshd';
  const machines: SshMachine[] = [];
  for (let n = 1; n <= MACHINES; n++)
    machines.push(
      await startSshMachine({
        name: `far${n}`,
        apiUrl: 'http://127.0.0.1:1',
        claude: process.execPath,
        env: { MCP_CLAUDE_COMMAND: '/opt/machine/bin/agent' },
      }),
    );
  const setting = Object.fromEntries(machines.map(({ name, command }) => [name, { command }]));
  const workplace = await createWorkplace({ MCP_MACHINES: JSON.stringify(setting) });
  writeFileSync(workplace.agent, AGENT);
  for (const { machineDir } of machines)
    writeFileSync(join(machineDir, 'bin', 'agent'), AGENT, { mode: 0o755 });
  const client = await StdioClient.open(BRIDGE, workplace.env);
  try {
    const aloneMb = memoryOf(client.pid).rss;
    await client.call('list_tasks', {});
    const withMachinesMb = memoryOf(client.pid).rss;
    const [far] = machines;
    if (far === undefined) throw new Error('no machine');
    const places = await placesOf(client, workplace, far);
    const compared = await compare(client, places);
    const { id } = places.there;
    const back = {
      link: await reconnects(client, far, id, 'link'),
      stall: await reconnects(client, far, id, 'stall'),
    };
    for (const place of [places.here, places.there]) place.make('stop');
    return { ...compared, backMs: back, memory: { aloneMb, withMachinesMb, sshMb: sshMemory(client.pid) } };
  } finally {
    await client.close();
    for (const machine of machines) await machine.end();
    workplace.dispose();
  }
}

/** Where a task runs: its id, and how a file of its project is made without the line. */
interface Place {
  readonly id: string;
  make(name: string): void;
}

interface Places {
  readonly here: Place;
  readonly there: Place;
}

async function placesOf(client: StdioClient, workplace: Workplace, machine: SshMachine): Promise<Places> {
  const project = workplace.project('bytes');
  const path = await machine.folder('bytes');
  const start = async (where: object): Promise<string> =>
    startSchema.parse(await client.call('start_task', { prompt: 'Go.', ...where })).task_id;
  return {
    here: {
      id: await start({ path: project }),
      make: (name) => writeFileSync(join(project, name), ''),
    },
    there: {
      id: await start({ path, machine: machine.name }),
      make: (name) => writeFileSync(join(machine.homeDir, basename(path), name), ''),
    },
  };
}

async function compare(client: StdioClient, { here, there }: Places): Promise<object> {
  const pair = (act: (place: Place) => Promise<unknown>): Promise<object> =>
    inTurn({ rounds: ROUNDS, own: () => act(there), floor: () => act(here) });
  const firstByte = await pair((place) => byteOf(client, place));
  const call = await pair(({ id }) => client.call('get_task_status', { task_id: id }));
  return { firstByte, call };
}

/** From the moment at which a program prints until a client has read it. */
async function byteOf(client: StdioClient, { id, make }: Place): Promise<void> {
  const read = async (cursor?: string) =>
    outputSchema.parse(
      await client.call('get_task_output', {
        task_id: id,
        view: 'log',
        ...(cursor !== undefined && { cursor }),
      }),
    );
  const { cursor } = await read();
  make('go');
  while (!(await read(cursor)).text.includes('BYTE')) await sleep(LOOK_MS);
}

/** From the moment at which a line is back until a call is answered. */
async function reconnects(client: StdioClient, machine: SshMachine, id: string, kind: Cut): Promise<object> {
  const samples: number[] = [];
  for (let round = 0; round < CUTS; round++) {
    await machine.cut(kind);
    await sleep(CUT_MS.least + round * CUT_MS.more);
    await machine.restore();
    const startMs = performance.now();
    const ask = (): Promise<unknown> => client.call('get_task_status', { task_id: id });
    while ((await ask().catch(() => undefined)) === undefined) await sleep(LOOK_MS);
    samples.push(performance.now() - startMs);
  }
  return figuresOf(samples);
}

/** Resident memory of each ssh that holds a line, in MB. */
function sshMemory(pid: number): number[] {
  const out = execFileSync('ps', ['-o', 'rss=,comm=', '--ppid', `${pid}`], { encoding: 'utf8' });
  const lines = out.split('\n').filter((line) => line.endsWith(' ssh'));
  return lines.map((line) => (Number.parseInt(line, 10) * 1024) / 1e6);
}
