import { z } from 'zod';
import { oneLine } from '../../base/text.js';
import type { Located } from '../../git/git-service.js';
import type { Status } from '../../git/status.js';
import { defineTool } from '../define-tool.js';
import {
  filterNote,
  fittingLists,
  locatedOutput,
  messageText,
  repositoryPathInput,
  SUBMODULES_NOTE,
} from './git-fields.js';

const SHOWN_CHARS = 200;

const paths = z.array(z.string());

export const gitStatus = defineTool({
  name: 'git_status',
  title: 'Git status',
  toolset: 'git',
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
    renamed: z.array(z.object({ from: z.string(), to: z.string(), copy: z.boolean().optional() })),
  },
  handle: async ({ path }, services, { signal }) => {
    const git = await services.git();
    const status = await git.status({ path, signal });
    const { lists, counts, renamed } = status;
    const shown = fittingLists({
      conflicted: lists.conflicted,
      staged: lists.staged,
      modified: lists.modified,
      deleted: lists.deleted,
      renamed,
      untracked: lists.untracked,
    });
    const truncated = Object.entries(counts).some(
      ([list, count]) => count > (Object.entries(shown).find(([name]) => name === list)?.[1].length ?? 0),
    );
    return {
      path: status.path,
      repository: status.repository,
      within: status.part?.within,
      clean: status.clean,
      rest_clean: status.part && status.part.rest === 'clean',
      message: messageText(statusMessage(status, truncated), status.escaped),
      branch: status.branch,
      head: status.head,
      upstream: status.upstream,
      ahead: status.ahead,
      behind: status.behind,
      counts: { ...counts },
      truncated,
      ...shown,
    };
  },
});

const REST = {
  clean: 'is clean',
  changed: 'has changes',
  unknown: 'has changed in nothing else than what was not compared',
} as const;

function statusMessage(status: Status & Located, truncated: boolean): string {
  const { clean, onlyFiltered, upstream, upstreamExists, part, hasSubmodules, filtered } = status;
  const where = part === undefined ? '' : ` in ${oneLine(part.within, SHOWN_CHARS)}`;
  const what = clean
    ? 'Nothing has changed'
    : onlyFiltered
      ? 'Nothing else has changed'
      : 'There are changes';
  const sentences = [...filterNote(filtered), `${what}${where}.`];
  if (part !== undefined)
    sentences.push(
      `The rest of the repository ${REST[part.rest]}.`,
      ...(clean ? [] : ['Names are relative to repository, not to path.']),
    );
  if (hasSubmodules) sentences.push(SUBMODULES_NOTE);
  if (upstream !== null && !upstreamExists) sentences.push('The upstream branch does not exist.');
  if (truncated)
    sentences.push('Not every name is listed; counts are complete. Pass a folder as path for more.');
  return sentences.join(' ');
}
