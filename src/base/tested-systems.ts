/** The systems on which all tests have been run; the README names the same. */
export function isTestedSystem(platform: NodeJS.Platform, arch: string): boolean {
  return platform === 'linux' && arch === 'x64';
}
