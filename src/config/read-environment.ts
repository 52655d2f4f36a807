/** A copy of the process's environment; nothing else reads `process.env`. */
export function readEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env };
}
