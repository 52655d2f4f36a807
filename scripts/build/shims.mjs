// Stands for the shims of the SDK: importing node:process as a module reads every one of its getters, which costs 15 ms.
export const process = globalThis.process;

/** The SDK's own validator, 300 kB of it, checks only what this server does not ask for (see src/mcp/server.ts). */
export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error('not bundled');
  }
}
