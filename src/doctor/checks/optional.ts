import { systemClock } from '../../base/system-clock.js';
import { checkSandbox } from '../../claude/sandbox/check-sandbox.js';
import { DockerEngine } from '../../processes/docker/engine.js';
import { engineSettings } from '../../services/engine-settings.js';
import { errorOf, fault, ok, systemCommand, warning, type Check } from '../check.js';

const DOCKER_LIMIT_MS = 4_000;

export const sandbox: Check = {
  id: 'sandbox',
  category: 'optional',
  limitMs: 12_000,
  look: async ({ platform, taskEnvironment }) => {
    const env = await taskEnvironment();
    const error = await errorOf(() => checkSandbox({ platform, env }));
    if (error === undefined) return ok('permission_mode "sandboxed" works here');
    const summary = 'permission_mode "sandboxed" does not work here; the other modes do';
    return { ...ok(summary, [error.message, error.hint]), status: 'optional' };
  },
};

export const docker: Check = {
  id: 'docker',
  category: 'optional',
  look: async (context) => {
    const { image } = (await context.settings()).config.task_container;
    const engine = new DockerEngine({ settings: engineSettings(context), clock: systemClock });
    try {
      const error = await errorOf(() => engine.call('to answer', (client) => client.ping(), DOCKER_LIMIT_MS));
      if (error === undefined) return ok(`The Docker engine answers: ${(await engine.place()).words}`);
      const { message, hint } = error;
      if (image === null) {
        const summary = `Docker does not answer; only tasks and processes in containers need it. ${message}`;
        return { ...warning(summary, hint), status: 'optional' };
      }
      return fault(
        `Tasks run in containers (task_container.image is ${image}), but Docker does not answer. ${message}`,
        hint,
        systemCommand(context.platform, 'docker'),
      );
    } finally {
      engine.dispose();
    }
  },
};
