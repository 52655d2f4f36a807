/**
 * A command that waits until the network proxy of Claude Code's sandbox listens, 30 seconds at most. The CLI starts the
 * command and the proxy's forwarder at the same time, so on a busy machine the first connection may be refused.
 */
export const SANDBOX_PROXY_LISTENS =
  'for i in $(seq 60); do curl -s -m 5 -o /dev/null http://proxy.invalid/ && break; sleep 0.5; done';
