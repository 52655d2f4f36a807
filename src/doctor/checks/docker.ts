import { systemClock } from '../../base/system-clock.js';
import { DockerEngine } from '../../processes/docker/engine/docker-engine.js';
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
    const engine = new DockerEngine({
      settings: engineSettings(context),
      homeDir: context.homeDir,
      clock: systemClock,
    });
    try {
      const answer = await engine.call((client) => client.ping(), LIMIT_MS);
      if (answer.kind === 'value') return ok('The Docker engine answers');
      const words = answer.kind === 'refused' ? answer.words : answer.fault.message;
      const hint = answer.kind === 'refused' ? 'Look at the engine.' : answer.fault.hint;
      const command = words.includes('dockerode')
        ? 'npm install --global dockerode@5'
        : systemCommands(context.platform).startDocker;
      return {
        status: image === null ? 'optional' : 'error',
        summary:
          image === null
            ? `Docker does not answer; only tasks and processes in containers need it. ${words}`
            : `Tasks run in containers (task_container.image is ${image}), but Docker does not answer. ${words}`,
        remedy: { words: hint, command },
      };
    } finally {
      engine.dispose();
    }
  },
};
