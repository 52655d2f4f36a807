// Pure.
import type { ServerCommand } from './server-command.js';

/** The machine and the user for whom clients are looked up. */
export interface ClientPlace {
  readonly platform: NodeJS.Platform;
  readonly homeDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The home folder of the Windows user as Linux sees it, inside WSL. */
  readonly windowsHome?: string | undefined;
}

/** One chat client: where its settings are, and what the server's entry in them looks like. */
export interface ChatClient {
  /** What `init --client` takes. */
  readonly id: string;
  readonly title: string;
  readonly format: 'json' | 'toml' | 'yaml';
  /** The key of the object that holds all servers. */
  readonly serversKey: string;
  /** The user's settings file: the first that exists, otherwise the first. None on a platform without this client. */
  readonly settingsFiles: (place: ClientPlace) => readonly string[];
  /** Folders and files one of which exists where the client is installed. */
  readonly traces: (place: ClientPlace) => readonly string[];
  /** Programs one of which is on PATH where the client is installed. */
  readonly programs: readonly string[];
  readonly entry: (command: ServerCommand, place: ClientPlace) => Readonly<Record<string, unknown>>;
  /** What the person does once the entry is there. */
  readonly next: string;
  /** For who edits by hand, where the settings file is not the usual way. */
  readonly byHand?: string;
  /** The page of its makers that describes the settings. */
  readonly source: string;
  /** The address that adds the server with one click. */
  readonly link?: (command: ServerCommand) => string;
}

/** The entry that most clients share. */
export function plainEntry({ command, args }: ServerCommand): Readonly<Record<string, unknown>> {
  return { command, args: [...args] };
}
