const NAMES = 'io.modelcontextprotocol/';
export const TASKS_EXTENSION = `${NAMES}tasks`;
export const MODERN_REVISION = '2026-07-28';

/** `_meta` of a request of the modern era, as Claude Code writes it: with or without the declaration of Tasks. */
export function envelope(declares: boolean): Readonly<Record<string, unknown>> {
  const capabilities = {
    elicitation: { form: {} },
    ...(declares && { extensions: { [TASKS_EXTENSION]: {} } }),
  };
  return {
    [`${NAMES}protocolVersion`]: MODERN_REVISION,
    [`${NAMES}clientInfo`]: { name: 'claude-code', version: '2.1.332' },
    [`${NAMES}clientCapabilities`]: capabilities,
  };
}
