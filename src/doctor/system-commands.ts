// Pure: commands that differ between macOS and Linux.

interface System {
  /** Packages of the operating system: by Homebrew, or by apt. */
  readonly install: (packages: string) => string;
  readonly startDocker: string;
}

const macos: System = {
  install: (packages) => `brew install ${packages}`,
  startDocker: 'open -a Docker',
};

const linux: System = {
  install: (packages) => `sudo apt-get install -y ${packages}`,
  startDocker: 'sudo systemctl start docker',
};

export function systemCommands(platform: NodeJS.Platform): System {
  return platform === 'darwin' ? macos : linux;
}
