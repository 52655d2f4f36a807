import { describeDocker } from '../../../harness/docker-engine.js';
import { describeProcessBackend } from '../../../contracts/process-backend.js';
import { shareDockerBackend } from './open-docker-backend.js';

describeDocker('containers', ({ busyboxImage }) => {
  describeProcessBackend(
    'docker',
    {
      programs: { vi: 'vi' },
      leavesBehind: false,
      many: 3,
      exits: 5,
      sideBySide: true,
    },
    shareDockerBackend({ image: busyboxImage }),
  );
});
