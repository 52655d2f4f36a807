// Pure: what the model of a client that follows tasks reads besides. The client drops the content of the answer that begins one.
const CALLED = 'You are called when it ends, and its questions go to the person at this client: do not poll.';

/** The hint for a task that its client follows. */
export const YOU_ARE_CALLED = CALLED;

export const followInstructions = [
  `This client follows tasks: start_task, ask and ask_async go on in the background. ${CALLED} The task_… id in their answer works with message_task, kill_task and the other tools.`,
  'Stopping the task in the client is kill_task. To leave the chat ends no task: it goes on, and a resumed chat is called at its end.',
].join('\n');

const WITH_ID = `${CALLED} TaskStop ends it, as kill_task does.`;

/** Added to the descriptions of tools, by name. */
export const followDescriptions: Readonly<Record<string, string>> = {
  start_task: WITH_ID,
  wait_for_task: 'A task that you are called for already is answered at once.',
  ask: WITH_ID,
  ask_async: WITH_ID,
};
