import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { artefactNames } from '../artefacts.js';
import { sbom } from '../sbom.js';
import type { Check } from './check.js';

/** What is used of CycloneDX 1.6. */
const billSchema = z.object({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  version: z.literal(1),
  metadata: z.object({ component: z.object({ version: z.string() }) }),
  components: z
    .array(
      z.object({
        type: z.literal('library'),
        purl: z.string().regex(/^pkg:npm\/(%40[^/@]+\/)?[^/@]+@\d/),
        hashes: z
          .array(z.object({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) }))
          .length(1),
        licenses: z.array(z.object({ license: z.object({ id: z.string() }) })).length(1),
      }),
    )
    .min(1),
});

/** Whether the bill of materials is well formed and lists what is in the builds. */
export const checkBill: Check = async ({ project, folder }) => {
  const text = await readFile(join(folder, artefactNames(project).sbom), 'utf8');
  const read = billSchema.safeParse(JSON.parse(text));
  if (!read.success) return [z.prettifyError(read.error)];
  return text === sbom(project) ? [] : ['it is not that of the last build.'];
};
