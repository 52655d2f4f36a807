import { z } from 'zod';
import { someNames } from '../../base/text.js';
import type { CopyOutcome } from '../../processes/docker/container-copies.js';
import { defineTool } from '../define-tool.js';
import { pidInput } from './process-fields.js';

const output = {
  /** Where it is now. */
  path: z.string(),
  files: z.int(),
  folders: z.int(),
  size_bytes: z.int(),
  note: z.string().optional(),
};

export const copyTo = defineTool({
  name: 'copy_to',
  title: 'Copy into a container',
  effect: 'destroy',
  description:
    'Copy a file or folder of this machine into a folder of a process’s container, which is created if missing. No links; at most 256 MB; not into /tmp.',
  input: {
    pid: pidInput,
    source: z.string().describe('Path on this machine, in the allowed roots'),
    destination: z.string().default('.').describe('Folder in the container; relative to /home/agent'),
  },
  output,
  handle: async ({ pid: processId, source: given, destination }, services) => {
    const [copies, source] = [await services.copies(), await services.activeProject.absolute(given)];
    return viewOf(await copies.copyTo({ processId, source, destination }));
  },
});

export const copyFrom = defineTool({
  name: 'copy_from',
  title: 'Copy out of a container',
  effect: 'destroy',
  description:
    'Copy a file or folder out of a process’s container, also after its end (then from /home/agent). No links; at most 256 MB. Replaces files, does not merge folders.',
  input: {
    pid: pidInput,
    source: z.string().describe('Path in the container; relative to /home/agent'),
    destination: z.string().describe('Folder on this machine, in the allowed roots, or a new path in one'),
  },
  output,
  handle: async ({ pid: processId, source, destination: given }, services) => {
    const [copies, destination] = [await services.copies(), await services.activeProject.absolute(given)];
    return viewOf(await copies.copyFrom({ processId, source, destination }));
  },
});

function viewOf({ bytes, secrets, ...counted }: CopyOutcome) {
  const note = `Not copied, because their names indicate secrets: ${someNames(secrets)}. Copy one by naming it as source.`;
  return { ...counted, size_bytes: bytes, ...(secrets.length > 0 && { note }) };
}
