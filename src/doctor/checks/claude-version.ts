import { compareVersions, isTooOld, OLDEST_SUPPORTED_VERSION } from '../../claude/installation.js';
import { printedVersion } from '../../claude/version-cache.js';
import { shellWord } from '../../base/text/shell-word.js';
import { ok, type Check } from '../check.js';
import { foundClaude } from '../found-claude.js';

export const claudeVersion: Check = {
  id: 'claude-version',
  category: 'claude',
  limitMs: 15_000,
  look: async (context) => {
    const found = await foundClaude(context);
    if ('finding' in found) return found.finding;
    const { command, isClaude } = found.installation;
    const version = await printedVersion(command, await context.taskEnvironment());
    const words = command.map((word) => shellWord(word, context.homeDir)).join(' ');
    if (version === undefined) {
      if (!isClaude) return ok('Another program than Claude Code: modes and questions do not apply to it');
      return {
        status: 'error',
        summary: `${command.join(' ')} --version prints no version of Claude Code`,
        remedy: {
          words: 'Run it yourself to see why, or install Claude Code again.',
          command: `${words} --version || npm install -g @anthropic-ai/claude-code`,
        },
      };
    }
    if (isTooOld(version)) {
      return {
        status: 'error',
        summary: `Claude Code ${version} is too old: the bridge needs ${OLDEST_SUPPORTED_VERSION}`,
        remedy: { words: 'Update it.', command: `${words} update` },
      };
    }
    const newest = context.testedClaude.at(-1) ?? OLDEST_SUPPORTED_VERSION;
    const tested = context.testedClaude.join(' and ');
    if (context.testedClaude.includes(version)) return ok(`Claude Code ${version}, which is tested`);
    const isNewer = compareVersions(version, newest) > 0;
    return ok(
      `Claude Code ${version}, which is ${isNewer ? 'newer than all that are' : 'not'} tested (${tested}) and should work`,
      [`${context.command} doctor --rules measures whether it holds rules and modes as the tested ones do.`],
    );
  },
};
