import { access } from 'node:fs/promises';
import { systemCodeOf } from '../../base/errors.js';
import { ok, type Check, type Finding } from '../check.js';

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'] as const;
const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'] as const;

/** The variables that lead Claude Code through a proxy. The bridge passes them on, and makes no connection of its own to the network. */
export const proxy: Check = {
  id: 'proxy',
  category: 'claude',
  look: async ({ env, taskEnvironment }) => {
    for (const name of CERTIFICATES) {
      const path = env[name] ?? '';
      if (path !== '' && !(await isReadable(path))) return wrong(name, `names ${path}, which cannot be read`);
    }
    const set = PROXIES.filter((name) => (env[name] ?? '') !== '');
    const invalid = set.find((name) => !isProxyAddress(env[name] ?? ''));
    if (invalid !== undefined) return wrong(invalid, 'is no address such as http://proxy.example.com:8080');
    if (set.length === 0) return ok('No proxy is set');
    const passed = await taskEnvironment();
    const lost = set.filter((name) => passed[name] !== env[name]);
    const [first] = lost;
    if (first !== undefined) return wrong(first, 'is set, but does not reach Claude Code');
    return ok(`A proxy is set and passed on to Claude Code (${set.join(', ')})`, [
      'A client that is started from the desktop may not have these variables: name them in "env" of its entry for this server.',
    ]);
  },
};

function wrong(name: string, why: string): Finding {
  return {
    status: 'error',
    summary: `${name} ${why}, so Claude Code cannot reach its service`,
    remedy: { words: 'Correct the variable where it is set, or remove it.', command: `unset ${name}` },
  };
}

function isProxyAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return /^(https?|socks[45]?[ah]?):$/.test(protocol) && hostname !== '';
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}
