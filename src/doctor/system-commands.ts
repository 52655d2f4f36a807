// Pure: commands and paths that differ between macOS and Linux.

interface System {
  /** Packages of the operating system: by Homebrew, or by apt. */
  readonly install: (packages: string) => string;
  readonly startDocker: string;
  /** The `PATH` of programs that no shell has started: what launchd gives, and the least that desktops on Linux give. */
  readonly desktopPath: string;
}

const macos: System = {
  install: (packages) => `brew install ${packages}`,
  startDocker: 'open -a Docker',
  desktopPath: '/usr/bin:/bin:/usr/sbin:/sbin',
};

const linux: System = {
  install: (packages) => `sudo apt-get install -y ${packages}`,
  startDocker: 'sudo systemctl start docker',
  desktopPath: '/usr/local/bin:/usr/bin:/bin',
};

export function systemCommands(platform: NodeJS.Platform): System {
  return platform === 'darwin' ? macos : linux;
}
