import { z } from 'zod';
import { defineTool } from '../define-tool.js';

export const writeFile = defineTool({
  name: 'write_file',
  title: 'Write a file',
  toolset: 'project',
  effect: 'destroy',
  idempotent: true,
  description: 'Write content to a file atomically; creates parent directories.',
  input: {
    path: z.string(),
    content: z.string(),
    expected_sha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/)
      .optional()
      .describe('Fail if the file has changed since it was read'),
  },
  output: {
    path: z.string(),
    size_bytes: z.int(),
    message: z.string(),
    sha256: z.string(),
    created: z.boolean(),
  },
  handle: async ({ path, content, expected_sha256 }, services) => {
    const files = await services.files();
    const written = await files.writeFile({ path, content, expectedSha256: expected_sha256 });
    const kept = written.encoding === 'utf-8' ? '' : `, in ${written.encoding} as before`;
    return {
      path: written.path,
      size_bytes: written.sizeBytes,
      message: `File written successfully${kept}.${alikeNote(written.alike)}`,
      sha256: written.sha256,
      created: written.created,
    };
  },
});

/** What to say of a name beside a new one that looks like it. */
export function alikeNote(alike: string | undefined): string {
  return alike === undefined ? '' : ` It is new: ${alike} (as JSON) has another name that looks like it.`;
}
