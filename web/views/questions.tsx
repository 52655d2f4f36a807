import { useId } from 'preact/hooks';
import type { QuestionView } from '../../src/board/state.js';
import { visible } from '../text/words.js';

/** What a person chose for a question; own words count in place of options. */
interface Answer {
  readonly chosen: readonly string[];
  readonly own: string;
}

/** By the words of the question, which may be any. */
export type Answers = ReadonlyMap<string, Answer>;

const noAnswer: Answer = { chosen: [], own: '' };

/** The words of an answer, with labels joined by `, `; empty for none. */
export function answerText(answers: Answers, question: string): string {
  const { chosen, own } = answers.get(question) ?? noAnswer;
  return own === '' ? chosen.join(', ') : own;
}

interface QuestionsProps {
  readonly questions: readonly QuestionView[];
  readonly answers: Answers;
  readonly onChange: (answers: Answers) => void;
}

/** Questions with options and room for own words. */
export function Questions({ questions, answers, onChange }: QuestionsProps) {
  const id = useId();
  const field = ({ question, options, multi_select }: QuestionView, at: number) => {
    const { chosen, own } = answers.get(question) ?? noAnswer;
    const change = (answer: Answer): void => onChange(new Map(answers).set(question, answer));
    const toggle = (label: string): void => {
      const wanted = new Set(chosen);
      if (!wanted.delete(label)) wanted.add(label);
      const inOrder = options.map((one) => one.label).filter((one) => wanted.has(one));
      change({ chosen: multi_select ? inOrder : [label], own: '' });
    };
    return (
      <fieldset key={at} class="question-options">
        <legend dir="auto">{visible(question)}</legend>
        {options.map(({ label, description }, number) => (
          <label key={number} class="option">
            <input
              type={multi_select ? 'checkbox' : 'radio'}
              name={`${id} ${at}`}
              checked={own === '' && chosen.includes(label)}
              onChange={() => toggle(label)}
            />
            <span dir="auto">
              {visible(label)} {description !== null && <span class="quiet">{visible(description)}</span>}
            </span>
          </label>
        ))}
        <input
          type="text"
          dir="auto"
          placeholder="Own words"
          aria-label={`Own words: ${question}`}
          value={own}
          onInput={(event) => change({ chosen, own: event.currentTarget.value })}
        />
      </fieldset>
    );
  };
  return <>{questions.map(field)}</>;
}
