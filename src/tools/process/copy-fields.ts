import { z } from 'zod';
import { someNames } from '../../base/text/text.js';
import type { CopyOutcome } from '../../processes/docker/copies/container-copies.js';

/** What a copy answers. */
export const copyOutput = {
  /** Where it is now. */
  path: z.string(),
  files: z.int(),
  folders: z.int(),
  size_bytes: z.int(),
  note: z.string().optional(),
};

export function copyView({ path, files, folders, bytes, secrets }: CopyOutcome) {
  const counted = { path, files, folders, size_bytes: bytes };
  if (secrets.length === 0) return counted;
  const names = someNames(secrets);
  const note = `Not copied, because their names indicate secrets: ${names}. Copy one by naming it as source.`;
  return { ...counted, note };
}
