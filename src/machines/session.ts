import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import { VERSION } from '../base/package.js';
import { shownLine } from '../base/text.js';
import { Channels } from './channels.js';
import {
  farIdentitySchema,
  LINK_EXTENSION,
  LINK_PROTOCOL,
  linkMethods,
  type FarIdentity,
} from './link-protocol.js';
import { readAs, Rpc } from './rpc.js';
import { unreachable } from './unreachable.js';
import { openWire, type WireOptions } from './wire.js';

/** Of the protocol of the tools; the far side answers with one that it has. */
const MCP_VERSION = '2025-11-25';
const INITIALIZE_MS = 10_000;
const BEAT_MS = 5_000;
/** Until a byte comes after a ping: a large answer that is under way is a sign of life, too. */
const ANSWER_MS = 5_000;
/** Longer than any answer that is waited for. */
const NO_LIMIT_MS = 24 * 3_600_000;

/** An open line: the far server, its channels, and its clock. */
export interface Session extends Disposable {
  readonly far: FarIdentity;
  readonly rpc: Rpc;
  readonly channels: Channels;
  /** See Machine. */
  readonly clockOffsetMs: number;
}

const text = (maxChars: number) =>
  z
    .string()
    .max(maxChars)
    .transform((value) => shownLine(value));
/** Foreign words are shown: without what a terminal would obey. */
const cleanIdentity = farIdentitySchema.extend({
  version: text(100),
  hostname: text(255),
  home: text(4_096),
  state_id: text(100),
});
const answerSchema = z.object({
  capabilities: z.object({ extensions: z.record(z.string(), z.unknown()).optional() }),
});
const protocolSchema = z.object({ protocol: z.int() });

/** Opens a line. Throws MACHINE_UNREACHABLE, also for a far side of another protocol, or the signal's reason. */
export async function openSession(options: WireOptions, clock: Clock): Promise<Session> {
  const { machine, signal } = options;
  const wire = await openWire(options);
  const channels: Channels = new Channels((method, params) => rpc.notify(method, params));
  const rpc = new Rpc(wire, (method, params) => channels.take(method, params));
  const stop = (): void => rpc.lose('it was closed');
  signal.addEventListener('abort', stop, { once: true });
  const sentMs = clock.now();
  try {
    const far = await rpc.request('initialize', initialize, {
      take: identityIn,
      timeoutMs: Math.min(INITIALIZE_MS, options.limitMs ?? INITIALIZE_MS),
    });
    rpc.notify('notifications/initialized', {});
    const heart = new Heart(rpc, clock, [sentMs, far.now]);
    rpc.onLost((why) => {
      heart.dispose();
      channels.closeAll(why);
    });
    return {
      ...{ far, rpc, channels },
      get clockOffsetMs() {
        return heart.offsetMs;
      },
      dispose: () => rpc.dispose(),
    };
  } catch (error) {
    rpc.dispose();
    signal.throwIfAborted();
    throw unreachable(machine, 'not_sent', messageOf(error));
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const initialize = {
  protocolVersion: MCP_VERSION,
  // No forms and no folders: what a person here is asked, this side makes of decisions; a folder here is another one there.
  capabilities: {},
  clientInfo: { name: 'claude-code-bridge', version: VERSION },
};

/** Throws in words for another program, and for another protocol. */
function identityIn(result: unknown): FarIdentity {
  const said = answerSchema.safeParse(result).data?.capabilities.extensions?.[LINK_EXTENSION];
  const protocol = protocolSchema.safeParse(said).data?.protocol;
  if (protocol !== undefined && protocol > LINK_PROTOCOL)
    throw new Error(
      `the bridge there is newer (protocol ${protocol}, here ${LINK_PROTOCOL}): update this one`,
    );
  if (protocol !== undefined && protocol < LINK_PROTOCOL)
    throw new Error(
      `the bridge there is older (protocol ${protocol}, here ${LINK_PROTOCOL}): \`claude-code-bridge machines add\` updates it`,
    );
  const far = cleanIdentity.safeParse(said).data;
  if (far !== undefined) return far;
  throw new Error(
    'what answers there is no bridge, or a broken one: `claude-code-bridge machines add` installs one',
  );
}

/** Pings the far side all the time, ends the line when nothing comes back, and reads the clock there. */
class Heart implements Disposable {
  readonly #rpc: Rpc;
  readonly #clock: Clock;
  #timer: Disposable | undefined;
  #offsetMs = 0;
  #bestMs = Infinity;

  constructor(rpc: Rpc, clock: Clock, [sentMs, now]: readonly [number, string]) {
    this.#rpc = rpc;
    this.#clock = clock;
    this.#read(sentMs, now);
    // At once: `initialize` waited for the start of the server, which says little of its clock.
    this.#beat();
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  #beat(): void {
    const sentMs = this.#clock.now();
    let askedMs = performance.now();
    const check = (): void => {
      if (this.#rpc.heardMs < askedMs) return this.#rpc.lose(`nothing came for ${ANSWER_MS / 1_000} s`);
      askedMs = performance.now();
      this.#timer = this.#clock.after(ANSWER_MS, check);
    };
    this.#timer = this.#clock.after(ANSWER_MS, check);
    const take = (result: unknown): void => {
      this.#timer?.dispose();
      this.#timer = this.#clock.after(BEAT_MS, () => this.#beat());
      this.#read(sentMs, readAs(linkMethods.ping.value, result).now);
    };
    this.#rpc
      .request('link/ping', {}, { take, timeoutMs: NO_LIMIT_MS })
      .catch((error: unknown) => this.#rpc.lose(messageOf(error)));
  }

  /** The shortest way there and back says best what the time is there. */
  #read(sentMs: number, now: string): void {
    const hereMs = this.#clock.now();
    if (hereMs - sentMs > this.#bestMs) return;
    this.#bestMs = hereMs - sentMs;
    this.#offsetMs = (sentMs + hereMs) / 2 - Date.parse(now);
  }
}
