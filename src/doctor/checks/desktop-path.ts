import { ignoreBridgeError } from '../../base/ignore-bridge-error.js';
import { shellWord } from '../../base/text/shell-word.js';
import { findInstallation } from '../../claude/installation.js';
import { commandWords } from '../../config/command-words.js';
import { ok, type Check } from '../check.js';
import { foundClaude } from '../found-claude.js';
import { systemCommands } from '../system-commands.js';

/** Whether the server finds Claude Code when the desktop starts the client. */
export const desktopPath: Check = {
  id: 'desktop-path',
  category: 'claude',
  look: async (context) => {
    const found = await foundClaude(context);
    if ('finding' in found) return found.finding;
    const { homeDir, platform } = context;
    const { config } = await context.settings();
    const path = systemCommands(platform).desktopPath;
    const words = commandWords(config.claude_command);
    const there = await findInstallation(words, { path, homeDir }).catch(ignoreBridgeError);
    if (there !== undefined) return ok('A client that is started from the desktop finds Claude Code, too');
    const [program = ''] = found.installation.command;
    return {
      status: 'warning',
      summary: `A client that is started from the desktop has a short PATH (${path}) and does not find ${program}`,
      remedy: {
        words: 'Put a link where the bridge looks, or set claude_command in the settings to the full path.',
        // Under another name it is looked for on PATH alone.
        ...(words[0] === 'claude' && {
          command: `mkdir -p ~/.local/bin && ln -s ${shellWord(program, homeDir)} ~/.local/bin/claude`,
        }),
      },
    };
  },
};
