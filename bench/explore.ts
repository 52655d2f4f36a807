import { rgPath } from '@vscode/ripgrep';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CHANGES, makeMaterial, NEEDLE, NEEDLES, RANGE_LINES, rangeLine } from './explore-material.js';
import { figuresOf, memoryOf } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, bundledServer, createWorkplace } from './workplace.js';

const FIRST = RANGE_LINES / 2 + 1;
const COUNT = 100;
/** The largest pages of the tools. */
const CONTENT_BYTES = 450_000;
const LIST_BYTES = 400_000;
const MAX_OUTPUT_BYTES = 1_000_000_000;

interface Operation {
  readonly runs: number;
  /** The first call of a server, with what it loads for it. */
  readonly isCold?: boolean;
  /** Throws when the answer is not what it has to be. */
  readonly call: (bridge: StdioClient) => Promise<void>;
  readonly floor: () => Promise<unknown>;
}

/** Each call of the built server over stdio, beside what it cannot be faster than, in turn. */
export async function measureExplore(): Promise<Record<string, unknown>> {
  const workplace = await createWorkplace();
  const material = workplace.project('material');
  makeMaterial(material);
  const minimal = new StdioClient(workplace.minimalServer, workplace.env);
  const plain = new StdioClient(await bundledServer('plain-server', workplace.folder), workplace.env);
  const bridge = new StdioClient(BRIDGE, workplace.env);
  const figures: Record<string, unknown> = {};
  try {
    for (const server of [minimal, plain, bridge]) await server.initialize();
    for (const [name, operation] of Object.entries(operations(material, minimal, plain)))
      figures[name] = await (operation.isCold === true
        ? measuredCold(operation, workplace.env)
        : measured(operation, bridge));
    return figures;
  } finally {
    for (const server of [minimal, plain, bridge]) await server.close();
    workplace.dispose();
  }
}

function operations(material: string, minimal: StdioClient, plain: StdioClient): Record<string, Operation> {
  const at = (name: string): string => join(material, name);
  const tree = { path: at('bigtree'), depth: 5 };
  const found = { path: at('bigtree'), query: NEEDLE };
  const ripgrep = program(rgPath, ['-n', '-F', '--sort=path', '--', NEEDLE, at('bigtree')], material);
  return {
    'trivial call': {
      runs: 200,
      call: async (bridge) => void (await bridge.call('list_tasks', {})),
      floor: () => minimal.call('ping', {}),
    },
    'read_file 1 MB, every page': {
      runs: 20,
      call: (bridge) =>
        pages(
          bridge,
          'read_file',
          { path: at('f1m.txt'), max_bytes: CONTENT_BYTES },
          'content',
          rangeLine(31_775),
        ),
      floor: () => plain.call('read_file', { path: at('f1m.txt') }),
    },
    'read_file_range, first call of a server': {
      runs: 5,
      isCold: true,
      call: async (bridge) => {
        const range = { path: at('f100m.txt'), start_line: FIRST, end_line: FIRST + COUNT - 1 };
        const { content } = await bridge.call('read_file_range', range);
        expect(content === Array.from({ length: COUNT }, (_, n) => rangeLine(FIRST + n)).join('\n'), 'lines');
      },
      floor: program(
        'sed',
        ['-n', `${FIRST},${FIRST + COUNT - 1}p;${FIRST + COUNT - 1}q`, at('f100m.txt')],
        material,
      ),
    },
    'get_file_tree, depth 5': {
      runs: 8,
      call: (bridge) =>
        pages(bridge, 'get_file_tree', { ...tree, max_bytes: LIST_BYTES }, 'tree', 'part-5', 'chunk-'),
      floor: program(rgPath, ['--files', '--hidden', '--glob', '!.git'], at('bigtree')),
    },
    'search_files, every match': {
      runs: 8,
      call: async (bridge) => {
        const answer = await bridge.call('search_files', { ...found, max_bytes: LIST_BYTES });
        expect(z.array(z.unknown()).parse(answer['matches']).length === NEEDLES, 'every match');
      },
      floor: ripgrep,
    },
    git_status: {
      runs: 8,
      call: async (bridge) => {
        const { counts } = await bridge.call('git_status', { path: at('repo20k') });
        const sum = Object.values(z.record(z.string(), z.number()).parse(counts)).reduce((a, b) => a + b, 0);
        expect(sum === CHANGES, 'every change');
      },
      floor: program('git', ['status', '--porcelain=v2', '--branch', '-uall'], at('repo20k')),
    },
    'git_diff, every page of 5 MB': {
      runs: 8,
      call: async (bridge) => {
        let bytes = 0;
        let cursor: unknown;
        do {
          const args = { path: at('repodiff'), ...(cursor !== undefined && { cursor }) };
          const answer = await bridge.call('git_diff', args);
          bytes += String(answer['diff']).length;
          cursor = answer['cursor'];
        } while (cursor !== undefined);
        expect(bytes > 5_000_000, 'the whole diff');
      },
      floor: program('git', ['diff', '--no-color', '--no-ext-diff'], at('repodiff')),
    },
  };
}

async function measured({ runs, call, floor }: Operation, bridge: StdioClient): Promise<unknown> {
  await call(bridge);
  await floor();
  // Makes the peak begin again (proc(5)).
  writeFileSync(`/proc/${bridge.pid}/clear_refs`, '5');
  const before = memoryOf(bridge.pid).peak;
  const times = { own: new Array<number>(), floor: new Array<number>() };
  for (let run = 0; run < runs; run++) {
    times.own.push(await timed(() => call(bridge)));
    times.floor.push(await timed(floor));
  }
  return compared(times, memoryOf(bridge.pid).peak - before);
}

async function measuredCold(
  { runs, call, floor }: Operation,
  env: Readonly<Record<string, string>>,
): Promise<unknown> {
  const times = { own: new Array<number>(), floor: new Array<number>() };
  let growth = 0;
  for (let round = 0; round < runs; round++) {
    const bridge = new StdioClient(BRIDGE, env);
    try {
      await bridge.initialize();
      await bridge.request('tools/list', {});
      const before = memoryOf(bridge.pid).peak;
      times.own.push(await timed(() => call(bridge)));
      times.floor.push(await timed(floor));
      growth = Math.max(growth, memoryOf(bridge.pid).peak - before);
    } finally {
      await bridge.close();
    }
  }
  return compared(times, growth);
}

function compared(
  times: { readonly own: readonly number[]; readonly floor: readonly number[] },
  peakGrowthMb: number,
): unknown {
  const ms = figuresOf(times.own);
  const floorMs = figuresOf(times.floor);
  return { ms, floorMs, ratio: ms.median / floorMs.median, peakGrowthMb };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Every page of a call; the last one holds `wanted`, none holds `unwanted`. */
async function pages(
  bridge: StdioClient,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  field: string,
  wanted: string,
  unwanted?: string,
): Promise<void> {
  let cursor: unknown;
  for (;;) {
    const answer = await bridge.call(tool, cursor === undefined ? args : { ...args, cursor });
    const given = answer[field];
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    expect(unwanted === undefined || !text.includes(unwanted), 'nothing ignored');
    cursor = answer['cursor'];
    if (cursor !== undefined) continue;
    expect(text.includes(wanted), `${wanted} at its end`);
    return;
  }
}

function program(name: string, args: readonly string[], cwd: string): () => Promise<string> {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent' };
  return () =>
    new Promise((resolve, reject) => {
      execFile(name, [...args], { cwd, env, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${name} failed`, { cause: error }));
      });
    });
}

function expect(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`The answer does not have ${what}.`);
}
