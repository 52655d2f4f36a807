import { request } from 'node:http';
import { z } from 'zod';
import { HOOK_TOKEN_VARIABLE } from './hook-settings.js';

/** An answer of the hooks server is a decision, with at most a tool's whole input. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const SETTINGS_ARGUMENT = '--settings';

const settingsSchema = z.looseObject({
  hooks: z.record(
    z.string(),
    z.array(
      z.looseObject({
        hooks: z.array(z.object({ type: z.literal('http'), url: z.string(), timeout: z.number() })),
      }),
    ),
  ),
});

export interface RelayedHooks {
  /** The command, changed so that hooks run a program instead of posting. */
  readonly command: readonly string[];
  /** Posts a hook's body to the hooks server; resolves with the answer, a line of JSON. */
  readonly answer: (body: Buffer, gone: AbortSignal) => Promise<string>;
}

/**
 * For a CLI that cannot reach the hooks server: each hook in its `--settings` that posts becomes one that runs `hookCommand`, and
 * this process posts what that command receives. A command without such hooks is not changed.
 */
export function relayHooks(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  hookCommand: string,
): RelayedHooks {
  const at = command.indexOf(SETTINGS_ARGUMENT) + 1;
  const parsed = at === 0 ? undefined : settingsSchema.safeParse(JSON.parse(command[at] ?? '{}')).data;
  const url = parsed === undefined ? undefined : firstUrl(parsed);
  if (parsed === undefined || url === undefined) return { command, answer: () => Promise.resolve('{}') };
  const hooks = Object.fromEntries(
    Object.entries(parsed.hooks).map(([event, matchers]) => [
      event,
      matchers.map((matcher) => ({
        ...matcher,
        hooks: matcher.hooks.map(({ timeout }) => ({ type: 'command', command: hookCommand, timeout })),
      })),
    ]),
  );
  const token = env[HOOK_TOKEN_VARIABLE] ?? '';
  return {
    command: command.with(at, JSON.stringify({ ...parsed, hooks })),
    answer: (body, gone) => post({ url, token, body, gone }),
  };
}

function firstUrl(settings: z.infer<typeof settingsSchema>): string | undefined {
  return Object.values(settings.hooks).flat()[0]?.hooks[0]?.url;
}

/** Has no time limit: a permission request waits for its decision, which has its own deadline. */
function post(asked: {
  readonly url: string;
  readonly token: string;
  readonly body: Buffer;
  readonly gone: AbortSignal;
}): Promise<string> {
  return new Promise((resolve, reject) => {
    const posted = request(
      asked.url,
      {
        method: 'POST',
        headers: { Authorization: `Bearer ${asked.token}`, 'content-length': asked.body.length },
        signal: asked.gone,
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_ANSWER_BYTES) posted.destroy(new Error('the answer to a hook is too large'));
          chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'));
          else reject(new Error(`the hooks server answered ${response.statusCode ?? 'nothing'}`));
        });
      },
    );
    posted.on('error', reject);
    posted.end(asked.body);
  });
}
