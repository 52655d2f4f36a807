// Pure: a form that an MCP server shows to the person of a session → a request, and its answer → the hook's output.
import { z } from 'zod';
import { oneLine } from '../../base/text.js';
import type { Question, SessionAnswer, SessionRequest } from '../session.js';
import type { HookOf } from './hook-event.js';

export type ElicitationEvent = HookOf<'Elicitation'>;

/** As the request names it; no tool of Claude Code has the name. */
export const ELICITATION = 'Elicitation';
const SUMMARY_CHARS = 200;
/** The answer for a field that the server does not need. */
const LEFT_OUT = '(leave out)';

const choice = z.object({ const: z.string(), title: z.string().optional() });
/**
 * The primitive schemas of a form.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 */
const fieldSchema = z.looseObject({
  type: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: z.array(choice).optional(),
  items: z
    .looseObject({ enum: z.array(z.string()).optional(), anyOf: z.array(choice).optional() })
    .optional(),
});
type Field = z.infer<typeof fieldSchema>;

interface NamedField {
  readonly name: string;
  readonly field: Field;
  readonly isRequired: boolean;
}

/** A form is a question for each field; an address to open, and a form without fields, are a yes or no. */
export function elicitationRequest(requestId: string, event: ElicitationEvent): SessionRequest {
  const { mcp_server_name: server, message, url } = event;
  const questions = fieldsOf(event).map(questionOf);
  const [first] = questions;
  return {
    requestId,
    kind: first === undefined ? 'permission' : 'question',
    tool: ELICITATION,
    input: { server, message, ...(url !== undefined && { url }) },
    folder: event.cwd,
    summary: oneLine(`${server} asks: ${message}${url === undefined ? '' : ` ${url}`}`, SUMMARY_CHARS),
    options: first?.options.map(({ label }) => label) ?? [],
    ...(first !== undefined && { questions }),
    source: 'exact',
    why: `The MCP server ${server} asks its person.`,
  };
}

/** Seen in 2.1.330 and 2.1.332. */
export function elicitationOutput(event: ElicitationEvent, answer: SessionAnswer): Record<string, unknown> {
  const decision =
    answer.verdict === 'deny'
      ? { action: 'decline' }
      : { action: 'accept', content: contentOf(event, answer.answers ?? {}) };
  return { hookSpecificOutput: { hookEventName: 'Elicitation', ...decision } };
}

function fieldsOf({ requested_schema: schema }: ElicitationEvent): NamedField[] {
  return Object.entries(schema?.properties ?? {}).map(([name, value]) => ({
    name,
    field: fieldSchema.safeParse(value).data ?? {},
    isRequired: schema?.required?.includes(name) ?? false,
  }));
}

function questionOf({ name, field, isRequired }: NamedField): Question {
  const { title = name, description } = field;
  const choices = choicesOf(field).map(({ label }) => ({ label }));
  return {
    question: description === undefined ? `${name}: ${title}` : `${name}: ${title} (${description})`,
    header: name,
    multiSelect: field.type === 'array',
    options: isRequired ? choices : [...choices, { label: LEFT_OUT }],
  };
}

function choicesOf(field: Field): { readonly label: string; readonly value: string | boolean }[] {
  if (field.type === 'boolean')
    return [
      { label: 'Yes', value: true },
      { label: 'No', value: false },
    ];
  const titled = field.oneOf ?? field.items?.anyOf ?? [];
  if (titled.length > 0) return titled.map((one) => ({ label: one.title ?? one.const, value: one.const }));
  const values = field.enum ?? field.items?.enum ?? [];
  return values.map((value, index) => ({ label: field.enumNames?.[index] ?? value, value }));
}

function contentOf(
  event: ElicitationEvent,
  answers: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const given = new Map(Object.entries(answers));
  const entries = fieldsOf(event).flatMap((named) => {
    const text = given.get(questionOf(named).question);
    return text === undefined || text === LEFT_OUT ? [] : [[named.name, valueOf(named.field, text)] as const];
  });
  return Object.fromEntries(entries);
}

/** What is no value of the field stays text: Claude Code checks it. */
function valueOf(field: Field, text: string): unknown {
  const choices = new Map(choicesOf(field).map(({ label, value }) => [label, value]));
  if (field.type === 'array') return text.split(',').map((part) => choices.get(part.trim()) ?? part.trim());
  const number = Number(text);
  if ((field.type === 'number' || field.type === 'integer') && Number.isFinite(number)) return number;
  return choices.get(text.trim()) ?? text;
}
