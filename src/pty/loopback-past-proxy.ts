// Pure: keeps what a session sends to this machine away from the proxy of its network.

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'] as const;
const EXCEPTIONS = ['NO_PROXY', 'no_proxy'] as const;
const LOOPBACK = '127.0.0.1';

/**
 * The environment, with 127.0.0.1 among the hosts that are reached without a proxy when one is set. Claude Code sends its hooks there,
 * and would send them, with the token in them, to the proxy.
 */
export function loopbackPastProxy(env: Readonly<Record<string, string>>): Record<string, string> {
  if (!PROXIES.some((name) => (env[name] ?? '') !== '')) return { ...env };
  // A program that knows both names reads one of them: both say the same.
  const hosts = EXCEPTIONS.map((name) => env[name] ?? '').find((value) => value !== '') ?? '';
  const more = Object.fromEntries(EXCEPTIONS.map((name) => [name, withLoopback(env[name] ?? hosts)]));
  return { ...env, ...more };
}

function withLoopback(hosts: string): string {
  const names = hosts.split(/[\s,]+/).filter((name) => name !== '');
  return names.includes('*') || names.includes(LOOPBACK) ? hosts : [...names, LOOPBACK].join(',');
}
