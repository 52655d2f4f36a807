import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { copyOutput, copyView, pidInput } from './process-fields.js';

export const copyTo = defineTool({
  name: 'copy_to',
  title: 'Copy into a container',
  toolset: 'process',
  effect: 'destroy',
  description:
    'Copy a file or folder of this machine into a folder of a process’s container, which is created if missing. No links; at most 256 MB; not into /tmp.',
  input: {
    pid: pidInput,
    source: z.string().describe('Path on this machine, in the allowed roots'),
    destination: z.string().default('.').describe('Folder in the container; relative to /home/agent'),
  },
  output: copyOutput,
  handle: async ({ pid, source, destination }, { copies, activeProject }) =>
    copyView(
      await (
        await copies()
      ).copyTo({ processId: pid, source: await activeProject.absolute(source), destination }),
    ),
});
