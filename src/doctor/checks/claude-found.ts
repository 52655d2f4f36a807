import { delimiter, dirname } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { shellWord } from '../../base/text/shell-word.js';
import { ok, unchecked, type Check } from '../check.js';

export const claudeFound: Check = {
  id: 'claude-found',
  category: 'claude',
  look: async (context) => {
    const { error, config } = await context.settings();
    if (config.task_container.image !== null) return unchecked('tasks run Claude Code of a container.');
    try {
      const { command, isClaude } = await context.installation();
      const [program = ''] = command;
      const note =
        error === undefined ? '' : ' (claude_command was not read, since the settings cannot be used)';
      if (!isClaude) return ok(`Tasks start ${command.join(' ')}, which is not called claude${note}`);
      const isOnPath = (context.env['PATH'] ?? '').split(delimiter).includes(dirname(program));
      return ok(`Claude Code is ${program}${isOnPath ? '' : ', which is not on PATH'}${note}`);
    } catch (thrown) {
      if (!(thrown instanceof BridgeError)) throw thrown;
      const blocked = /^The command '.*' was found at (.*), but it is not an executable file\.$/.exec(
        thrown.message,
      )?.[1];
      return {
        status: 'error',
        summary: thrown.message,
        remedy: {
          words: thrown.hint,
          command:
            blocked === undefined
              ? 'npm install -g @anthropic-ai/claude-code'
              : `chmod +x ${shellWord(blocked, context.homeDir)}`,
        },
      };
    }
  },
};
