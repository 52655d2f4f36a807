// How a hook reaches the hooks server from a CLI that cannot post it itself.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { shellWord } from '../../base/text.js';

/** Reads the event from stdin, posts it with the token, and prints the answer. Must not contain a single quote. */
const PROGRAM = [
  'const body = [];',
  'const fail = () => process.exit(1);',
  'process.stdin.on("data", (part) => body.push(part)).on("end", () => {',
  '  const data = Buffer.concat(body);',
  '  const headers = { authorization: "Bearer " + process.env[process.argv[2]], "content-length": data.length };',
  '  require("node:http").request(process.argv[1], { method: "POST", headers }, (response) => {',
  '    if (response.statusCode === 200) response.pipe(process.stdout); else fail();',
  '  }).on("error", fail).end(data);',
  '});',
].join('');

/**
 * With a sandbox for commands the CLI sends HTTP hooks through the sandbox's proxy, which would then have to let commands reach this
 * machine's loopback as well. `tokenVariable`: the environment variable of the bearer token.
 */
export function postingCommand(url: string, tokenVariable: string): string {
  return [process.execPath, '-e', PROGRAM, url, tokenVariable].map((word) => shellWord(word, '/')).join(' ');
}

/**
 * Posts the body of a hook to the hooks server; resolves with the answer, a line of JSON. Has no time limit: a permission request waits
 * for its decision, which has its own deadline.
 */
export function postHook(asked: {
  readonly url: string;
  readonly token: string;
  readonly body: Buffer;
  readonly gone: AbortSignal;
}): Promise<string> {
  const headers = { Authorization: `Bearer ${asked.token}`, 'content-length': asked.body.length };
  return new Promise((resolve, reject) => {
    request(asked.url, { method: 'POST', headers, signal: asked.gone }, (response) => {
      if (response.statusCode === 200) text(response).then(resolve, reject);
      else reject(new Error(`the hooks server answered ${response.statusCode ?? 'nothing'}`));
    })
      .on('error', reject)
      .end(asked.body);
  });
}
