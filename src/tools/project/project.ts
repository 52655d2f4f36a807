import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { defineTool, requestIdInput } from '../define-tool.js';

export const setActiveProject = defineTool({
  name: 'set_active_project',
  title: 'Set the active project',
  effect: 'write',
  idempotent: true,
  description: 'Set the default working directory for subsequent operations.',
  input: { path: z.string() },
  output: { active_project: z.string(), message: z.string() },
  handle: async ({ path }, { activeProject }) => ({
    active_project: await activeProject.set(path),
    message: 'Active project set. Subsequent operations will use this path by default.',
  }),
});

export const createDirectory = defineTool({
  name: 'create_directory',
  title: 'Create a directory',
  effect: 'write',
  idempotent: true,
  description: 'Create a directory and its parents.',
  input: { path: z.string() },
  output: { path: z.string(), created: z.boolean(), message: z.string() },
  handle: async ({ path }, { files }) => {
    const { alike, ...made } = await (await files()).createDirectory(path);
    const message = made.created
      ? `Directory created successfully.${alikeNote(alike)}`
      : 'Directory already exists.';
    return { ...made, message };
  },
});

export const writeFile = defineTool({
  name: 'write_file',
  title: 'Write a file',
  effect: 'destroy',
  idempotent: true,
  description: 'Write content to a file atomically; creates parent directories.',
  input: {
    path: z.string(),
    content: z.string(),
    expected_sha256: z
      .string()
      .pipe(z.string().regex(/^[0-9a-fA-F]{64}$/))
      .optional()
      .describe('Fail if the file has changed since it was read'),
    request_id: requestIdInput,
  },
  output: {
    path: z.string(),
    size_bytes: z.int(),
    message: z.string(),
    sha256: z.string(),
    created: z.boolean(),
  },
  handle: async (file, { files }) => {
    const written = await (await files()).writeFile(file);
    const kept = written.encoding === 'utf-8' ? '' : `, in ${written.encoding} as before`;
    const message = `File written successfully${kept}.${alikeNote(written.alike)}`;
    return { ...written, message };
  },
});

export const initGitRepo = defineTool({
  name: 'init_git_repo',
  title: 'Initialize a git repository',
  effect: 'write',
  idempotent: true,
  description: 'Initialize a git repository.',
  input: {
    path: z.string(),
    initial_branch: z.string().optional(),
    gitignore: z.boolean().optional().describe('Write a .gitignore of common patterns, if there is none'),
  },
  output: {
    path: z.string(),
    initialized: z.boolean(),
    branch: z.string().nullable(),
    parent_repository: z.string().optional(),
    gitignore: z.string().optional(),
    message: z.string(),
  },
  handle: async ({ path, ...choices }, services, { signal }) => {
    const git = await services.git();
    const init = () => git.init(path, choices, signal);
    let alike: string | undefined;
    const made = await init().catch(async (thrown: unknown) => {
      if (!(thrown instanceof BridgeError && thrown.code === 'PATH_NOT_FOUND')) throw thrown;
      ({ alike } = await (await services.files()).createDirectory(path));
      return init();
    });
    const what = made.initialized ? 'Git repository initialized.' : 'Directory is already a git repository.';
    const parent =
      made.parentRepository === undefined
        ? ''
        : ` It lies within the working tree of the repository at '${made.parentRepository}'.`;
    return { ...made, message: `${what}${parent}${alikeNote(alike)}` };
  },
});

/** What to say of a name beside a new one that looks like it. */
function alikeNote(alike: string | undefined): string {
  return alike === undefined ? '' : ` It is new: ${alike} (as JSON) has another name that looks like it.`;
}
