/** Whether the servers and keepers of this run list processes by `ps`, as on macOS. */
export function usesPs(): boolean {
  return process.env['CLAUDE_CODE_BRIDGE_PROCESS_TABLE'] === 'ps';
}
