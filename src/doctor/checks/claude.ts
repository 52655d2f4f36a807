import { delimiter, dirname } from 'node:path';
import { z } from 'zod';
import { ignoreBridgeError } from '../../base/errors.js';
import { shellWord } from '../../base/text.js';
import {
  compareVersions,
  isTooOld,
  OLDEST_SUPPORTED_VERSION,
  printedVersion,
  type Installation,
} from '../../claude/installation.js';
import { errorOf, fault, ok, unchecked, type Check, type DoctorContext, type Finding } from '../check.js';

const INSTALL = 'npm install -g @anthropic-ai/claude-code';
const loginSchema = z.object({ loggedIn: z.boolean(), authMethod: z.string().optional() });

/** A check about the program of tasks, which says why it is not possible where there is none here. */
export function aboutClaude(
  look: (installation: Installation, context: DoctorContext) => Promise<Finding>,
): Check['look'] {
  return async (context) => {
    const { config } = await context.settings();
    if (config.task_container.image !== null) return unchecked('tasks run Claude Code of a container.');
    const installation = await context.installation().catch(ignoreBridgeError);
    return installation === undefined ? unchecked('Claude Code was not found.') : look(installation, context);
  };
}

export const claudeFound: Check = {
  id: 'claude-found',
  category: 'claude',
  look: async ({ settings, installation, env, homeDir }) => {
    const { error, config } = await settings();
    if (config.task_container.image !== null) return unchecked('tasks run Claude Code of a container.');
    const missing = await errorOf(installation);
    if (missing !== undefined) {
      const { path } = missing.data;
      const mends = path === undefined ? INSTALL : `chmod +x ${shellWord(path, homeDir)}`;
      return fault(missing.message, missing.hint, mends);
    }
    const { command, isClaude } = await installation();
    const [program = ''] = command;
    const note =
      error === undefined ? '' : ' (claude_command was not read, since the settings cannot be used)';
    if (!isClaude) return ok(`Tasks start ${command.join(' ')}, which is not called claude${note}`);
    const isOnPath = (env['PATH'] ?? '').split(delimiter).includes(dirname(program));
    return ok(`Claude Code is ${program}${isOnPath ? '' : ', which is not on PATH'}${note}`);
  },
};

export const claudeVersion: Check = {
  id: 'claude-version',
  category: 'claude',
  limitMs: 15_000,
  look: aboutClaude(async ({ command, isClaude }, context) => {
    const version = await printedVersion(command, await context.taskEnvironment());
    const program = command.map((word) => shellWord(word, context.homeDir)).join(' ');
    if (version === undefined) {
      if (!isClaude) return ok('Another program than Claude Code: modes and questions do not apply to it');
      return fault(
        `${command.join(' ')} --version prints no version of Claude Code`,
        'Run it yourself to see why, or install Claude Code again.',
        `${program} --version || ${INSTALL}`,
      );
    }
    if (isTooOld(version)) {
      const summary = `Claude Code ${version} is too old: the bridge needs ${OLDEST_SUPPORTED_VERSION}`;
      return fault(summary, 'Update it.', `${program} update`);
    }
    const { testedClaude } = context;
    if (testedClaude.includes(version)) return ok(`Claude Code ${version}, which is tested`);
    const isNewer = compareVersions(version, testedClaude.at(-1) ?? OLDEST_SUPPORTED_VERSION) > 0;
    const which = `${isNewer ? 'newer than all that are' : 'not'} tested (${testedClaude.join(' and ')})`;
    return ok(`Claude Code ${version}, which is ${which} and should work`, [
      `${context.command} doctor --rules measures whether it holds rules and modes as the tested ones do.`,
    ]);
  }),
};

/** Whether Claude Code says that it is logged in; whether the service accepts that login, only a real task shows. */
export const claudeLogin: Check = {
  id: 'claude-login',
  category: 'claude',
  look: aboutClaude(async ({ command, isClaude }, { run, homeDir }) => {
    if (!isClaude) return unchecked('tasks start another program than Claude Code.');
    const [program = '', ...args] = command;
    const answer = await run(program, [...args, 'auth', 'status', '--json']);
    const login = answer.how === 'exited' ? loginOf(answer.stdout) : undefined;
    if (login === undefined)
      return unchecked('this version of Claude Code does not say whether it is logged in.');
    if (login.loggedIn) {
      const method = login.authMethod === undefined ? '' : ` (${login.authMethod})`;
      return ok(`Claude Code is logged in${method}; whether the service accepts it, the first task shows`);
    }
    return fault(
      'Claude Code is not logged in, so every task ends at its first turn',
      'Log in once in a terminal. If a variable of your own holds the login, name it in pass_environment.',
      `${command.map((word) => shellWord(word, homeDir)).join(' ')} auth login`,
    );
  }),
};

function loginOf(text: string): z.infer<typeof loginSchema> | undefined {
  try {
    return loginSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
