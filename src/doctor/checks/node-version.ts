import { ok, type Check } from '../check.js';

const OLDEST = /(\d+)\.(\d+)\.(\d+)/;

export const nodeVersion: Check = {
  id: 'node-version',
  category: 'system',
  look: async ({ nodeVersion: version, neededNode }) => {
    if (!isOlder(version, neededNode)) return ok(`Node.js ${version}`);
    return {
      status: 'error',
      summary: `Node.js ${version} is too old: the bridge needs ${neededNode}`,
      remedy: {
        words:
          'Install a newer Node.js (https://nodejs.org), by nvm for instance, and start the client again.',
        command: 'nvm install --lts',
      },
    };
  },
};

function isOlder(version: string, range: string): boolean {
  const [have, need] = [version, range].map((text) => OLDEST.exec(text)?.slice(1).map(Number) ?? []);
  for (const index of [0, 1, 2]) {
    const difference = (have?.[index] ?? 0) - (need?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
