import { systemClock } from '../../base/system-clock.js';
import { DockerEngine, refusalOf } from '../../processes/docker/engine/docker-engine.js';
import { engineSettings } from '../../services/engine-settings.js';
import { ok, type Check } from '../check.js';
import { systemCommands } from '../system-commands.js';

const LIMIT_MS = 4_000;

export const docker: Check = {
  id: 'docker',
  category: 'optional',
  look: async (context) => {
    const { config } = await context.settings();
    const { image } = config.task_container;
    const engine = new DockerEngine({ settings: engineSettings(context), clock: systemClock });
    try {
      const answer = await engine.call((client) => client.ping(), LIMIT_MS);
      if (answer.kind === 'value') return ok(`The Docker engine answers: ${(await engine.place()).words}`);
      const { message, hint } = refusalOf(answer, 'to answer');
      const isToStart = hint.startsWith('Ask the user to start');
      return {
        status: image === null ? 'optional' : 'error',
        summary:
          image === null
            ? `Docker does not answer; only tasks and processes in containers need it. ${message}`
            : `Tasks run in containers (task_container.image is ${image}), but Docker does not answer. ${message}`,
        remedy: { words: hint, ...(isToStart && { command: systemCommands(context.platform).startDocker }) },
      };
    } finally {
      engine.dispose();
    }
  },
};
