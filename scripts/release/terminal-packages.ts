/** The only code that is not bundled: the terminal, with its prebuilt program for each system on which the bridge runs. */
export const terminalPackages = [
  'node_modules/@lydell/node-pty',
  'node_modules/@lydell/node-pty-linux-x64',
  'node_modules/@lydell/node-pty-linux-arm64',
  'node_modules/@lydell/node-pty-darwin-x64',
  'node_modules/@lydell/node-pty-darwin-arm64',
] as const;
