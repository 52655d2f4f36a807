import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import { lazily, DisposableStore } from '../base/lifecycle.js';
import { VERSION } from '../base/package.js';
import { systemClock as clock } from '../base/system-clock.js';
import { modeSettings } from '../config/permission-modes.js';
import { stateDirectory } from '../config/places.js';
import type { ClientInfo } from '../mcp/client.js';
import type { Tool } from '../mcp/tool.js';
import type { NativeHost } from '../native/native-host.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import { ActiveProject, type ProjectDefaults } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { ResourceServices } from '../resources/define-resource.js';
import { insideTaskFault } from '../tasks/task-refusals.js';
import type { ReceiptService } from '../tasks/receipt/task-receipts.js';
import type { TaskService } from '../tasks/task-service.js';
import type { Decision, TaskRecord } from '../tasks/task.js';
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
      tasks: () => this.#tasks(),
      finisher: async () => ({
        finish: async (query) => {
          await this.#guard('finish tasks');
          return (await this.taskServices()).finisher.finish(query);
        },
      }),
      receipts: () => this.#allReceipts(),
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
        const [tasks, { tasks: here }] = await Promise.all([this.#tasks(), this.taskServices()]);
        const machines = Object.keys(options.config.machines);
        return new Delegation({ tasks, here, machines, project, maxRunning });
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

  /** Undefined without machines, and inside a task. */
  readonly #machineTasks = lazily(async () => {
    if (Object.keys(this.#options.config.machines).length === 0 || (await this.marks()).length > 0)
      return undefined;
    const [{ MachineTasks }, machines, { tasks: local }] = await Promise.all([
      import('../machines/machine-tasks.js'),
      this.#machines(),
      this.taskServices(),
    ]);
    const { config, origins = {} } = this.#options;
    const limits = { modes: modeSettings(config, origins), rules: config.rules };
    const guard = (what: string): Promise<void> => this.#guard(what);
    return this.#owned.add(new MachineTasks({ local, machines, clock, limits, guard }));
  });

  readonly #machines = lazily(async () => {
    const { openMachines } = await import('../machines/machines.js');
    return this.#owned.add(openMachines(this.#options));
  });

  /** These tools, some of which run on other machines for calls that say so. */
  async toolsOf<T extends Tool<ToolServices>>(tools: readonly T[]): Promise<readonly T[]> {
    const { withMachines } = await import('../machines/far-tools.js');
    const { config, origins = {} } = this.#options;
    return withMachines<ToolServices, T>(tools, {
      names: Object.keys(config.machines),
      machines: () => this.#machines(),
      tasks: () => this.#tasks(),
      guard: () => this.#guard('use other machines'),
      modes: modeSettings(config, origins),
      rules: config.rules,
    });
  }

  /** Sends a notice that an answer to `late` changed nothing; of a task of another machine none is sent. */
  async notifyLate(record: TaskRecord, late: Decision): Promise<void> {
    if (farIdOf(record.task_id) === undefined) (await this.taskServices()).notifyLate(record, late);
  }

  async #tasks(): Promise<TaskService> {
    return (await this.#machineTasks()) ?? (await this.taskServices()).tasks;
  }

  async #allReceipts(): Promise<ReceiptService> {
    const [local, far] = await Promise.all([this.#receipts(), this.#machineTasks()]);
    return far?.receiptsWith(local) ?? local;
  }

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
    const far = await this.#machineTasks();
    return {
      link: () => linkToBoard({ ...program, boardEntry, logLevel, input, clock }),
      chat: this.#owned.add(
        new ChatBoard({
          tasks: far ?? services.tasks,
          far,
          tasksDir,
          version: VERSION,
          homeDir,
          clock,
          logger,
        }),
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
