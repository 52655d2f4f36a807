import { rgPath } from '@vscode/ripgrep';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import {
  CHANGES,
  makeMaterial,
  MEGABYTE_LINES,
  NEEDLE,
  NEEDLES,
  RANGE_LINES,
  rangeLine,
} from './explore-material.js';
import { inTurn, type Pair } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, bundledServer, createWorkplace } from './workplace.js';

const FIRST = RANGE_LINES / 2 + 1;
const LAST = FIRST + 99;
/** The largest pages of the tools. */
const CONTENT_BYTES = 450_000;
const LIST_BYTES = 400_000;
const MAX_OUTPUT_BYTES = 1_000_000_000;
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent' };

/** Each call of the built server over stdio, beside what it cannot be faster than. */
export async function measureExplore(): Promise<Record<string, unknown>> {
  const workplace = await createWorkplace();
  const { env, folder, minimalServer } = workplace;
  const material = workplace.project('material');
  makeMaterial(material);
  const minimal = await StdioClient.open(minimalServer, env);
  const plain = await StdioClient.open(await bundledServer('plain-server', folder), env);
  let bridge = await StdioClient.open(BRIDGE, env);
  const restart = async (): Promise<void> => {
    await bridge.close();
    bridge = await StdioClient.open(BRIDGE, env);
    await bridge.request('tools/list', {});
  };
  const at = (name: string): string => join(material, name);
  try {
    const figures: Record<string, unknown> = {
      'trivial call': await inTurn({
        rounds: 200,
        own: () => bridge.call('list_tasks', {}),
        floor: () => minimal.call('ping', {}),
      }),
      'read_file 1 MB, every page': await inTurn({
        rounds: 20,
        own: async () => {
          const args = { path: at('f1m.txt'), max_bytes: CONTENT_BYTES };
          const last = (await pages(bridge, 'read_file', args)).at(-1);
          expect(String(last?.['content']).includes(rangeLine(MEGABYTE_LINES)), 'the last line');
        },
        floor: () => plain.call('read_file', { path: at('f1m.txt') }),
      }),
    };
    for (const [name, pair] of Object.entries(besidePrograms(at, () => bridge)))
      figures[name] = await inTurn({ rounds: 8, ...pair });
    // Last, with what a server loads for its first call.
    const range = `${FIRST},${LAST}p;${LAST}q`;
    figures['read_file_range, first call of a server'] = await inTurn({
      rounds: 5,
      before: restart,
      own: async () => {
        const args = { path: at('f100m.txt'), start_line: FIRST, end_line: LAST };
        const { content } = await bridge.call('read_file_range', args);
        const wanted = Array.from({ length: LAST + 1 - FIRST }, (_, n) => rangeLine(FIRST + n));
        expect(content === wanted.join('\n'), 'the lines');
      },
      floor: () => run('sed', ['-n', range, at('f100m.txt')], material),
    });
    return figures;
  } finally {
    for (const server of [minimal, plain, bridge]) await server.close();
    workplace.dispose();
  }
}

/** Calls whose floor is the program that does the same. */
function besidePrograms(
  at: (name: string) => string,
  bridge: () => StdioClient,
): Readonly<Record<string, Pick<Pair, 'own' | 'floor'>>> {
  const tree = at('bigtree');
  return {
    'get_file_tree, depth 5': {
      own: async () => {
        const all = await pages(bridge(), 'get_file_tree', { path: tree, depth: 5, max_bytes: LIST_BYTES });
        const text = JSON.stringify(all);
        expect(text.includes('part-5') && !text.includes('chunk-'), 'all but what is ignored');
      },
      floor: () => run(rgPath, ['--files', '--hidden', '--glob', '!.git'], tree),
    },
    'search_files, every match': {
      own: async () => {
        const args = { path: tree, query: NEEDLE, max_bytes: LIST_BYTES };
        const { matches } = await bridge().call('search_files', args);
        expect(z.array(z.unknown()).parse(matches).length === NEEDLES, 'every match');
      },
      floor: () => run(rgPath, ['-n', '-F', '--sort=path', '--', NEEDLE, tree], tree),
    },
    git_status: {
      own: async () => {
        const { counts } = await bridge().call('git_status', { path: at('repo20k') });
        const sum = Object.values(z.record(z.string(), z.number()).parse(counts)).reduce((a, b) => a + b, 0);
        expect(sum === CHANGES, 'every change');
      },
      floor: () => run('git', ['status', '--porcelain=v2', '--branch', '-uall'], at('repo20k')),
    },
    'git_diff, every page of 5 MB': {
      own: async () => {
        const all = await pages(bridge(), 'git_diff', { path: at('repodiff') });
        expect(all.map(({ diff }) => diff).join('').length > 5_000_000, 'the whole diff');
      },
      floor: () => run('git', ['diff', '--no-color', '--no-ext-diff'], at('repodiff')),
    },
  };
}

/** The answers of a call for every page. */
async function pages(
  bridge: StdioClient,
  tool: string,
  args: Readonly<Record<string, unknown>>,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const answers = [await bridge.call(tool, args)];
  for (let cursor = answers[0]?.['cursor']; cursor !== undefined; cursor = answers.at(-1)?.['cursor'])
    answers.push(await bridge.call(tool, { ...args, cursor }));
  return answers;
}

function run(name: string, args: readonly string[], cwd: string): Promise<unknown> {
  return promisify(execFile)(name, [...args], { cwd, env: ENVIRONMENT, maxBuffer: MAX_OUTPUT_BYTES });
}

function expect(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`The answer does not have ${what}.`);
}
