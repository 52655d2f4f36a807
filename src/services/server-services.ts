import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../base/errors.js';
import { lazily, DisposableStore } from '../base/lifecycle.js';
import { VERSION } from '../base/package.js';
import { systemClock as clock } from '../base/system-clock.js';
import { stateDirectory } from '../config/places.js';
import type { ClientInfo } from '../mcp/client.js';
import type { NativeHost } from '../native/native-host.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import { ActiveProject, type ProjectDefaults } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { ResourceServices } from '../resources/define-resource.js';
import { insideTaskFault } from '../tasks/task-refusals.js';
import type { TaskRecord } from '../tasks/task.js';
import type { ToolServices } from '../tools/services.js';
import type { BridgeOptions } from './open-state.js';
import type { ProcessServices } from './process-services.js';
import type { Verifications } from './verifications.js';

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
  #checking: Verifications | undefined;
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
    const project = (this.#project = new ActiveProject(roots, defaults));
    this.offered = {
      tasks: async () => (await this.taskServices()).tasks,
      finisher: async () => ({
        finish: async (query) => {
          await this.#guard('finish tasks');
          return (await this.taskServices()).finisher.finish(query);
        },
      }),
      receipts: () => this.#receipts(),
      changes: () => this.#receipts(),
      verifications: async () => {
        await this.#guard('verify tasks');
        return this.#verifications();
      },
      conversations: lazily(async () => {
        const { ConversationManager } = await import('../conversations/conversation-manager.js');
        const skipPermissions = options.config.conversation_skip_permissions;
        const { tasks } = await this.taskServices();
        return new ConversationManager({ tasks, project, clock, skipPermissions });
      }),
      delegation: lazily(async () => {
        const { Delegation } = await import('../tasks/delegation.js');
        const maxRunning = options.config.delegate_max_running;
        return new Delegation({ tasks: (await this.taskServices()).tasks, project, maxRunning });
      }),
      processes: async () => (await this.#processServices()).processes,
      copies: async () => (await this.#processServices()).copies(),
      files: lazily(async () => {
        const { filesIn } = await import('./file-services.js');
        return filesIn(options, roots, project);
      }),
      explorer: lazily(async () => (await this.#git()).explorer(project)),
      git: lazily(async () => (await this.#git()).tools(project)),
      terminals: lazily(async () => {
        const { EditorTerminals } = await import('../editor/editor-terminals.js');
        return new EditorTerminals({ statePath: this.#statePath(), clock, project, roots });
      }),
      native: lazily(() => this.#openNative()),
      board: lazily(() => this.#openBoard()),
      appPage: (file) => readFile(join(dirname(options.keeperEntry), 'web', file), 'utf8'),
      activeProject: project,
      config: options.config,
    };
  }

  /** The marks of the tasks that this server runs inside, nearest first. */
  readonly marks = lazily(async () =>
    (await import('../os/find-processes.js')).findEnclosingMarks(this.#options.env),
  );

  readonly taskServices = lazily(async () => {
    const { createTaskServices } = await import('./task-services.js');
    const guard = (what: string, record?: TaskRecord): Promise<void> => this.#guard(what, record);
    return this.#owned.add(await createTaskServices(this.#options, this.#roots, guard));
  });

  readonly #processServices = lazily(async () => {
    const { createProcessServices } = await import('./process-services.js');
    return (this.#processes = await createProcessServices(this.#options, this.#roots, this.#project));
  });

  readonly #git = lazily(async () =>
    (await import('./git-services.js')).gitServices(this.#options, this.#roots),
  );

  readonly #verifications = lazily(async () => {
    const { Verifications } = await import('./verifications.js');
    const { stateDir } = await this.taskServices();
    const [{ door }, changes] = await Promise.all([this.#git(), this.#receipts()]);
    const { env } = this.#options;
    return (this.#checking = new Verifications({ stateDir, env, door, changes }));
  });

  readonly #receipts = lazily(async () => (await this.#git()).ofTasks((await this.taskServices()).stateDir));

  /** Links for a browser, and what the page in a chat reads and does. */
  async #openBoard() {
    const [{ ChatBoard }, { linkToBoard }, { keeperProgram }] = await Promise.all([
      import('../board/chat-board.js'),
      import('../board/launch.js'),
      import('./open-state.js'),
    ]);
    const { homeDir, cwd = homedir(), command = 'claude-code-bridge', settingsFile, logger } = this.#options;
    const services = await this.taskServices();
    const { keeperEntry, logLevel = 'info', ...program } = keeperProgram(this.#options, services);
    const configPath = typeof settingsFile === 'string' ? { configPath: settingsFile } : {};
    const input = { homeDir, cwd, command, keeperEntry, port: 0, new_token: false, ...configPath };
    const boardEntry = join(dirname(keeperEntry), 'board.js');
    const { tasksDir } = services.stateDir;
    return {
      link: () => linkToBoard({ ...program, boardEntry, logLevel, input, clock }),
      chat: this.#owned.add(
        new ChatBoard({ tasks: services.tasks, tasksDir, version: VERSION, homeDir, clock, logger }),
      ),
    };
  }

  /** Sessions that are tasks already, those without a person (`claude -p`), and those of a server that cannot work are left alone. */
  async #openNative(): Promise<Pick<NativeHost, 'event'>> {
    const { unusable, env } = this.#options;
    // No person sees a dialog there, and what may not be done is refused at once.
    const isProgramsSession = (env['CLAUDE_CODE_ENTRYPOINT'] ?? '').startsWith('sdk');
    if (unusable !== undefined || isProgramsSession || (await this.marks()).length > 0)
      return { event: () => Promise.resolve({}) };
    const { nativeServices } = await import('./native-services.js');
    return (this.#native = nativeServices(this.#options, this.#roots, this.taskServices, this.#client));
  }

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

  /** Tasks that end without a server, and those in the queue, must not wait for this server's first call. */
  joinSoon(): void {
    this.#after(JOIN_DELAY_MS, 'Running and queued tasks could not be joined', async () => {
      // The services are loaded only if there is something to do; a server without tasks stays small. What is wrong with the folder
      // is reported by its first use.
      const tickets = await readdir(join(this.#statePath(), 'queue')).catch(() => []);
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
      if (existsSync(join(this.#statePath(), 'processes'))) await (await this.#processServices()).sweep();
    });
  }

  /** Ends every process that should not outlive the server; tasks go on. */
  async dispose(): Promise<void> {
    this.#timers.dispose();
    // Its record is written with what the tasks have open.
    await this.#native?.dispose();
    this.#owned.dispose();
    await this.#checking?.end();
    await this.#processes?.dispose();
  }

  #statePath(): string {
    return stateDirectory(this.#options.config, this.#options);
  }

  #after(delayMs: number, failure: string, work: () => Promise<void>): void {
    const run = (): void =>
      void work().catch((error: unknown) => this.#options.logger.warn(failure, { error: messageOf(error) }));
    this.#timers.add(clock.after(delayMs, run));
  }
}

/** True when this process has the mark of a task in its own environment. */
export function isMarked(env: BridgeOptions['env']): boolean {
  return (env[MARK_VARIABLE] ?? '') !== '';
}
