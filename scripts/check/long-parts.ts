import type { NeedName } from '../../tests/harness/need-table.js';

/** Tests that are run together: the gate, or a part of `npm run check:all`, which can be run alone. */
export interface TestPart {
  readonly name: string;
  /** Projects of vitest.config.ts. */
  readonly projects: readonly string[];
  /** What some of its tests are left out without. */
  readonly needs: readonly NeedName[];
  readonly env?: Readonly<Record<string, string>>;
}

export const gate: TestPart = {
  name: 'tests',
  projects: ['unit', 'parts', 'gate-ps', 'journeys', 'browser'],
  needs: ['claude', 'browser', 'shells'],
};

const allClaudes = { CLAUDE_VERSIONS: 'all' };

/** What the gate does not run. Folders below tests/long are named like their part. */
export const longParts: readonly TestPart[] = [
  { name: 'rounds', projects: ['unit', 'parts'], needs: [], env: { ALL_ROUNDS: '1' } },
  { name: 'more', projects: ['long-more'], needs: ['claude'] },
  { name: 'claude', projects: ['long-claude'], needs: ['claude', 'shells'], env: allClaudes },
  {
    name: 'newest',
    projects: ['journeys', 'long-claude'],
    needs: ['claude', 'shells'],
    env: { CLAUDE_VERSIONS: 'newest' },
  },
  { name: 'ps', projects: ['ps'], needs: ['claude'], env: allClaudes },
  { name: 'node-pty', projects: ['node-pty'], needs: [] },
  { name: 'docker', projects: ['long-docker'], needs: ['docker', 'claude'] },
  { name: 'machines', projects: ['long-machines'], needs: ['machines', 'claude'] },
  { name: 'board', projects: ['long-board'], needs: ['browser', 'claude'] },
  { name: 'editors', projects: ['long-editors'], needs: ['editors', 'claude'] },
  { name: 'packages', projects: ['long-packages'], needs: ['claude'] },
  { name: 'hostile', projects: ['long-hostile'], needs: ['git'] },
  { name: 'histories', projects: ['long-histories'], needs: [] },
  { name: 'faults', projects: ['long-faults'], needs: ['claude'] },
  { name: 'clients', projects: ['long-clients'], needs: ['claude'] },
  { name: 'soak', projects: ['long-soak'], needs: [], env: { SOAK: '1' } },
];
