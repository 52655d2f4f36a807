// Pure: data. `npm run docs` makes the list of the guide of it, tests and `npm run fetch-claude` take their versions from it.

/** A version of Claude Code that the tests ran before this release. */
export interface TestedVersion {
  readonly version: string;
  /** What was run with it. */
  readonly ran: string;
  /** What the bridge meets there that differs from the version before it. */
  readonly differs: string;
}

/** Oldest first. Older versions are refused; of others nothing is known. */
export const testedVersions: readonly [TestedVersion, ...TestedVersion[]] = [
  {
    version: '2.1.330',
    ran: 'the long form (`npm run check:all`)',
    differs: 'the oldest that is supported: before it, commands ran that a rule denies',
  },
  {
    version: '2.1.332',
    ran: '`npm run check`, the long form, `npm run demo`',
    differs: 'nothing that the bridge relies on: the same tests pass with both',
  },
];
