import { Emitter } from '../../src/base/lifecycle.js';
import type {
  ExitStatus,
  ScreenView,
  SendResult,
  SessionAnswer,
  SessionDriver,
  SessionEvent,
  SessionRequest,
} from '../../src/claude/session.js';
import { pidOf } from '../../src/os/pid.js';
import { sampleRequest } from './sample-decision.js';

/** A session without a program: the test fires its events and reads what it was told. */
export class FakeDriver implements SessionDriver {
  readonly #events = new Emitter<SessionEvent>();
  readonly onEvent = this.#events.event;
  /** What was asked of the session, in order. */
  readonly told: string[] = [];
  readonly answers: { readonly requestId: string; readonly answer: SessionAnswer }[] = [];
  output = 'the last output';
  answerResult: 'answered' | 'gone' = 'answered';
  startFault: Error | undefined;
  /** As often the session takes no message. */
  refusals = 0;
  refusal: SendResult = 'covered';
  interruptFault: Error | undefined;
  usage: SessionDriver['usage'];
  /** What happens while the next message is on its way. */
  duringSend: () => void = () => undefined;
  duringInterrupt: () => Promise<void> | void = () => undefined;

  fire(event: SessionEvent): void {
    this.#events.fire(event);
  }

  exit(exit: ExitStatus = { code: 0 }): void {
    this.fire({ type: 'exited', exit });
  }

  endTurn(message: string, more: Partial<Extract<SessionEvent, { type: 'turn-ended' }>> = {}): void {
    this.fire({ type: 'turn-ended', source: 'exact', message, backgroundTasks: 0, ...more });
  }

  ask(request: Partial<SessionRequest> & { readonly requestId: string }): void {
    this.fire({ type: 'request', request: sampleRequest(request) });
  }

  async start(): Promise<void> {
    if (this.startFault !== undefined) throw this.startFault;
    this.told.push('start');
    this.fire({ type: 'spawned', pid: pidOf(process.pid) });
    this.fire({ type: 'turn-started', source: 'exact', prompt: 'Do it.' });
  }

  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    this.answers.push({ requestId, answer });
    return this.answerResult;
  }

  async send(text: string): Promise<SendResult> {
    this.told.push(`send ${text}`);
    this.duringSend();
    this.duringSend = () => undefined;
    if (this.refusals === 0) return 'sent';
    this.refusals--;
    return this.refusal;
  }

  async interrupt(): Promise<void> {
    if (this.interruptFault !== undefined) throw this.interruptFault;
    this.told.push('interrupt');
    await this.duringInterrupt();
  }

  async close(): Promise<void> {
    this.told.push('close');
  }

  async kill(): Promise<void> {
    this.told.push('kill');
  }

  async screen(): Promise<ScreenView> {
    return { text: 'the screen', columns: 120, rows: 40 };
  }

  lastOutput(maxChars: number): string {
    return this.output.slice(-maxChars);
  }

  dispose(): void {
    this.#events.dispose();
  }
}
