/** What one request of a client shows its model. */
export interface ModelRequest {
  /** Names of the tools that are offered, as the client writes them. */
  readonly tools: readonly string[];
  /** Texts of the tool results that follow the model's last turn. */
  readonly results: readonly string[];
  /** All texts of the user and of the system. */
  readonly text: string;
}

/** A call by the name that the request offers. */
export interface ModelCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What the scripted model does: it speaks, or calls one tool. */
export type ModelTurn = { readonly say: string } | { readonly call: ModelCall };

export type ModelScript = (request: ModelRequest) => ModelTurn;
