import type { DockerEngine, EngineAnswer } from './docker-engine.js';
import { AGENT_ID } from '../docker-spec.js';
import { FrameSplitter } from './frame-splitter.js';

/** What these small commands print is less; a hostile image must not fill the memory. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
const LIMIT_MS = 10_000;

export interface InsideResult {
  readonly exitCode: number;
  readonly stdout: string;
}

/**
 * Runs a short script of the bridge with the container's own `sh`, beside its process and within its limits. `args` are `$1`
 * and on. An image without `sh`, or a container at its limit of processes, gives an exit code above 125 or a refusal.
 */
export function runInside(
  engine: DockerEngine,
  containerId: string,
  script: string,
  args: readonly string[] = [],
): Promise<EngineAnswer<InsideResult>> {
  return engine.call(async (client, signal) => {
    const exec = await client.getContainer(containerId).exec({
      Cmd: ['sh', '-c', script, 'sh', ...args],
      User: `${AGENT_ID}:${AGENT_ID}`,
      AttachStdout: true,
      AttachStderr: true,
      abortSignal: signal,
    });
    const stream = await exec.start({ hijack: true, stdin: false, abortSignal: signal });
    const splitter = new FrameSplitter();
    const stdout: Buffer[] = [];
    let bytes = 0;
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => stream.destroy(), { once: true });
      stream.on('data', (chunk: Buffer) => {
        for (const piece of splitter.split(chunk)) {
          bytes += piece.bytes.length;
          if (piece.stream === 'stdout') stdout.push(Buffer.from(piece.bytes));
        }
        if (bytes > MAX_OUTPUT_BYTES) stream.destroy();
      });
      stream.on('error', reject);
      stream.on('close', () => resolve());
      stream.on('end', () => resolve());
    });
    const { ExitCode } = await exec.inspect({ abortSignal: signal });
    return { exitCode: ExitCode ?? 0, stdout: Buffer.concat(stdout).toString('utf8') };
  }, LIMIT_MS);
}
