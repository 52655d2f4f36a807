import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../base/errors.js';
import { lazily, DisposableStore } from '../base/lifecycle.js';
import { systemClock } from '../base/system-clock.js';
import { stateDirectory } from '../config/places.js';
import type { ClientInfo } from '../mcp/client.js';
import type { NativeHost } from '../native/native-host.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import { ActiveProject, type ProjectDefaults } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { ResourceServices } from '../resources/services.js';
import { insideTaskFault } from '../tasks/inside-task.js';
import type { TaskRecord } from '../tasks/task.js';
import type { ToolServices } from '../tools/services.js';
import type { BridgeOptions } from './open-state.js';
import type { ProcessServices } from './process-services.js';

/** The client's first messages are answered before anything else is begun. */
const JOIN_DELAY_MS = 500;
/** The call that needed the tasks is answered before leftovers of others are looked for. */
const SWEEP_DELAY_MS = 1_000;

/** Every service of a server. Each is loaded and built at its first use. */
export class ServerServices {
  /** For tools, resources and prompts. */
  readonly offered: ToolServices & ResourceServices;
  readonly #options: BridgeOptions;
  readonly #roots: AllowedRoots;
  readonly #project: ActiveProject;
  readonly #client: () => ClientInfo | undefined;
  readonly #timers = new DisposableStore();
  readonly #owned = new DisposableStore();
  #processes: ProcessServices | undefined;
  #native: NativeHost | undefined;
  #sweeps = false;

  /** `client`: undefined until the client has said who it is. */
  constructor(
    options: BridgeOptions,
    roots: AllowedRoots,
    defaults: ProjectDefaults,
    client: () => ClientInfo | undefined,
  ) {
    this.#options = options;
    this.#roots = roots;
    this.#client = client;
    this.#project = new ActiveProject(roots, defaults);
    const parts = [options, roots, this.#project] as const;
    const project = () => import('./project-services.js');
    const git = () => import('./git-services.js');
    this.offered = {
      tasks: this.#tasks,
      finisher: async () => ({
        finish: async (query) => {
          await this.#guard('finish tasks');
          return (await this.taskServices()).finisher.finish(query);
        },
      }),
      receipts: this.#receipts,
      changes: this.#receipts,
      conversations: async () => (await this.#talks()).conversations,
      delegation: async () => (await this.#talks()).delegation,
      processes: async () => (await this.processServices()).processes,
      copies: async () => (await this.processServices()).copies(),
      files: lazily(async () => (await project()).createFileService(...parts)),
      terminals: lazily(async () => (await project()).createTerminals(...parts)),
      explorer: lazily(async () => (await project()).createExplorer(...parts)),
      git: lazily(async () => (await git()).createGitService(...parts)),
      native: this.#nativeHost,
      board: lazily(async () => {
        const { createBoardOpener } = await import('./board-opener.js');
        const built = createBoardOpener(options, await this.taskServices());
        this.#owned.add(built.chat);
        return built;
      }),
      appPage: (file) => readFile(join(dirname(options.keeperEntry), 'web', file), 'utf8'),
      activeProject: this.#project,
      config: options.config,
    };
  }

  /** The marks of the tasks that this server runs inside, nearest first. */
  readonly marks = lazily(async () =>
    (await import('../os/find-processes.js')).findEnclosingMarks(this.#options.env),
  );

  readonly taskServices = lazily(async () => {
    const { createTaskServices } = await import('./task-services.js');
    return this.#owned.add(
      await createTaskServices(this.#options, this.#roots, (what, record) => this.#guard(what, record)),
    );
  });

  readonly processServices = lazily(async () => {
    const { createProcessServices } = await import('./process-services.js');
    return (this.#processes = await createProcessServices(this.#options, this.#roots, this.#project));
  });

  readonly #tasks = async () => (await this.taskServices()).tasks;

  async #guard(what: string, record?: TaskRecord): Promise<void> {
    if ((await this.marks()).length > 0)
      throw insideTaskFault(
        what,
        'A person does that, or the client outside of all tasks that started this one.',
      );
    if (record === undefined) return;
    const { requireOutsideSession } = await import('../tasks/own-session.js');
    await requireOutsideSession(record, this.#options.env);
  }

  readonly #receipts = lazily(async () => {
    const { createReceiptService } = await import('./git-services.js');
    const { stateDir } = await this.taskServices();
    return createReceiptService(this.#options, this.#roots, stateDir);
  });

  readonly #talks = lazily(async () => {
    const [{ ConversationManager }, { Delegation }] = await Promise.all([
      import('../conversations/conversation-manager.js'),
      import('../tasks/delegation.js'),
    ]);
    const { conversation_skip_permissions: skipPermissions, delegate_max_running: maxRunning } =
      this.#options.config;
    const shared = { tasks: await this.#tasks(), project: this.#project };
    return {
      conversations: new ConversationManager({ ...shared, clock: systemClock, skipPermissions }),
      delegation: new Delegation({ ...shared, maxRunning }),
    };
  });

  /** Sessions that are tasks already, those without a person (`claude -p`), and those of a server that cannot work are left alone. */
  readonly #nativeHost = lazily(async (): Promise<Pick<NativeHost, 'event'>> => {
    const isLeftAlone = this.#options.unusable !== undefined || isProgramsSession(this.#options.env);
    if (isLeftAlone || (await this.marks()).length > 0) return { event: () => Promise.resolve({}) };
    const { createNativeHost } = await import('./native-services.js');
    const around = { tasks: this.taskServices, client: this.#client };
    return (this.#native = createNativeHost(this.#options, this.#roots, around));
  });

  /** Tasks that end without a server, and those in the queue, must not wait for this server's first call. */
  joinSoon(): void {
    this.#after(JOIN_DELAY_MS, 'Running and queued tasks could not be joined', async () => {
      // The services are loaded only if there is something to do; a server without tasks stays small.
      const queue = join(stateDirectory(this.#options.config, this.#options), 'queue');
      // What is wrong with the folder is reported by its first use.
      const tickets = await readdir(queue).catch(() => []);
      if (tickets.length === 0 && this.#options.config.on_disconnect !== 'stop') return;
      await (await this.taskServices()).tasks.advanceQueue();
    });
  }

  /** Once, after the first call: ends what keepers and servers left behind that were killed. */
  sweepSoon(): void {
    if (this.#sweeps) return;
    this.#sweeps = true;
    this.#after(SWEEP_DELAY_MS, 'what dead keepers left could not be swept', async () => {
      await (await this.taskServices()).sweepLeftovers();
      if (existsSync(join(stateDirectory(this.#options.config, this.#options), 'processes')))
        await (await this.processServices()).sweep();
    });
  }

  /** Ends every process that should not outlive the server; tasks go on. */
  async dispose(): Promise<void> {
    this.#timers.dispose();
    // Its record is written with what the tasks have open.
    await this.#native?.dispose();
    this.#owned.dispose();
    await this.#processes?.dispose();
  }

  #after(delayMs: number, failure: string, work: () => Promise<void>): void {
    const run = (): void =>
      void work().catch((error: unknown) => this.#options.logger.warn(failure, { error: messageOf(error) }));
    this.#timers.add(systemClock.after(delayMs, run));
  }
}

/** True in a session of a program, such as `claude -p`: no person sees a dialog there, and what may not be done is refused at once. */
function isProgramsSession(env: BridgeOptions['env']): boolean {
  return (env['CLAUDE_CODE_ENTRYPOINT'] ?? '').startsWith('sdk');
}

/** True when this process has the mark of a task in its own environment. */
export function isMarked(env: BridgeOptions['env']): boolean {
  return (env[MARK_VARIABLE] ?? '') !== '';
}
