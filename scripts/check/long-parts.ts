/** A part of `npm run check:all`, which can be run alone. */
export interface LongPart {
  readonly name: string;
  /** Projects of vitest.config.ts. */
  readonly projects: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What the gate does not run, cheapest first. Folders below tests/long are named like their part. */
export const longParts: readonly LongPart[] = [
  { name: 'more', projects: ['long-more'] },
  { name: 'claude', projects: ['long-claude'], env: { CLAUDE_VERSIONS: 'all' } },
  { name: 'newest', projects: ['journeys', 'long-claude'], env: { CLAUDE_VERSIONS: 'newest' } },
  { name: 'ps', projects: ['ps'], env: { CLAUDE_CODE_BRIDGE_PROCESS_TABLE: 'ps' } },
  { name: 'docker', projects: ['long-docker'] },
  { name: 'board', projects: ['long-board'] },
  { name: 'editors', projects: ['long-editors'] },
  { name: 'packages', projects: ['long-packages'] },
  { name: 'hostile', projects: ['long-hostile'] },
  { name: 'histories', projects: ['long-histories'] },
  { name: 'faults', projects: ['long-faults'] },
  { name: 'clients', projects: ['long-clients'] },
  { name: 'lines', projects: ['long-lines'] },
  { name: 'soak', projects: ['long-soak'], env: { SOAK: '1' } },
];

export const partNames: readonly string[] = longParts.map(({ name }) => name);
