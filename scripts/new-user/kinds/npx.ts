import { claudeCodeEntry } from '../claude-code-entry.js';
import type { Kind } from '../kind.js';
import { removeRest } from '../remove-rest.js';

const COMMAND = 'npx -y claude-code-bridge';

/** The npm package without an installation. */
export const npx: Kind = {
  name: 'npx',
  install: async ({ place }) => {
    await place.type(`${COMMAND} init --roots ~/Projects --client claude-code`);
    return claudeCodeEntry(place);
  },
  uninstall: ({ place }) => removeRest(place, COMMAND),
};
