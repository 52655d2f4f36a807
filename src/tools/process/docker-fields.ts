import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';

const MAX_NAME_CHARS = 255;
const MAX_PATH_CHARS = 4_096;

const name = z.string().min(1).max(MAX_NAME_CHARS);

/** What `spawn` takes for a container alone. */
export const dockerInput = {
  image: name.optional().describe('Docker only, like the next three; default: a setting'),
  network: name.optional().describe('Such as bridge; default none'),
  volume: name.optional().describe('Volume for /home/agent; it is kept and can be reused'),
  mount_project: z
    .string()
    .min(1)
    .max(MAX_PATH_CHARS)
    .optional()
    .describe('Folder to mount read-only at /project; "." is the active project'),
};

type DockerArguments = z.infer<z.ZodObject<typeof dockerInput>> & {
  readonly mode: 'host' | 'docker';
};

/** The same as a request has it. Throws INVALID_ARGUMENTS for arguments that mean nothing in the mode that was asked for. */
export function dockerOptions({ mode, image, network, volume, mount_project: project }: DockerArguments) {
  const given = Object.entries({ image, network, volume, mount_project: project }).filter(
    ([, value]) => value !== undefined,
  );
  if (mode === 'host' && given.length > 0) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${given.map(([key]) => key).join(', ')} can be used only with mode "docker".`,
      'Set mode to "docker", or omit these arguments.',
    );
  }
  return {
    ...(image !== undefined && { image }),
    ...(network !== undefined && { network }),
    ...(volume !== undefined && { volume }),
    ...(project !== undefined && { mountProject: project }),
  };
}
