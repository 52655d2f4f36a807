// Pure: what a user asked for, where a client splits it at spaces.

/** The request of a prompt and the argument behind it. */
interface Asked {
  /** The request as a prompt shows it. */
  readonly request: string;
  /** Undefined when it was given no value, or a word of the request. */
  readonly argument: string | undefined;
}

/**
 * Claude Code (2.1.197 and 2.1.330) passes the first words of a request as the arguments of a prompt, and leaves out the others. A second
 * argument that `isValue` refuses is such a word; the whole request is then only in the conversation.
 */
export function wholeRequest(
  request: string,
  argument: string | undefined,
  isValue: (text: string) => boolean,
): Asked {
  if (argument === undefined || isValue(argument))
    return { request: `<request>\n${request}\n</request>`, argument };
  return {
    request: `<request>\n${request} ${argument} …\n</request>\n\nOnly the first words arrived. The whole request is what the user typed after the name of this command; it may be in <command-args> above. If you do not see it, ask.`,
    argument: undefined,
  };
}
