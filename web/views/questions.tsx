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
  return (
    <>
      {questions.map((one, at) => (
        <Question
          key={at}
          question={one}
          answer={answers.get(one.question) ?? noAnswer}
          onChange={(answer) => onChange(new Map(answers).set(one.question, answer))}
        />
      ))}
    </>
  );
}

interface QuestionProps {
  readonly question: QuestionView;
  readonly answer: Answer;
  readonly onChange: (answer: Answer) => void;
}

function Question({ question, answer, onChange }: QuestionProps) {
  const name = useId();
  const { chosen, own } = answer;
  const toggle = (label: string): void => {
    if (!question.multi_select) return onChange({ chosen: [label], own: '' });
    const next = chosen.includes(label) ? chosen.filter((one) => one !== label) : [...chosen, label];
    const inOrder = question.options.map((one) => one.label).filter((one) => next.includes(one));
    onChange({ chosen: inOrder, own: '' });
  };
  return (
    <fieldset class="question-options">
      <legend dir="auto">{visible(question.question)}</legend>
      {question.options.map(({ label, description }, at) => (
        <label key={at} class="option">
          <input
            type={question.multi_select ? 'checkbox' : 'radio'}
            name={name}
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
        aria-label={`Own words: ${question.question}`}
        value={own}
        onInput={(event) => onChange({ chosen, own: event.currentTarget.value })}
      />
    </fieldset>
  );
}
