import { z } from 'zod';
import { oneLine } from '../../base/text.js';
import type { Located } from '../../git/git-service.js';
import type { Renamed, Status } from '../../git/status.js';
import { fittingCount, REPLY_BUDGET_BYTES, wireBytes } from '../../mcp/answers.js';
import { made } from '../../mcp/tool.js';
import { defineTool } from '../define-tool.js';
import {
  filterNote,
  locatedOutput,
  messageText,
  repositoryPathInput,
  SUBMODULES_NOTE,
} from './git-fields.js';

const paths = z.array(z.string());

export const gitStatus = defineTool({
  name: 'git_status',
  title: 'Git status',
  effect: 'read',
  description:
    'Branch, and staged, changed and untracked files in `path`, relative to `repository`. `clean` is of `path`, `rest_clean` of all else.',
  input: { path: repositoryPathInput },
  output: {
    ...locatedOutput,
    within: z.string().optional(),
    clean: z.boolean(),
    rest_clean: z.boolean().optional(),
    message: z.string(),
    branch: z.string().nullable().describe('null: detached'),
    head: z.string().nullable().describe('null: no commit yet'),
    upstream: z.string().nullable(),
    ahead: z.int(),
    behind: z.int(),
    counts: z.record(z.string(), z.int()),
    truncated: z.boolean(),
    staged: paths,
    modified: paths,
    untracked: paths,
    deleted: paths,
    conflicted: paths,
    renamed: z.array(made<Renamed>()),
  },
  handle: async ({ path }, services, { signal }) => {
    const git = await services.git();
    const status = await git.status({ path, signal });
    const all = { ...status.lists, renamed: status.renamed };
    let room = REPLY_BUDGET_BYTES;
    /** As many as fit together with the lists before into what an answer holds. */
    const fitting = <T>(names: readonly T[]): readonly T[] => {
      const shown = names.slice(0, room <= 0 ? 0 : fittingCount(names, room));
      room -= wireBytes(shown);
      return shown;
    };
    const shown = {
      conflicted: fitting(all.conflicted),
      staged: fitting(all.staged),
      modified: fitting(all.modified),
      deleted: fitting(all.deleted),
      renamed: fitting(all.renamed),
      untracked: fitting(all.untracked),
    };
    const truncated = wireBytes(shown) < wireBytes(all);
    return {
      ...status,
      ...shown,
      counts: Object.fromEntries(Object.entries(all).map(([list, { length }]) => [list, length])),
      within: status.part?.within,
      rest_clean: status.part && status.part.rest === 'clean',
      message: messageText(sentencesOf(status, truncated), status.escaped),
      truncated,
    };
  },
});

const REST = {
  clean: 'is clean',
  changed: 'has changes',
  unknown: 'has changed in nothing else than what was not compared',
} as const;

function sentencesOf(status: Status & Located, truncated: boolean): (string | false)[] {
  const { clean, onlyFiltered, upstream, upstreamExists, part, hasSubmodules, filtered } = status;
  const where = part === undefined ? '' : ` in ${oneLine(part.within, 200)}`;
  const unclean = onlyFiltered ? 'Nothing else has changed' : 'There are changes';
  return [
    ...filterNote(filtered),
    `${clean ? 'Nothing has changed' : unclean}${where}.`,
    part !== undefined && `The rest of the repository ${REST[part.rest]}.`,
    part !== undefined && !clean && 'Names are relative to repository, not to path.',
    hasSubmodules && SUBMODULES_NOTE,
    upstream !== null && !upstreamExists && 'The upstream branch does not exist.',
    truncated && 'Not every name is listed; counts are complete. Pass a folder as path for more.',
  ];
}
