// Pure: what the tests of clients have seen → docs/clients.md.
import { FEATURES, type Feature, type SeenClients } from '../../tests/long/clients/seen.js';

const HEADS: Readonly<Record<Feature, string>> = {
  init: 'set up by',
  tools: 'tools',
  delegation: 'a whole delegation',
  decision: 'a decision',
  calledBack: 'is called back',
  wait: 'longest wait',
  resources: 'resources',
  prompts: 'prompts',
};

/** The page of all clients that were run, sorted by their titles and versions. */
export function clientsPage(seen: SeenClients): string {
  const clients = Object.values(seen).sort(
    (a, b) => compare(a.title, b.title) || compare(a.version, b.version),
  );
  const rows = clients.map(({ title, version, date, works }) => {
    const cells = FEATURES.map((feature) => works[feature] ?? '—');
    return row([title, version, ...cells, date]);
  });
  const lacks = clients.filter((client) => client.lacks.length > 0);
  return [
    '# Clients',
    '',
    'Generated from `tests/long/clients/seen.json` by `npm run docs`; do not edit.',
    '',
    'Clients that others make, each run with this server. All of this was seen in a test: the client in the version of its row, without network, with a scripted',
    'model instead of the API, and the real Claude Code in the task. It shows what the client and the server do; what a real model would do with it is another question.',
    'Any other client that speaks MCP over stdio can start the server, too; it was not run here.',
    '',
    row(['client', 'version', ...FEATURES.map((feature) => HEADS[feature]), 'seen on']),
    row(Array.from({ length: FEATURES.length + 3 }, () => '---')),
    ...rows,
    '',
    '- **set up by**: the entry in the settings of the client is the one that this command writes or shows.',
    '- **tools**: how many of the toolset `all` reach the model; no client refused a schema.',
    '- **a whole delegation**: `set_active_project`, `start_task` in mode `cautious`, `wait_for_task`, `respond_to_task`, `get_task_result`.',
    '- **a decision**: the task asked for a command, the model got the question and allowed it.',
    '- **is called back**: the client follows a task without its model and begins a turn when it ends (MCP Tasks); its person is asked by a form. Others call `wait_for_task`.',
    '- **longest wait**: one call of `wait_for_task` that took so long.',
    '- A dash: not there, or not tried.',
    '',
    '## What they lack',
    '',
    ...lacks.map(({ title, version, lacks: sentences }) => `- ${title} ${version}: ${sentences.join(' ')}`),
    '',
    '## How to run them',
    '',
    '`npm run check:all -- clients` installs the clients from npm into `.cache/clients` (about 1.8 GB; no script of a package is run) and runs them, each with a home folder of its own. `SOAK=1`',
    'waits as long as one call may. `CLIENTS_RECORD=1` writes what was seen into `tests/long/clients/seen.json`; then run `npm run docs`. The versions are pinned in',
    '`tests/long/clients/versions.ts`, those of Claude Code in `src/claude/tested-versions.ts`.',
    '',
    'The official conformance suite runs with all other tests, in both eras; `tests/long/more/conformance-baseline.json` lists what it cannot pass, with the reason.',
    '',
  ].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function compare(a: string, b: string): number {
  const [first, second] = [a.replaceAll('`', ''), b.replaceAll('`', '')];
  return first < second ? -1 : Number(first > second);
}
