// Tools of this server that run on another machine, by their argument `machine` or the machine in an id.
import { approvalModes, modeFor, modesIn, type ModeSettings, type RuleRow } from '../approvals/modes.js';
import { BridgeError } from '../base/errors.js';
import { createSecret, farIdOf, idOn, TASK_ID_PATTERN } from '../base/ids.js';
import { isObject, type JsonObject } from '../mcp/answers.js';
import type { Tool, ToolCall } from '../mcp/tool.js';
import type { TaskService } from '../tasks/task-service.js';
import { answerFrom, errorFrom, idHere, needsMachine } from './far-records.js';
import type { Machine, Machines } from './machine.js';

/** A call is answered before its client gives it up at 60 s; to open a line takes some of it. */
const CALL_MS = 55_000;
const START = 'start_task';

interface FarTool {
  /** It takes the argument `machine`. */
  readonly takesMachine?: true;
  /** The argument whose id says where it runs. */
  readonly id?: string;
  /** The path over there that a call with `machine` has to give: the active project is of this machine. */
  readonly needs?: string;
  /** Its other paths over there. */
  readonly paths?: readonly string[];
  /** Its arguments where the caller says nothing. */
  readonly defaults?: JsonObject;
}

const inFolder: FarTool = { takesMachine: true, needs: 'path' };
const ofTask: FarTool = { id: 'task_id' };
const ofProcess: FarTool = { id: 'pid' };

/** What runs there. Tools of tasks that are not here ask the service of tasks, which knows the machines. */
const farTools: Readonly<Record<string, FarTool>> = {
  [START]: { ...inFolder, id: 'continue_from' },
  list_tasks: { takesMachine: true, paths: ['path'] },
  get_task_result: ofTask,
  get_task_diff: ofTask,
  finish_task: ofTask,
  verify_task: ofTask,
  list_files: inFolder,
  get_file_tree: inFolder,
  search_files: inFolder,
  read_file: inFolder,
  read_file_range: inFolder,
  write_file: inFolder,
  create_directory: inFolder,
  init_git_repo: inFolder,
  git_status: inFolder,
  git_diff: inFolder,
  git_diff_stat: inFolder,
  git_log: inFolder,
  git_show: inFolder,
  // Else a line that is cut, or closed after it was idle, would end the program.
  spawn: { takesMachine: true, needs: 'cwd', paths: ['mount_project'], defaults: { keep: true } },
  ps: { takesMachine: true },
  stdin: ofProcess,
  stdout: ofProcess,
  kill: ofProcess,
  copy_to: { ...ofProcess, paths: ['source'] },
  copy_from: { ...ofProcess, paths: ['destination'] },
};

export interface FarToolsOptions {
  /** The names of the setting. */
  readonly names: readonly string[];
  readonly machines: () => Promise<Machines>;
  readonly tasks: () => Promise<Pick<TaskService, 'get'>>;
  /** Throws INSIDE_TASK where this server runs inside a task. */
  readonly guard: () => Promise<void>;
  /** What the settings here say of tasks, which holds for those that are started there, too. */
  readonly modes: ModeSettings;
  readonly rules: readonly RuleRow[];
}

interface Target {
  readonly machine: Machine;
  /** As they are sent. */
  readonly args: JsonObject;
}

/** The same tools: those of the table run there for calls that say so, and nowhere else. */
export function withMachines<Services, T extends Tool<Services>>(
  tools: readonly T[],
  options: FarToolsOptions,
): readonly T[] {
  return tools.map((tool) => {
    const far = farTools[tool.name];
    if (far === undefined) return tool;
    const run: T['run'] = async (given, services, call) => {
      const args = givenOf(given);
      const target = await targetOf(far, args, options);
      if (target !== undefined) return runThere(tool, far, target, options, call);
      try {
        const here = far.takesMachine === true && isObject(given) ? withoutMachine(given) : given;
        return await tool.run(here, services, call);
      } catch (error) {
        const place = await placeOfBareId(tool, far, args, error, options);
        if (place === undefined) throw error;
        return runThere(tool, far, place, options, call);
      }
    };
    const listing = far.takesMachine ? withArgument(tool.listing, options.names) : tool.listing;
    return { ...tool, listing, run };
  });
}

/** Some clients send null for what they leave out. */
function givenOf(args: unknown): JsonObject {
  return isObject(args) ? Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) : {};
}

function withoutMachine({ machine: _machine, ...args }: JsonObject): JsonObject {
  return args;
}

function withArgument(listing: Tool<never>['listing'], names: readonly string[]): Tool<never>['listing'] {
  const { inputSchema } = listing;
  const machine = { type: 'string', enum: [...names], description: 'Default: here' };
  return { ...listing, inputSchema: { ...inputSchema, properties: { ...propertiesOf(listing), machine } } };
}

function propertiesOf({ inputSchema: { properties } }: Tool<never>['listing']): JsonObject {
  return isObject(properties) ? properties : {};
}

/** Undefined for a call that means this machine. Throws MACHINE_NOT_FOUND, and INVALID_ARGUMENTS for a name and an id that differ. */
async function targetOf(
  { takesMachine, id: field = '' }: FarTool,
  args: JsonObject,
  { machines }: FarToolsOptions,
): Promise<Target | undefined> {
  const named = takesMachine === true ? args['machine'] : undefined;
  const id = args[field];
  const far = typeof id === 'string' ? farIdOf(id) : undefined;
  if (named !== undefined && typeof named !== 'string')
    throw invalid(`machine must be a name (got ${JSON.stringify(named)}).`);
  const name = named ?? far?.machine;
  if (name === undefined) return undefined;
  const machine = (await machines()).get(name);
  const rest = takesMachine === true ? withoutMachine(args) : args;
  if (far === undefined) return { machine, args: rest };
  if (far.machine === name) return { machine, args: { ...rest, [field]: far.id } };
  throw invalid(`machine is ${name}, but ${field} is of ${far.machine}.`);
}

/** Where the task is that an id without a machine names, once this machine has said that it does not have it. Throws TASK_NOT_FOUND for what is more than a read. */
async function placeOfBareId(
  { listing }: Pick<Tool<never>, 'listing'>,
  { id: field = '' }: FarTool,
  args: JsonObject,
  error: unknown,
  { machines, tasks }: FarToolsOptions,
): Promise<Target | undefined> {
  const id = args[field];
  const isUnknown = error instanceof BridgeError && error.code === 'TASK_NOT_FOUND';
  if (typeof id !== 'string' || !isUnknown || !TASK_ID_PATTERN.test(id)) return undefined;
  const far = farIdOf((await (await tasks()).get(id)).task_id);
  if (far === undefined) return undefined;
  if (!listing.annotations.readOnlyHint) throw needsMachine(idOn(far.machine, far.id));
  return { machine: (await machines()).get(far.machine), args: withoutMachine(args) };
}

/** Never runs anything here. Throws what the machine throws, and INVALID_ARGUMENTS for paths that would mean something of this machine. */
async function runThere(
  { name, listing }: Pick<Tool<never>, 'name' | 'listing'>,
  far: FarTool,
  { machine, args }: Target,
  options: FarToolsOptions,
  { signal, follower }: ToolCall,
): Promise<JsonObject> {
  await options.guard();
  checkPaths(name, far, args);
  const { readOnlyHint, idempotentHint } = listing.annotations;
  // What takes one is done once, however often it is sent.
  const isOnce = 'request_id' in propertiesOf(listing);
  const once = isOnce ? { request_id: args['request_id'] ?? createSecret() } : {};
  const sent = {
    ...far.defaults,
    ...args,
    ...once,
    ...(name === START && startArgs(machine.name, args, options)),
  };
  const repeats = readOnlyHint || idempotentHint === true || isOnce;
  try {
    const answer = await machine.callTool(name, sent, { signal, timeoutMs: CALL_MS, repeats });
    const shown = { ...answerFrom(machine, answer), machine: machine.name };
    return name === START ? await started(machine.name, shown, options, follower) : shown;
  } catch (error) {
    throw repeatable(name, once.request_id, errorFrom(machine.name, error));
  }
}

/** An error that leaves open whether it was done says how to call again so that it is done once. */
function repeatable(tool: string, id: unknown, error: unknown): unknown {
  if (!(error instanceof BridgeError) || error.data['sent'] !== 'unknown' || typeof id !== 'string')
    return error;
  const [, ...doctor] = error.next;
  const again = `It may still be done when the line is back (unknown). Call ${tool} again with request_id ${JSON.stringify(id)}: then it is done once.`;
  const data = { ...error.data, request_id: id };
  return new BridgeError(error.code, error.message, [again, ...doctor], { data, cause: error });
}

/** A relative path begins in the active project, which is of this machine. */
function checkPaths(tool: string, { needs, paths = [] }: FarTool, args: JsonObject): void {
  // A task that goes on, goes on in its folder.
  const needed = args['continue_from'] === undefined ? needs : undefined;
  if (needed !== undefined && typeof args[needed] !== 'string')
    throw invalid(`${tool} on another machine needs ${needed}: the active project is of this one.`);
  for (const field of [...(needs === undefined ? [] : [needs]), ...paths]) {
    const path = args[field];
    if (typeof path === 'string' && !/^[/~]/.test(path))
      throw invalid(`${field} is relative, and the active project is of this machine.`);
  }
}

/** The mode and the rows that the settings here ask for. Throws INVALID_ARGUMENTS for a mode that is not allowed here. */
export function startArgs(
  machine: string,
  args: JsonObject,
  { modes: settings, rules }: Pick<FarToolsOptions, 'modes' | 'rules'>,
): JsonObject {
  // Folders of this machine say nothing about those of another.
  const modes = modesIn('', { ...settings, projects: {} });
  const given = args['permission_mode'] ?? args['mode'];
  const asked = approvalModes.find((mode) => mode === given);
  if (asked !== undefined) modeFor(asked, `tasks on ${machine}, too`, modes);
  // A task that goes on has the mode that it had.
  const takesDefault =
    given === undefined && args['continue_from'] === undefined && modes.byDefault !== 'auto';
  const rows = rules.filter(({ verdict }) => verdict !== 'allow');
  const isNarrow = modes.allowed.length < approvalModes.length;
  const limits = { ...(rows.length > 0 && { rules: rows }), ...(isNarrow && { modes: modes.allowed }) };
  return {
    ...(takesDefault && { permission_mode: modes.byDefault }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

/** The cursor of a start is one of `wait_for_task`, which knows the machine by the id; a client that follows tasks follows this one. */
async function started(
  machine: string,
  answer: JsonObject,
  { tasks }: FarToolsOptions,
  follower: ToolCall['follower'],
): Promise<JsonObject> {
  const { task_id: id, status, cursor } = answer;
  if (typeof id !== 'string') return answer;
  // Only a call needs it: it takes a fifth of a start.
  const { isFinal, taskStatusSchema } = await import('../tasks/task.js');
  const now = taskStatusSchema.safeParse(status).data;
  if (now !== undefined && !isFinal(now)) follower?.follow(id);
  // So that something is known of it when the line is cut. Who reads it next learns what keeps it from being read.
  void tasks()
    .then((service) => service.get(id))
    .catch(() => undefined);
  if (typeof cursor !== 'string') return answer;
  const [task = '', ...seq] = cursor.split(':');
  return { ...answer, cursor: [idHere(machine, task), ...seq].join(':') };
}

function invalid(message: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    message,
    'With machine, give an absolute path over there, or one that begins with ~.',
  );
}
