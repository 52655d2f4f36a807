const systems = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/** The only code that is not bundled: the terminal and ripgrep, each with its prebuilt program for each system on which the bridge runs. */
export const nativePackages: readonly string[] = ['@lydell/node-pty', '@vscode/ripgrep'].flatMap((name) =>
  ['', ...systems.map((system) => `-${system}`)].map((end) => `node_modules/${name}${end}`),
);
