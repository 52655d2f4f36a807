interface RemovedSetting {
  /** What replaces it, or what is so now. */
  readonly now: string;
  /** Its environment variable, where that is not `MCP_` and the key. */
  readonly env?: string;
}

/** Settings of earlier versions. A value that is still set is ignored with a warning. */
const removedSettings: Readonly<Record<string, RemovedSetting>> = {
  structured_answers: { now: 'set "answers" in client instead' },
  spare_keeper: { now: 'the process of a task is started with the task' },
  docker_host: { now: 'set the environment variable DOCKER_HOST instead' },
  docker_cert_path: { now: 'set the environment variable DOCKER_CERT_PATH instead' },
  docker_tls_verify: { now: 'set the environment variable DOCKER_TLS_VERIFY instead' },
  on_disconnect_grace_seconds: {
    now: 'with on_disconnect "stop", a task ends after 30 seconds without a server',
    env: 'MCP_ON_DISCONNECT_GRACE',
  },
  delegate_timeout_seconds: { now: 'set default_timeout_seconds instead', env: 'MCP_DELEGATE_TIMEOUT' },
  conversation_history_size: { now: 'the newest 200 answers are stored' },
  task_image: { now: 'set "image" in task_container instead' },
  task_network: { now: 'set "network" in task_container instead' },
  task_memory_mb: { now: 'set "memory_mb" in task_container instead' },
  task_home: { now: 'set "home" in task_container instead' },
};

/** The warning for a removed setting that `origin` still sets; `name` is its key or its variable. Undefined for any other name. */
export function removedSetting(name: string, origin: string): string | undefined {
  const found = Object.entries(removedSettings).find(
    ([key, { env = `MCP_${key.toUpperCase()}` }]) => name === key || name === env,
  );
  if (found === undefined) return undefined;
  const [key, { now }] = found;
  return `${origin}: the setting ${key} was removed and is ignored: ${now}.`;
}
