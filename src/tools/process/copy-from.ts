import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { copyOutput, copyView, pidInput } from './process-fields.js';

export const copyFrom = defineTool({
  name: 'copy_from',
  title: 'Copy out of a container',
  toolset: 'process',
  effect: 'destroy',
  description:
    'Copy a file or folder out of a process’s container, also after its end (then from /home/agent). No links; at most 256 MB. Replaces files, does not merge folders.',
  input: {
    pid: pidInput,
    source: z.string().describe('Path in the container; relative to /home/agent'),
    destination: z.string().describe('Folder on this machine, in the allowed roots, or a new path in one'),
  },
  output: copyOutput,
  handle: async ({ pid, source, destination }, { copies, activeProject }) =>
    copyView(
      await (
        await copies()
      ).copyFrom({ processId: pid, source, destination: await activeProject.absolute(destination) }),
    ),
});
