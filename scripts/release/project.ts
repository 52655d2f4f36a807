import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  keywords: z.array(z.string()),
  license: z.string(),
  author: z.string(),
  homepage: z.string(),
  repository: z.object({ url: z.string() }),
  bugs: z.object({ url: z.string() }),
  mcpName: z.string(),
  engines: z.object({ node: z.string() }),
});

/** What every artefact repeats of package.json. */
export interface Project extends z.infer<typeof packageSchema> {
  /** The checkout. */
  readonly root: string;
  /** Of the repository, for browsers. */
  readonly address: string;
}

/** Reads package.json of the checkout. Throws for one that lacks what an artefact needs. */
export function readProject(root: string): Project {
  const read = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  return { ...read, root, address: read.repository.url.replace(/^git\+/, '').replace(/\.git$/, '') };
}
