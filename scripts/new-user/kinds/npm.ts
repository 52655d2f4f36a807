import { claudeCodeEntry } from '../claude-code-entry.js';
import type { Kind } from '../kind.js';
import { removeRest } from '../remove-rest.js';

/** The npm package, installed. */
export const npm: Kind = {
  name: 'npm',
  install: async ({ place }) => {
    await place.type('npm install --global claude-code-bridge');
    await place.type('claude-code-bridge init --roots ~/Projects --client claude-code');
    return claudeCodeEntry(place);
  },
  uninstall: async ({ place }) => {
    await removeRest(place, 'claude-code-bridge');
    await place.type('npm uninstall --global claude-code-bridge');
  },
};
