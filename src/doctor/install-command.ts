/** The command that installs a package of the operating system: by Homebrew, else by apt. */
export function installCommand(packages: string, platform: NodeJS.Platform): string {
  return platform === 'darwin' ? `brew install ${packages}` : `sudo apt-get install -y ${packages}`;
}
