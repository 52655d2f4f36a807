import { z } from 'zod';
import type { CopyOutcome } from '../../processes/docker/container-copies.js';

/** What a copy answers. */
export const copyOutput = {
  /** Where it is now. */
  path: z.string(),
  files: z.int(),
  folders: z.int(),
  size_bytes: z.int(),
};

export function copyView({ path, files, folders, bytes }: CopyOutcome) {
  return { path, files, folders, size_bytes: bytes };
}
