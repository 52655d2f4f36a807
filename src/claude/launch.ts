// Pure: wishes → the arguments of the CLI.

/** The mode is always said: from 2.1.330 on the CLI's own default approves by itself. */
const PERMISSION_MODE = ['--permission-mode', 'default'];

export interface LaunchWishes {
  /** A UUID: the session is known before its first hook. */
  readonly sessionId: string;
  readonly model: string | null;
}

/** Arguments of an interactive session; the prompt comes on stdin. */
export function interactiveArguments(wishes: LaunchWishes, settings: string): string[] {
  return [
    ...PERMISSION_MODE,
    '--session-id',
    wishes.sessionId,
    '--settings',
    settings,
    ...modelArguments(wishes),
  ];
}

/** Arguments of a print session with stream-json both ways; prompt and answers come on stdin. */
export function printArguments(wishes: LaunchWishes): string[] {
  return [
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--verbose',
    '--permission-prompt-tool',
    'stdio',
    ...PERMISSION_MODE,
    '--session-id',
    wishes.sessionId,
    ...modelArguments(wishes),
  ];
}

function modelArguments({ model }: LaunchWishes): string[] {
  return model === null ? [] : ['--model', model];
}
